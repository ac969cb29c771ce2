"""FER+ (Barsoum et al. 2016): the emotion in 35,887 photographs of faces, ten votes each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, csv_table, errors_in
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("ferplus_votes",)
DEFAULT: str | None = "ferplus_votes"
VOTES = "fer2013new.csv.gz"
EMOTIONS = (
    "neutral", "happiness", "surprise", "sadness", "anger", "disgust", "fear", "contempt",
    "unknown", "NF",
)  # fmt: skip
PARTS = {"Training": "train", "PublicTest": "dev", "PrivateTest": "test"}


def recognise(folder: Path) -> bool:
    """Whether the folder contains the votes."""
    return (folder / VOTES).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `emotion`, votes without annotators; `NF` is "not a face". An item is a row of the
    file, as some photographs have no name; without pictures."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    counts = dict.fromkeys(EMOTIONS, pa.int64())
    table = csv_table(folder, VOTES, **{"Usage": pa.string(), "Image name": pa.string(), **counts})
    with errors_in(folder / VOTES):
        votes = np.stack([table[name].to_numpy() for name in EMOTIONS], axis=1)
        items = Names.range(len(votes))
        item, value = np.nonzero(votes)
        answers = Annotations.from_arrays(
            item, None, value.astype(np.int32), Nominal(EMOTIONS), items=items,
            count=votes[item, value],
        )  # fmt: skip
        usage = table["Usage"].to_pylist()
        strange = sorted(set(usage) - set(PARTS))
        if strange:
            raise DataError(f"'Usage' is Training, PublicTest or PrivateTest, found {strange[0]!r}")
    name = table["Image name"].combine_chunks()
    return Corpus.build(
        "ferplus_votes",
        items,
        {"emotion": answers},
        item_attributes={
            "image name": pc.if_else(pc.equal(name, ""), pa.scalar(None, pa.string()), name)
        },
        splits={"official": [PARTS[one] for one in usage]},
    )
