"""CIFAR-10H (Peterson et al. 2019): 10,000 small photographs with about 51 votes each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import errors_in, labels, numpy_array, parquet_table, votes
from dissensus.errors import DataError
from dissensus.scales import Nominal

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
IMAGES, COUNTS = "cifar10_test_jpg.parquet", "cifar10h-counts.npy"


def load(folder: Path, corpus: str) -> Corpus:
    """Question `class`, votes without annotators; gold `class`; contents are JPEG bytes."""
    images = parquet_table(folder, IMAGES, ["item_id", "label", "jpg"])
    counts, scale = numpy_array(folder, COUNTS), Nominal(CLASSES)
    if counts.shape != (len(images), len(CLASSES)) or counts.dtype.kind not in "iu":
        raise DataError(
            f"{folder / COUNTS}: expected whole numbers for {len(images)} images x "
            f"{len(CLASSES)} classes, found {counts.dtype} of shape {counts.shape}"
        )
    row = images.array("item_id")  # a row of the vote table each
    items = images.names("item_id")
    with images.errors():
        if not 0 <= row.min() <= row.max() < len(counts):
            raise DataError(f"item_id {row.max()} has no row in {COUNTS}")
        gold = labels(images.array("label").astype(np.int32), scale, items)
    with errors_in(folder / COUNTS):
        answers = votes(counts[row], scale, items)
    return Corpus.build(
        corpus,
        items,
        {"class": answers},
        contents={"image": Contents.distinct("image", images["jpg"].combine_chunks())},
        gold={"class": gold},
    )
