"""Packed annotations: the answers to a block of items in as few bytes as possible, to be sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dissensus.annotations.annotations import Annotations
from dissensus.annotations.blocks import AnnotationBlocks
from dissensus.names import Names
from dissensus.scales import Scale


@dataclass(frozen=True, eq=False)
class PackedAnnotations:
    """Rows in the order of items, without names and further columns."""

    sizes: np.ndarray  # (n_items,) rows of each item
    annotator: np.ndarray | None  # (n_rows,)
    answer: np.ndarray  # (n_rows,)
    scale: Scale
    n_annotators: int
    count: np.ndarray | None
    repeats: bool

    @classmethod
    def of(cls, annotations: Annotations) -> PackedAnnotations:
        """Pack annotations; rows are sorted by item if they are not."""
        item = annotations.item
        if (item[1:] < item[:-1]).any():
            annotations = annotations.take(np.argsort(item, kind="stable"))
        return cls(
            _smallest(np.bincount(item, minlength=annotations.n_items)),
            None if annotations.annotator is None else _smallest(annotations.annotator),
            _smallest(annotations.answer),
            annotations.scale,
            annotations.n_annotators,
            None if annotations.count is None else _smallest(annotations.count),
            annotations.repeats,
        )

    def unpacked(self) -> Annotations:
        """The annotations, whose names are ranges."""
        items = np.arange(len(self.sizes))
        return Annotations(
            np.repeat(items, self.sizes),
            None if self.annotator is None else self.annotator.astype(np.int64),
            self.answer.astype(self.scale.dtype),
            self.scale,
            Names.range(len(self.sizes)),
            Names.range(self.n_annotators),
            count=None if self.count is None else self.count.astype(np.int64),
            repeats=self.repeats,
        )


def packed(blocks: AnnotationBlocks) -> Iterator[tuple[slice, PackedAnnotations]]:
    """The items and the packed answers of each block."""
    for items, block in blocks:
        yield items, PackedAnnotations.of(block)


def _smallest(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers that are not negative in as few bytes as they need; others as they are."""
    if numbers.dtype.kind not in "iu":
        return numbers
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
