"""FER+ (Barsoum et al. 2016): the emotion in 35,887 photographs of faces, ten votes each."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, votes
from dissensus.names import Names
from dissensus.scales import Nominal

EMOTIONS = (
    "neutral", "happiness", "surprise", "sadness", "anger", "disgust", "fear", "contempt",
    "unknown", "NF",
)  # fmt: skip
PARTS = {"Training": "train", "PublicTest": "dev", "PrivateTest": "test"}


def load(folder: Path, corpus: str) -> Corpus:
    """Question `emotion`, votes without annotators; `NF` is "not a face". An item is a row of the
    file, as some photographs have no name; without pictures."""
    counts = dict.fromkeys(EMOTIONS, pa.int64())
    table = csv_table(folder, "fer2013new.csv.gz", ("Usage", "Image name"), **counts)
    items, name = Names.range(len(table)), table["Image name"]
    with table.errors():
        answers = votes(table.array(*EMOTIONS), Nominal(EMOTIONS), items)
    return Corpus.build(
        corpus,
        items,
        {"emotion": answers},
        item_attributes={
            "image name": pc.if_else(pc.equal(name, ""), pa.scalar(None, pa.string()), name)
        },
        splits={"official": table.parts("Usage", PARTS)},
    )
