"""Repeats: several rows of one annotator on one item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dissensus.errors import DataError

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


@dataclass(frozen=True, eq=False)
class Repeated:
    """Rows by pair of item and annotator, where a pair has several."""

    order: np.ndarray  # (n_rows,) rows, one pair after another
    starts: np.ndarray  # (n_pairs,) where each begins in `order`
    sizes: np.ndarray  # (n_pairs,) how many rows it has

    @classmethod
    def find(cls, item: np.ndarray, annotator: np.ndarray, n_annotators: int) -> Repeated | None:
        """None if every pair has one row."""
        key = item.astype(np.int64) * max(n_annotators, 1) + annotator
        ordered = in_order(key)
        if (ordered[1:] > ordered[:-1]).all():
            return None
        order = np.argsort(key, kind="stable")
        new = np.r_[True, np.diff(ordered) > 0]  # where another pair begins
        starts = np.flatnonzero(new)
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
