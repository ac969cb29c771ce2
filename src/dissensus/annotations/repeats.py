"""Repeats: several rows of one annotator on one item."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from dissensus.errors import DataError

PAIRS = 1 << 22  # that are sorted together, and rows that are looked at together
MOST_FALLS = 0.45  # of the keys: numbers in long runs are sorted faster by merging
Repeats = Literal["error", "keep", "first", "last", "mean"]


def check_repeats(rule: Repeats) -> None:
    """Refuse an unknown rule."""
    if rule not in get_args(Repeats):
        raise DataError(f"no rule {rule!r} for repeats; there are {', '.join(get_args(Repeats))}")


def in_order(keys: np.ndarray) -> np.ndarray:
    """Whole numbers from the smallest to the largest; those in order already are not copied.

    Example:
        >>> in_order(np.array([3, 1, 2])).tolist()
        [1, 2, 3]
    """
    n_falls = np.count_nonzero(keys[1:] < keys[:-1])
    if not n_falls:
        return keys
    return np.sort(keys, kind="stable" if n_falls < MOST_FALLS * len(keys) else "quicksort")


def count_pairs(one: np.ndarray, other: np.ndarray) -> int:
    """How many pairs of codes are distinct, counted in blocks of the first code.

    Example:
        >>> count_pairs(np.array([0, 1, 0, -1]), np.array([2, 0, 2, 0]))
        3
    """
    if not len(one):
        return 0
    width = int(other.max()) + 2
    bounds = np.linspace(int(one.min()), int(one.max()) + 1, len(one) // PAIRS + 2).astype(np.int64)
    n_distinct: Any = 0
    for first, last in itertools.pairwise(bounds.tolist()):
        rows: Any = slice(None)
        if len(bounds) > 2:
            rows = np.concatenate([
                start + np.flatnonzero((part >= first) & (part < last))
                for start, part in ((at, one[at : at + PAIRS]) for at in range(0, len(one), PAIRS))
            ])  # fmt: skip
        ordered = in_order(one[rows].astype(np.int64) * width + other[rows])
        n_distinct += np.count_nonzero(ordered[1:] != ordered[:-1]) + min(len(ordered), 1)
    return int(n_distinct)


@dataclass(frozen=True, eq=False)
class Repeated:
    """Rows by pair of item and annotator, where a pair has several."""

    order: np.ndarray  # (n_rows,) rows, one pair after another
    starts: np.ndarray  # (n_pairs,) where each begins in `order`
    sizes: np.ndarray  # (n_pairs,) how many rows it has

    @classmethod
    def find(cls, item: np.ndarray, annotator: np.ndarray, n_annotators: int) -> Repeated | None:
        """None if every pair has one row."""
        if count_pairs(item, annotator) == len(item):
            return None
        key = item.astype(np.int64) * max(n_annotators, 1) + annotator
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(key[order]) > 0])  # where another pair begins
        return cls(order, starts, np.diff(np.r_[starts, len(key)]))

    @property
    def first(self) -> np.ndarray:
        """The first row of each pair, (n_pairs,)."""
        return self.order[self.starts]

    @property
    def last(self) -> np.ndarray:
        """The last row of each pair, (n_pairs,)."""
        return self.order[self.starts + self.sizes - 1]

    @property
    def pair(self) -> np.ndarray:
        """The pair of each row, (n_rows,)."""
        pair = np.empty(len(self.order), dtype=np.int64)
        pair[self.order] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return pair

    def several(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of pairs with several, which of these pairs they are of, and 1 / its number of
        rows."""
        several = self.sizes > 1
        sizes = self.sizes[several]
        rows = self.order[np.repeat(several, self.sizes)]
        return rows, np.repeat(np.arange(len(sizes)), sizes), np.repeat(1 / sizes, sizes)

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of a column over the rows of each pair, (n_pairs,)."""
        return np.add.reduceat(values[self.order], self.starts) / self.sizes
