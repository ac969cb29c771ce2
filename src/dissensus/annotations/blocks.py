"""Answers in blocks of whole items, to count without having all of them in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dissensus.annotations.annotations import Annotations, Ties, check_ties, most_frequent, one_of
from dissensus.errors import DataError, counted
from dissensus.names import Names, OfNames
from dissensus.scales import Scale

MANY = 1 << 22  # rows that are sorted by counting, in half the memory


@dataclass(frozen=True, eq=False)
class AnnotationBlocks(OfNames, ABC):
    """The answers to one question, block by block.

    A block is `Annotations` of some consecutive items: item 0 of a block is the item `bounds[n]`.
    Blocks have no names of items and annotators.
    """

    scale: Scale
    items: Names
    annotators: Names
    n_rows: int
    bounds: tuple[int, ...]  # the first item of each block, and the number of all items
    is_anonymous: bool = False  # whether annotators are unknown
    repeats: bool = False  # whether an annotator may answer an item more than once

    @abstractmethod
    def block(self, number: int) -> Annotations:
        """The answers to the items from bounds[number] to bounds[number + 1]."""

    def __iter__(self) -> Iterator[tuple[slice, Annotations]]:
        """The items and the answers of each block."""
        for number, (first, last) in enumerate(zip(self.bounds, self.bounds[1:], strict=False)):
            yield slice(first, last), self.block(number)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {counted(self.n_rows, 'row')} on "
            f"{counted(self.n_items, 'item')} in {counted(len(self), 'block')}, {self.scale.kind}>"
        )

    @property
    def n_answers(self) -> int:
        """Rows, or the sum of their counts."""
        return int(self.per_item().sum())

    def check_annotators(self, purpose: str) -> None:
        """Refuse anonymous answers."""
        if self.is_anonymous:
            raise DataError(f"{purpose} needs known annotators; these answers are anonymous")

    def per_annotator(self) -> np.ndarray:
        """How many answers each annotator gave, (n_annotators,)."""
        self.check_annotators("counting rows per annotator")
        sizes = np.zeros(self.n_annotators, dtype=np.int64)
        for _, block in self:
            sizes += block.per_annotator()
        return sizes

    def per_item(self) -> np.ndarray:
        """How many answers each item has, (n_items,)."""
        return self._per_item

    @cached_property
    def _per_item(self) -> np.ndarray:
        sizes = np.zeros(self.n_items, dtype=np.int64)
        for part, block in self:
            sizes[part] = block.per_item()
        return sizes

    def voters(self) -> np.ndarray:
        """How many annotators answered each item, (n_items,)."""
        if not self.repeats:
            return self.per_item()
        return np.concatenate([block.voters() for _, block in self])

    def distribution(self) -> np.ndarray:
        """The share of each value in an item's votes, (n_items, n_columns); nan without any."""
        shares = np.empty((self.n_items, self.scale.n_columns))
        for part, block in self:
            shares[part] = block.distribution()
        return shares

    def majority(self, ties: Ties = "first", seed: int = 0) -> Annotations:
        """The most frequent answer of each item, as `Annotations.majority`."""
        check_ties(ties)
        best = np.empty((self.n_items, self.scale.n_columns), dtype=bool)
        for part, block in self:
            best[part] = most_frequent(block.counts())
        items = np.flatnonzero(self.per_item())
        rows, answer = one_of(best[items], ties, seed)
        answer = answer.astype(self.scale.dtype)
        return Annotations(items[rows], None, answer, self.scale, self.items, Names.range(0))


def _block_bounds(offsets: np.ndarray, n_blocks: int) -> tuple[int, ...]:
    """The first item of each block and the number of items, for blocks with about as many rows.

    Args:
        offsets: where the rows of each item begin, and the number of rows, (n_items + 1,).
    """
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_blocks + 1)[1:-1])
    return tuple(np.unique(np.r_[0, cuts, len(offsets) - 1]).tolist())


def _by_item(item: np.ndarray, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows by item, (n_rows,), and where each item begins among them, (n_items + 1,)."""
    if len(item) >= MANY:
        from dissensus.annotations.sorting import grouped

        order: np.ndarray = np.empty(len(item), np.int32 if len(item) < 1 << 31 else np.int64)
        return order, grouped(item, n_items, order)
    sizes = np.bincount(item, minlength=n_items)
    return np.argsort(item, kind="stable"), np.r_[0, np.cumsum(sizes)]


@dataclass(frozen=True, eq=False, repr=False)
class SplitAnnotations(AnnotationBlocks):
    """Annotations in memory, in blocks with about the same number of rows.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t2", "ann", "no"), ("t1", "bob", "yes")]
        >>> blocks = SplitAnnotations.of(Annotations.from_rows(rows), 2)
        >>> [block.n_rows for items, block in blocks]
        [2, 1]
    """

    annotations: Annotations = field(kw_only=True)
    order: np.ndarray = field(kw_only=True)  # (n_rows,) rows by item
    offsets: np.ndarray = field(kw_only=True)  # (n_items + 1,) where each item begins in `order`

    @classmethod
    def of(cls, annotations: Annotations, n_blocks: int) -> SplitAnnotations:
        """Split into so many blocks, fewer if there are fewer items."""
        order, offsets = _by_item(annotations.item, annotations.n_items)
        return cls(
            annotations.scale,
            annotations.items,
            annotations.annotators,
            annotations.n_rows,
            _block_bounds(offsets, n_blocks),
            annotations.annotator is None,
            annotations.repeats,
            annotations=annotations,
            order=order,
            offsets=offsets,
        )

    def block(self, number: int) -> Annotations:
        first, last = self.bounds[number], self.bounds[number + 1]
        part = self.annotations.take(self.order[self.offsets[first] : self.offsets[last]])
        return replace(
            part,
            item=part.item - first,
            items=Names.range(last - first),
            annotators=Names.range(self.n_annotators),
        )


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
