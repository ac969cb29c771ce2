"""Rows: a table as columns of texts, and its place for messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, did_you_mean, listed
from dissensus.names import Names, code_type
from dissensus.readers.files import check_width
from dissensus.readers.layout import IN_MEMORY
from dissensus.scales import as_numbers

FEW_VALUES = 20  # so many are the values of a scale, whatever their share
FEATURES = "(features)"  # stands for the columns of features while a table is read
FEWEST_UNNAMED = 2  # columns, as under two rows of names
LOOKED_AT = 200  # values of a column whose spelling is looked at
TEXT_LENGTH = 20  # letters, on average, of a text
MOST_ROWS = 50_000  # that a decision about a column looks at
MANY_BYTES = 256 << 20  # of texts of a column; if there are more, codes are kept instead
MISSING = frozenset(("nan", "<na>", "null"))  # a missing answer, as programs write it


@dataclass(frozen=True, eq=False)
class Column:
    """A column as its distinct texts, in order of first appearance, and a code per row.

    Example:
        >>> column = Column.of(pa.chunked_array([["b", " ", "a", None, "b"]]))
        >>> column.values.to_pylist(), column.codes.tolist()
        (['b', 'a'], [0, -1, 1, -1, 0])
    """

    values: Any  # Arrow strings; bytes if the table contains the media themselves
    codes: np.ndarray  # (n_rows,), -1: blank
    is_encoded: bool = False  # whether Arrow encoded it, so that values are distinct

    @classmethod
    def of(cls, array: Any) -> Column:
        encoded = array.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        values = encoded.dictionary
        codes = encoded.indices
        codes = (pc.fill_null(codes, -1) if codes.null_count else codes).to_numpy()
        if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
            return cls(values, codes)
        there = pc.greater(pc.binary_length(pc.utf8_trim_whitespace(values)), 0)
        if pc.all(there).as_py() is not False:
            return cls(values, codes, is_encoded=True)
        kept = np.asarray(there.to_numpy(zero_copy_only=False), dtype=bool)
        new = np.where(kept, np.cumsum(kept) - 1, -1).astype(codes.dtype)
        return cls(values.filter(there), np.where(codes >= 0, new[codes], -1), is_encoded=True)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        code = self.codes[row]
        return None if code < 0 else self.values[int(code)].as_py()

    @property
    def is_bytes(self) -> bool:
        return self.values.type not in (pa.string(), pa.large_string())

    @property
    def is_filled(self) -> bool:
        """Whether no cell is blank."""
        return self.first_blank is None

    @property
    def is_unique(self) -> bool:
        """Whether every row has another text."""
        return not self.is_bytes and len(self.values) == len(self.codes)

    @cached_property
    def is_text(self) -> bool:
        """Whether it contains texts of several words, no lists."""
        if self.is_bytes or not len(self.values) or self.is_like_lists:
            return False
        sample = self.values.slice(0, LOOKED_AT)
        several = pc.mean(pc.match_substring(pc.utf8_trim_whitespace(sample), " ")).as_py()
        return bool(several > 0.5 and self.mean_length >= TEXT_LENGTH)

    @property
    def is_like_a_scale(self) -> bool:
        """Whether it has few values, as answers do."""
        few = max(FEW_VALUES, int((self.codes >= 0).sum()) // 10)
        return not self.is_bytes and 0 < len(self.values) <= few

    @property
    def mean_length(self) -> float:
        """Letters of a value, on average, of the first values."""
        return float(pc.mean(pc.utf8_length(self.values.slice(0, LOOKED_AT))).as_py())

    @property
    def is_like_lists(self) -> bool:
        """Whether the first value may be a list."""
        return bool(len(self.values)) and not self.is_bytes and self.values[0].as_py()[:1] == "["

    @property
    def first_blank(self) -> int | None:
        """The first row without an entry."""
        blank = self.codes < 0
        return int(blank.argmax()) if blank.any() else None

    def array(self) -> Any:
        """The column as Arrow strings, null where it is blank."""
        return self.values.take(pa.array(self.codes, mask=self.codes < 0))

    def numbers(self) -> np.ndarray | None:
        """The column as numbers, nan where it is blank; None if it contains anything else."""
        return None if self._spelled is None else self._spelled[self.codes]

    @cached_property
    def _spelled(self) -> np.ndarray | None:
        """The number that each value is, and nan; None if one is not a number."""
        spelled = None if self.is_bytes else as_numbers(self.values.to_pylist())
        return None if spelled is None else np.array([*spelled, np.nan])

    @cached_property
    def names(self) -> Names:
        """The values as names of items or annotators, which must be distinct."""
        return Names.distinct(self.values) if self.is_encoded else Names(self.values)

    @cached_property
    def words(self) -> frozenset[str]:
        """The values without outer space and words for a missing one; none if they are bytes."""
        if self.is_bytes:
            return frozenset()
        texts = pc.utf8_trim_whitespace(self.values)
        missing = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(MISSING, texts.type))
        return frozenset(texts.filter(pc.invert(missing)).to_pylist())

    @cached_property
    def comparisons(self) -> dict[Any, Any]:
        """Results of comparisons with other columns, each of which is made once."""
        return {}

    @cached_property
    def sample(self) -> np.ndarray:
        """Rows of whole groups that have the same cell, MOST_ROWS or a little more."""
        if len(self.codes) <= MOST_ROWS:
            return np.arange(len(self.codes))
        sizes = value_counts(self.codes, len(self.values))
        last = int(np.searchsorted(np.cumsum(sizes), MOST_ROWS))
        rows = np.flatnonzero((self.codes >= 0) & (self.codes <= last))
        return rows[: 4 * MOST_ROWS]  # a single group may be most of the table

    def per_group(self, groups: Column) -> np.ndarray:
        """The code of each group's first row that has an entry, -1 if none has, (n_groups,)."""
        first = np.full(len(groups.values), -1, dtype=np.int64)
        rows = np.flatnonzero((self.codes >= 0) & (groups.codes >= 0))[::-1]
        first[groups.codes[rows]] = self.codes[rows]
        return first

    def conflict(self, groups: Column) -> int | None:
        """The first row whose entry differs from the first entry of its group."""
        first = np.r_[self.per_group(groups), -1]
        other = (self.codes >= 0) & (groups.codes >= 0) & (first[groups.codes] != self.codes)
        return int(other.argmax()) if other.any() else None

    def is_constant(self, groups: Column) -> bool:
        """Whether all rows of each group have the same cell, blanks included."""
        first = np.empty(len(groups.values) + 1, dtype=np.int64)  # the last: rows without a group
        first[groups.codes[::-1]] = self.codes[::-1]
        return bool(((first[groups.codes] == self.codes) | (groups.codes < 0)).all())


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of texts, as every reader of tables returns it and `table_corpus` takes it."""

    columns: dict[str, Column]
    path: str  # what messages begin with
    name: str  # short, for notes; the corpus is named after it
    place: Callable[[int], str] = lambda row: f"row {row + 1}"  # or "line 3"
    folder: Path = field(default_factory=Path.cwd)  # relative media paths begin here
    sets: frozenset[str] = frozenset()  # columns of JSON lists, which are sets of values
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of columns' own values
    commas: bool = False  # whether the delimiter is no comma, so that 1,5 is likely a number
    unnamed: int = 0  # columns without a name, left out
    index: Column | None = None  # the first of them, where the table begins with it
    notes: tuple[str, ...] = ()  # about the file

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def with_columns(self, columns: Mapping[str, Column], **changes: Any) -> Rows:
        """The table with further columns, or others of the same name."""
        return replace(self, columns={**self.columns, **columns}, **changes)

    def without(self, names: Collection[str], **changes: Any) -> Rows:
        """The table without these columns."""
        kept = {name: one for name, one in self.columns.items() if name not in names}
        return replace(self, columns=kept, **changes)

    def at(self, row: int) -> str:
        """The place of a row, for the beginning of a message."""
        return f"{self.path}, {self.place(row)}"

    def check(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there, naming those that are."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            guess = did_you_mean(missing[0], self.columns)
            raise DataError(
                f"{self.path}: no column {listed(missing)}{guess}; it has {listed(self.columns, 5)}"
            )

    def check_texts(self, names: Iterable[str], what: str) -> None:
        """Refuse columns of bytes."""
        if binary := [name for name in names if self.columns[name].is_bytes]:
            raise DataError(f"{self.path}: column {binary[0]!r} contains bytes, not {what}")

    def check_filled(self, column: Column, what: str, names: Iterable[str]) -> None:
        """Refuse a column that is blank in a row."""
        if (blank := column.first_blank) is not None:
            raise DataError(f"{self.at(blank)}: no {what}: {listed(names)} is blank")


def taken(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """`values[codes]`, without a copy of all codes as numbers of 8 bytes."""
    result = np.empty(len(codes), values.dtype)
    for start in range(0, len(codes), MOST_ROWS):
        part = slice(start, start + MOST_ROWS)
        result[part] = values[codes[part]]
    return result


def value_counts(codes: np.ndarray, n_values: int) -> np.ndarray:
    """How often each code occurs, (n_values,); -1 is not counted."""
    counts = np.zeros(n_values + 1, dtype=np.int64)
    size = max(1 << 20, n_values)
    for start in range(0, len(codes), size):
        counts += np.bincount(codes[start : start + size] + 1, minlength=n_values + 1)
    return counts[1:]


def at_rows(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """`values[rows]`, for positions in order; not copied if these are all rows."""
    return values if len(rows) == len(values) else values[rows]


def make_rows(names: Sequence[Any], arrays: Sequence[Any], path: str, **facts: Any) -> Rows:
    """Rows from the columns of a table, Arrow arrays or `Column`s, whose names must be distinct;
    those without a name, such as the index that pandas writes, are left out."""
    texts = ["" if name is None else str(name).strip() for name in names]
    twice = sorted(name for name, times in Counter(texts).items() if name and times > 1)
    if twice:
        lines = "" if path == IN_MEMORY else ", or use --header 2 if names are in two lines"
        raise DataError(
            f"{path}: columns share the name {listed(twice, 5)}; rename all but one{lines}"
        )
    if half := next((name for name in texts if re.search("[\ud800-\udfff]", name)), None):
        raise DataError(
            f"{path}: the name of column {half!r} contains a lone surrogate (half of a character); "
            "correct it"
        )
    check_width(len(texts), path)
    if not any(texts):
        raise DataError(f"{path}: no column has a name; put a line of names first")
    if not len(arrays[0]):
        raise DataError(f"{path}: column names, but no rows")
    as_columns = [one if isinstance(one, Column) else Column.of(one) for one in arrays]
    filled = [name for name, one in zip(texts, as_columns, strict=True) if len(one.values)]
    n_unnamed = filled.count("")
    if n_unnamed >= FEWEST_UNNAMED and n_unnamed > len(texts) / 4:
        raise DataError(
            f"{path}: {n_unnamed} of {len(texts)} columns have cells, but no name; if two rows "
            "contain the column names, as in a survey, use header=2 (--header 2), and header=0 "
            "(--header 0) if none does"
        )
    columns = {name: column for name, column in zip(texts, as_columns, strict=True) if name}
    index = None if texts[0] else as_columns[0]
    return Rows(columns, path, unnamed=len(texts) - len(columns), index=index, **facts)


# ---- rows and columns of other tables ----


def take_rows(rows: Rows, kept: np.ndarray) -> Rows:
    """The rows where `kept` is true, which stay where they stood for messages."""
    where = np.flatnonzero(kept)
    mask = pa.array(kept)
    return replace(
        rows,
        columns={name: Column.of(one.array().filter(mask)) for name, one in rows.columns.items()},
        place=lambda row: rows.place(int(where[row])),
        index=None if rows.index is None else Column.of(rows.index.array().filter(mask)),
    )


def cells_of(columns: list[Column]) -> Column:
    """Columns of one length as a single one, row by row."""
    values = pa.concat_arrays([column.values.cast(pa.string()) for column in columns])
    encoded = values.dictionary_encode()
    new = np.append(encoded.indices.to_numpy(zero_copy_only=False), -1)
    starts = np.cumsum([0, *(len(column.values) for column in columns)])
    codes = [
        new[np.where(column.codes < 0, -1, column.codes + start)]
        for column, start in zip(columns, starts, strict=False)
    ]
    return Column(encoded.dictionary, np.stack(codes, axis=1).ravel())


def numbered(n_rows: int, first: int = 0) -> Column:
    """A column that numbers the rows."""
    numbers = np.arange(n_rows)
    return Column(pa.array(numbers + first).cast(pa.string()), numbers, is_encoded=True)


def combined(columns: Iterable[Column], rows: np.ndarray | None = None) -> Column:
    """The distinct combinations of cells, blanks included, numbered; of these rows alone."""
    groups: Any = np.zeros(1, dtype=np.int64)
    for column in columns:
        codes = column.codes if rows is None else column.codes[rows]
        pairs = groups * (len(column.values) + 1) + codes + 1
        groups = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return Column(np.arange(int(groups.max(initial=-1)) + 1), groups)


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name


class ColumnParts:
    """A column that grows; if it is long, it is kept as codes.

    Example:
        >>> parts = ColumnParts()
        >>> parts.add(pa.array(["b", "a"]))
        >>> parts.add(pa.array(["b"]))
        >>> parts.column().codes.tolist()
        [0, 1, 0]
    """

    def __init__(self) -> None:
        self._n_rows = self._n_bytes = 0
        self._texts: list[Any] = []  # that are not in codes yet
        self._codes: list[np.ndarray] = []
        self._values: Any = pa.array([], pa.large_string())

    def __len__(self) -> int:
        return self._n_rows

    def add(self, array: Any) -> None:
        """Take the next rows, Arrow strings."""
        self._n_rows += len(array)
        self._texts.append(array)
        self._n_bytes += array.nbytes
        if self._n_bytes > MANY_BYTES:
            self._number()

    def column(self) -> Column:
        """All rows; nothing is kept here."""
        if not self._codes:
            texts, self._texts = self._texts, []
            return Column.of(pa.chunked_array(texts, pa.string()))
        self._number()
        codes, self._codes = self._codes, []
        values, self._values = self._values, None
        if values.nbytes < np.iinfo(np.int32).max:
            values = values.cast(pa.string())
        return Column(values, np.concatenate(codes, dtype=np.int32), is_encoded=True)

    def _number(self) -> None:
        """Turn the texts into codes."""
        texts, self._texts, self._n_bytes = self._texts, [], 0
        part = Column.of(pa.chunked_array(texts, pa.string()))
        del texts
        names = part.values.cast(pa.large_string())
        known = pc.index_in(names, value_set=self._values)
        is_new = known.is_null().to_numpy(zero_copy_only=False)
        code = np.append(pc.fill_null(known, 0).to_numpy(), -1)
        code[:-1][is_new] = len(self._values) + np.arange(is_new.sum())
        self._values = pa.concat_arrays([self._values, names.filter(known.is_null())])
        self._codes.append(code.astype(code_type(len(self._values)))[part.codes])
        pa.default_memory_pool().release_unused()
