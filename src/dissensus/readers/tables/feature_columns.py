"""Feature columns: vectors of numbers, as many numeric columns or as one column of lists.

They are the contents of items, never texts, answers or annotators. A column takes their place while
the table is read, which numbers the distinct vectors.
"""

from __future__ import annotations

import fnmatch
import json
import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import is_one_annotator
from dissensus.readers.tables.rows import FEATURES, Column, Rows

FEWEST = (
    16  # columns numbered under one name, or numbers in a list, that are features by themselves
)
_NUMBERED = re.compile(r"(.*?)[\W_]*(\d+)")


@dataclass(frozen=True, eq=False)
class Features:
    """The distinct vectors of a table, and the columns that they come from."""

    vectors: np.ndarray  # (n_vectors, n_numbers)
    columns: tuple[str, ...]


def without_features(rows: Rows, options: Layout) -> tuple[Rows, Features | None]:
    """The table with its features as one column that numbers them, and the features."""
    names = _chosen(rows, options.features) if options.features else _recognised(rows)
    if not names:
        return rows, None
    if len(names) == 1 and names[0] in rows.sets:
        column, vectors = _of_lists(rows, names[0])
    else:
        column, vectors = _of_columns(rows, names)
    others = {name: one for name, one in rows.columns.items() if name not in names}
    return replace(rows, columns={**others, FEATURES: column}), Features(vectors, tuple(names))


def with_features(corpus: Corpus, features: Features | None, rows: Rows) -> Corpus:
    """The corpus with the features as a content of its items."""
    if features is None:
        return corpus
    attributes = dict(corpus.item_attributes)
    numbers = attributes.pop(FEATURES, None)
    if numbers is None:
        raise DataError(
            f"{rows.path}: {listed(features.columns, 3)} are features, but differ between the "
            "answers to one item"
        )
    codes = np.array([-1 if one is None else int(one) for one in numbers.to_pylist()])
    contents = Contents.distinct("features", features.vectors)[0]
    shown = ", ".join(features.columns[:3]) + (", ..." if len(features.columns) > 3 else "")
    size = counted(features.vectors.shape[1], "number")
    note = f"{rows.name}: features = {shown} ({size} for each item)"
    return replace(
        corpus,
        item_attributes=attributes,
        contents={**corpus.contents, "features": contents},
        content={**corpus.content, "features": codes.astype(np.int32)},
        notes=(*corpus.notes, note),
    )


def _chosen(rows: Rows, patterns: tuple[str, ...]) -> list[str]:
    """The columns that patterns such as `x*` name."""
    names = []
    for pattern in patterns:
        fits = [name for name in rows.columns if fnmatch.fnmatchcase(name, pattern)]
        if not fits:
            raise DataError(
                f"{rows.path}: no column {pattern!r} for features, and no such file; it has "
                f"{listed(rows.columns, 5)}"
            )
        names += [name for name in fits if name not in names]
    return names


def _recognised(rows: Rows) -> list[str]:
    """Many numeric columns numbered under one name, or one column of long lists of numbers."""
    groups: dict[str, list[str]] = {}
    for name in rows.columns:
        if match := _NUMBERED.fullmatch(name):
            groups.setdefault(match[1], []).append(name)
    for names in groups.values():
        people = all(is_one_annotator(name, likely=False) for name in names)
        if len(names) >= FEWEST and not people and _are_features(rows, names):
            return names
    lists = [name for name in rows.columns if name in rows.sets and _is_vector(rows, name)]
    return lists if len(lists) == 1 else []


def _are_features(rows: Rows, names: list[str]) -> bool:
    """Whether columns contain numbers without a gap, fractions among them."""
    sample = [rows.columns[name] for name in (names[0], names[len(names) // 2], names[-1])]
    numbers = [column.numbers() for column in sample]
    if any(one is None or np.isnan(one).any() for one in numbers):
        return False
    fractions = any((one % 1 != 0).any() for one in numbers if one is not None)
    return fractions and all(rows.columns[name].numbers() is not None for name in names)


def _is_vector(rows: Rows, name: str) -> bool:
    values = rows.columns[name].values
    if not len(values):
        return False
    first = json.loads(values[0].as_py())
    numbers = [_number(one) for one in first] if len(first) >= FEWEST else [None]
    return None not in numbers and any(one % 1 != 0 for one in numbers if one is not None)


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


def _of_columns(rows: Rows, names: list[str]) -> tuple[Column, np.ndarray]:
    cells = []
    for name in names:
        numbers = rows.columns[name].numbers()
        if numbers is None or np.isnan(numbers).any():
            wrong = rows.columns[name].first_blank
            where = rows.path if wrong is None else rows.at(wrong)
            raise DataError(f"{where}: {name!r} is a feature, but a cell is blank or no number")
        cells.append(numbers)
    matrix = np.ascontiguousarray(np.stack(cells, axis=1), dtype=np.float32)
    seen: dict[bytes, int] = {}
    codes = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in matrix])
    first = np.unique(codes, return_index=True)[1]
    return _numbered(len(first), codes), matrix[first]


def _of_lists(rows: Rows, name: str) -> tuple[Column, np.ndarray]:
    column = rows.columns[name]
    lists = [[_number(one) for one in json.loads(text)] for text in column.values.to_pylist()]
    sizes = {len(one) for one in lists}
    if len(sizes) != 1 or any(None in one for one in lists):
        raise DataError(
            f"{rows.path}: {name!r} are features, but not each is a list of as many numbers"
        )
    return _numbered(len(lists), column.codes), np.array(lists, dtype=np.float32)


def _numbered(n_values: int, codes: np.ndarray) -> Column:
    return Column(pa.array(np.arange(n_values)).cast(pa.string()), codes)
