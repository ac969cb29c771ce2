"""Dependence: whether a column is a function of another, up to a few rows, whether two columns
name a row together, and how much of a column another one explains.

The first two are compared with chance: the count after the column is shuffled once, with a fixed
seed, or the one that is expected if cells were drawn by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa

from dissensus.annotations import count_pairs
from dissensus.readers.tables.rows import Column, combined

TOLERATED = 0.02  # violations, as a share of what chance gives
FEW = 3.0  # violations by chance below which a function cannot be told from chance
ENOUGH = 8.0  # the same, from which it surely can, up to one row
ACCIDENT = 1e-4  # probability below which a rule without exceptions is no accident
SURE = 4.0  # standard errors: an effect is no accident
MOST_ONE_HOT = 50  # values above which only numbers are compared

T = TypeVar("T")


def _once(compare: Callable[[Column, Column], T]) -> Callable[[Column, Column], T]:
    """Compare each pair of columns once: the result is kept with the first of them."""

    def compared(one: Column, other: Column) -> T:
        key = (compare.__name__, other)
        if key not in one.comparisons:
            one.comparisons[key] = compare(one, other)
        return cast(T, one.comparisons[key])

    return compared


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

    @property
    def is_no_accident(self) -> bool:
        """Whether so few rows are hardly ever wrong by chance (Chernoff's bound, Poisson)."""
        more = self.n_wrong * math.log(self.by_chance / self.n_wrong) if self.n_wrong else 0.0
        return self.n_wrong - self.by_chance + more < math.log(ACCIDENT)


def _filled(column: Column, groups: Column) -> np.ndarray:
    rows = groups.sample
    return rows[(column.codes[rows] >= 0) & (groups.codes[rows] >= 0)]


def _pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(one.astype(np.int64) * (other.max(initial=0) + 1) + other)


@_once
def from_function(column: Column, groups: Column) -> Deviation:
    """The rows whose cell is not the most frequent of their group; blank cells are not counted."""

    def n_unusual(cells: np.ndarray) -> int:
        distinct, counts = np.unique(_pairs(of_group, cells), return_counts=True)
        starts = np.unique(distinct // (cells.max(initial=0) + 1), return_index=True)[1]
        return len(cells) - int(np.maximum.reduceat(counts, starts).sum() if len(cells) else 0)

    rows = _filled(column, groups)
    cells, of_group = column.codes[rows], groups.codes[rows]
    shuffled = np.random.default_rng(0).permutation(cells)
    return Deviation(len(rows), n_unusual(cells), float(n_unusual(shuffled)))


def is_function(column: Column, groups: Column, contradicted: float = 0.0) -> bool:
    """Whether a column is a function of the groups, up to a few rows.

    Where chance would hardly contradict it, as no group has two rows or nearly all cells are the
    same, no row may.

    Args:
        contradicted: rows that chance would contradict; below, it is not said to be a function.
    """
    deviation = from_function(column, groups)
    if deviation.by_chance < contradicted:
        return False
    if deviation.by_chance < FEW:
        return deviation.n_wrong == 0 and column.is_constant(groups)
    single = deviation.n_wrong == 1 and deviation.by_chance >= ENOUGH
    return single or deviation.share <= TOLERATED


def owner(column: Column, items: Column, annotators: Column | None) -> str | None:
    """What a column is an attribute of, "item" or "annotator"; None if of neither.

    If each item has one row, every column is constant within items: then annotators decide.
    """
    if annotators is not None and is_function(column, annotators):
        alone = len(items.values) == len(items) > len(annotators.values)
        return "annotator" if alone or not is_function(column, items) else "item"
    return "item" if is_function(column, items) else None


def usual_cells(column: Column, groups: Column) -> Any:
    """The most frequent cell of each group, the first of those that tie, as Arrow strings, null
    where all cells are blank."""
    usual = column.per_group(groups)
    if column.conflict(groups) is not None:
        there = np.flatnonzero((column.codes >= 0) & (groups.codes >= 0))
        pairs = _pairs(groups.codes[there], column.codes[there])
        first, counts = np.unique(pairs, return_index=True, return_counts=True)[1:]
        order = there[first[np.lexsort((-first, counts))]]  # the last of a group is its usual one
        usual[groups.codes[order]] = column.codes[order]
    return column.values.take(pa.array(usual, mask=usual < 0))


@_once
def n_distinct_pairs(one: Column, other: Column) -> int:
    """How many pairs of cells are distinct; a blank cell is like a value."""
    return count_pairs(one.codes, other.codes)


def from_key(one: Column, other: Column, all_columns: Iterable[Column] = ()) -> Deviation:
    """The rows whose pair of cells is that of an earlier row, and how many chance would give.

    Args:
        all_columns: rows that are the same in all of these are counted once.
    """
    rows = one.sample
    groups, cells = one.codes[rows], other.codes[rows]
    n_repeated = len(rows) - len(np.unique(_pairs(groups, cells)))
    if n_repeated and (every := list(all_columns)):
        n_repeated -= len(rows) - len(combined(every, rows).values)
    sizes, n_groups = np.unique(np.bincount(groups[groups >= 0]), return_counts=True)
    shares = np.bincount(cells[cells >= 0]) / max(len(cells), 1)
    distinct = [(1 - (1 - shares) ** size).sum() for size in sizes]
    by_chance = float((n_groups * (sizes - np.array(distinct))).sum())
    return Deviation(len(rows), n_repeated, by_chance)


class Effect(NamedTuple):
    """How much of a column the groups explain, by analysis of variance."""

    share: float  # of the variance: the intraclass correlation; may be below 0
    z: float  # how far it is from chance, in standard errors


@_once
def effect(column: Column, groups: Column) -> Effect:
    """How much of a column the groups explain: of its numbers, or of which value a cell has."""
    rows = _filled(column, groups)
    of_group = np.unique(groups.codes[rows], return_inverse=True)[1].reshape(-1)
    n_rows, n_groups = len(rows), int(of_group.max(initial=-1)) + 1
    numbers = column.numbers()
    is_numeric = numbers is not None and bool(np.isfinite(numbers[rows]).all())
    many = column.is_bytes or len(column.values) > MOST_ONE_HOT
    if (many and not is_numeric) or n_groups < 2 or n_rows <= n_groups:
        return Effect(0.0, 0.0)
    if is_numeric and numbers is not None:
        cells = numbers[rows][:, None]  # (n_rows, n_coordinates)
    else:
        cells = np.eye(len(column.values))[column.codes[rows]]
    sizes = np.bincount(of_group)
    means = np.stack([np.bincount(of_group, one) / sizes for one in cells.T], axis=1)
    within = ((cells - means[of_group]) ** 2).sum() / (n_rows - n_groups)
    total = ((cells - cells.mean(axis=0)) ** 2).sum()
    if not total or not within:
        return Effect(float(total > 0), np.inf if total else 0.0)
    between = (total - within * (n_rows - n_groups)) / (n_groups - 1)
    usual_size = (n_rows - (sizes**2).sum() / n_rows) / (n_groups - 1)
    share = (between - within) / (between + (usual_size - 1) * within)
    error = np.sqrt(2 / (n_groups - 1) + 2 / (n_rows - n_groups))
    return Effect(float(share), float((between / within - 1) / error))
