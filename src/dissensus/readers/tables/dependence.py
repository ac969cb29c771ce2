"""Dependence: whether a column is a function of another, and whether pairs of cells are unique.

Both hold up to a few rows, which are a small share of those that could contradict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from dissensus.annotations import count_pairs
from dissensus.readers.tables.rows import Column

TOLERATED = 0.02  # rows that contradict a rule, as a share of those that could
FEW = 3  # rows that could contradict it: below, none may
ENOUGH = 8  # from here on, one row may contradict it
REPEATED = 0.1  # repeated pairs of a key, as a share of those by chance

T = TypeVar("T")


def _once(compare: Callable[[Column, Column], T]) -> Callable[[Column, Column], T]:
    """Compare each pair of columns once: the result is kept with the first of them."""

    def compared(one: Column, other: Column) -> T:
        key = (compare.__name__, other)
        if key not in one.comparisons:
            one.comparisons[key] = compare(one, other)
        return cast(T, one.comparisons[key])

    return compared


def _filled(column: Column, groups: Column) -> np.ndarray:
    rows = groups.sample
    return rows[(column.codes[rows] >= 0) & (groups.codes[rows] >= 0)]


def _pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(one.astype(np.int64) * (other.max(initial=0) + 1) + other)


# ---- functions ----


@_once
def exceptions(column: Column, groups: Column) -> tuple[int, int]:
    """The rows whose cell is not the most frequent of their group, and how many rows could have
    such a cell, as others have their group and theirs is not the usual cell of all; no blanks."""
    rows = _filled(column, groups)
    cells, of_group = column.codes[rows], groups.codes[rows]
    if not len(rows):
        return 0, 0
    distinct, counts = np.unique(_pairs(of_group, cells), return_counts=True)
    starts = np.unique(distinct // (cells.max() + 1), return_index=True)[1]
    n_wrong = len(rows) - int(np.maximum.reduceat(counts, starts).sum())
    return n_wrong, len(rows) - max(len(starts), int(np.bincount(cells).max()))


def is_function(column: Column, groups: Column, least: int = 0) -> bool:
    """Whether a column is a function of the groups, up to a few rows.

    Args:
        least: rows that could contradict it; if they are fewer, it is not said to be a function.
    """
    n_wrong, n_possible = exceptions(column, groups)
    if n_possible < FEW:
        return n_possible >= least and n_wrong == 0 and column.is_constant(groups)
    single = n_wrong == 1 and n_possible >= ENOUGH
    return n_possible >= least and (single or n_wrong <= TOLERATED * n_possible)


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


# ---- pairs ----


@_once
def n_distinct_pairs(one: Column, other: Column) -> int:
    """How many pairs of cells are distinct; a blank cell is like a value."""
    return count_pairs(one.codes, other.codes)


def _by_size(one: Column, other: Column) -> tuple[np.ndarray, np.ndarray]:
    """The codes of two columns, the one with more values first, in whole groups of its rows."""
    groups, cells = (one, other) if len(one.values) >= len(other.values) else (other, one)
    return groups.codes[groups.sample], cells.codes[groups.sample]


def n_repeated(one: Column, other: Column) -> int:
    """The rows whose pair of cells is that of an earlier row."""
    groups, cells = _by_size(one, other)
    return len(groups) - len(np.unique(_pairs(groups, cells)))


def n_repeated_by_chance(one: Column, other: Column) -> float:
    """How many pairs would repeat if the cells of one column were drawn for the rows at random."""
    groups, cells = _by_size(one, other)
    sizes, n_groups = np.unique(np.bincount(groups[groups >= 0]), return_counts=True)
    shares = np.bincount(cells[cells >= 0]) / max(len(cells), 1)
    distinct = np.array([(1 - (1 - shares) ** size).sum() for size in sizes])
    return float((n_groups * (sizes - distinct)).sum())


def is_key(one: Column, other: Column, least: float) -> bool:
    """Whether hardly any pair repeats, where at least so many would by chance."""
    by_chance = n_repeated_by_chance(one, other)
    most = min(TOLERATED * len(one), REPEATED * by_chance)
    return by_chance >= least and n_repeated(one, other) <= most
