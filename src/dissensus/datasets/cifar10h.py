"""CIFAR-10H (Peterson et al. 2019): 10,000 small photographs with about 51 votes each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, errors_in, numpy_array, parquet_table
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("cifar10h",)
DEFAULT: str | None = "cifar10h"
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
IMAGES, COUNTS = "cifar10_test_jpg.parquet", "cifar10h-counts.npy"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the votes."""
    return (folder / COUNTS).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `class`, votes without annotators; gold `class`; contents are JPEG bytes."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    images = parquet_table(folder, IMAGES, ["item_id", "label", "jpg"])
    counts = _counts(folder, images.num_rows)
    row = images["item_id"].to_numpy()  # a row of the vote table each
    with errors_in(folder / IMAGES):
        items = Names(images["item_id"])
        if not 0 <= row.min() <= row.max() < len(counts):
            raise DataError(f"item_id {row.max()} has no row in {COUNTS}")
        gold = Annotations.from_arrays(
            np.arange(len(items)),
            None,
            images["label"].to_numpy().astype(np.int32),
            Nominal(CLASSES),
            items=items,
        )
    votes = counts[row]  # (n_items, n_values)
    item, answer = np.nonzero(votes)  # values without a vote have no row
    annotations = Annotations.from_arrays(
        item, None, answer.astype(np.int32), gold.scale, items=items, count=votes[item, answer]
    )
    return Corpus.build(
        "cifar10h",
        items,
        {"class": annotations},
        contents={"image": Contents.distinct("image", images["jpg"].combine_chunks())},
        gold={"class": gold},
    )


def _counts(folder: Path, n_items: int) -> np.ndarray:
    counts = numpy_array(folder, COUNTS)
    path = folder / COUNTS
    if counts.shape != (n_items, len(CLASSES)) or counts.dtype.kind not in "iu":
        raise DataError(
            f"{path}: expected whole numbers for {n_items} images x {len(CLASSES)} classes, "
            f"found {counts.dtype} of shape {counts.shape}"
        )
    if (counts < 0).any():
        raise DataError(f"{path}: the number of votes must be 0 or more, found {counts.min()}")
    return counts
