"""Dependence: whether a column is a function of another, up to a few rows, and whether two columns
name a row together.

Both are compared with chance: the count after the column is shuffled once, with a fixed seed, or
the one that is expected if cells were drawn by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.readers.tables.rows import Column

TOLERATED = 0.02  # violations, as a share of what chance gives
FEW = 3.0  # violations by chance below which a function cannot be told from chance


@dataclass(frozen=True)
class Deviation:
    """How many rows contradict a rule, and how many would by chance."""

    n_rows: int  # looked at
    n_wrong: int
    by_chance: float

    @property
    def share(self) -> float:
        """Wrong rows as a share of those by chance: 0 for a rule, 1 for no relation."""
        return self.n_wrong / self.by_chance if self.by_chance else 0.0


def from_function(column: Column, groups: Column) -> Deviation:
    """The rows whose cell is not the most frequent of their group; blank cells are not counted."""
    rows = groups.sample
    rows = rows[(column.codes[rows] >= 0) & (groups.codes[rows] >= 0)]
    cells, of_group = column.codes[rows].astype(np.int64), groups.codes[rows].astype(np.int64)
    shuffled = np.random.default_rng(0).permutation(cells)
    return Deviation(len(rows), _n_unusual(cells, of_group), float(_n_unusual(shuffled, of_group)))


def is_function(column: Column, groups: Column) -> bool:
    """Whether a column is a function of the groups, up to a few rows.

    Where chance would hardly contradict it, as no group has two rows or nearly all cells are the
    same, no row may.
    """
    deviation = from_function(column, groups)
    if deviation.by_chance < FEW:
        return deviation.n_wrong == 0 and column.is_constant(groups.codes, len(groups.values))
    return deviation.share <= TOLERATED


def violations(column: Column, groups: Column) -> np.ndarray:
    """The rows whose cell is not the most frequent of their group."""
    if column.conflict(groups.codes, len(groups.values)) is None:
        return np.empty(0, dtype=np.int64)
    usual = usual_codes(column, groups)[groups.codes]
    return np.flatnonzero((column.codes >= 0) & (groups.codes >= 0) & (usual != column.codes))


def usual_codes(column: Column, groups: Column) -> np.ndarray:
    """The most frequent code of each group, the first of those that tie; -1 if all are blank."""
    usual = column.per_group(groups.codes, len(groups.values))
    if column.conflict(groups.codes, len(groups.values)) is None:
        return usual
    there = (column.codes >= 0) & (groups.codes >= 0)
    pairs = _pairs(groups.codes[there].astype(np.int64), column.codes[there].astype(np.int64))
    distinct, first, counts = np.unique(pairs, return_index=True, return_counts=True)
    of_group = groups.codes[there][first]
    order = np.lexsort((first, -counts, of_group))
    best = order[np.unique(of_group[order], return_index=True)[1]]
    usual[of_group[best]] = column.codes[there][first[best]]
    return usual


def from_key(one: Column, other: Column) -> Deviation:
    """The rows whose pair of cells is that of an earlier row, and how many chance would give."""
    rows = one.sample
    groups, cells = one.codes[rows].astype(np.int64), other.codes[rows].astype(np.int64)
    n_repeated = len(rows) - len(np.unique(_pairs(groups, cells)))
    sizes, n_groups = np.unique(np.bincount(groups[groups >= 0]), return_counts=True)
    shares = np.bincount(cells[cells >= 0]) / max(len(cells), 1)
    distinct = [(1 - (1 - shares) ** size).sum() for size in sizes]
    by_chance = float((n_groups * (sizes - np.array(distinct))).sum())
    return Deviation(len(rows), n_repeated, by_chance)


def _pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(one * (other.max(initial=0) + 1) + other)


def _n_unusual(cells: np.ndarray, groups: np.ndarray) -> int:
    if not len(cells):
        return 0
    distinct, counts = np.unique(_pairs(groups, cells), return_counts=True)
    of_group = distinct // (cells.max() + 1)
    starts = np.flatnonzero(np.r_[True, of_group[1:] != of_group[:-1]])
    return int(len(cells) - np.maximum.reduceat(counts, starts).sum())
