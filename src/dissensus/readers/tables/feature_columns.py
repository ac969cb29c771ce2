"""Feature columns: vectors of numbers, as many numeric columns or as one column of lists.

They are the contents of items, never texts, answers or annotators. A column takes their place while
the table is read, which numbers the distinct vectors.
"""

from __future__ import annotations

import fnmatch
import json
import re
from dataclasses import replace

import numpy as np

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import is_one_annotator
from dissensus.readers.tables.rows import FEATURES, Column, Rows, numbered
from dissensus.scales import as_numbers

FEWEST = 16  # columns numbered under one name, or numbers in a list, that are features
LONGEST = 200  # letters of a name that are looked at
_NUMBERED = re.compile(r"(.*?)[\W_]*(\d+)")
Features = tuple[Contents, list[str]]  # distinct vectors, and columns


def without_features(rows: Rows, options: Layout) -> tuple[Rows, Features | None]:
    """The table with its features as one column that numbers them, and the features."""
    names = _chosen(rows, options.features) if options.features else _recognised(rows)
    if not names:
        return rows, None
    if len(names) == 1 and names[0] in rows.sets:
        vectors, of_value = Contents.distinct("features", _lists(rows, names[0]))
        codes = np.r_[of_value, -1][rows.columns[names[0]].codes]
    else:
        vectors, codes = Contents.distinct("features", _matrix(rows, names))
    column = Column(numbered(len(vectors)).values, codes)
    return rows.without(names).with_columns({FEATURES: column}), (vectors, names)


def with_features(corpus: Corpus, features: Features | None, rows: Rows) -> Corpus:
    """The corpus with the features as a content of its items."""
    if features is None:
        return corpus
    vectors, names = features
    attributes = dict(corpus.item_attributes)
    numbers = attributes.pop(FEATURES, None)
    if numbers is None:
        raise DataError(
            f"{rows.path}: {listed(names, 3)} are features, but differ between the answers to one "
            "item"
        )
    codes = np.array([-1 if one is None else int(one) for one in numbers.to_pylist()], np.int32)
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    size = counted(len(vectors.values[0]), "number")
    note = f"{rows.name}: features = {shown} ({size} for each item)"
    return replace(
        corpus,
        item_attributes=attributes,
        contents={**corpus.contents, "features": vectors},
        content={**corpus.content, "features": codes},
        notes=(*corpus.notes, note),
    )


def _chosen(rows: Rows, patterns: tuple[str, ...]) -> list[str]:
    """The columns that patterns such as `x*` name."""
    names: dict[str, None] = {}
    for pattern in patterns:
        fits = [name for name in rows.columns if fnmatch.fnmatchcase(name, pattern)]
        if not fits:
            raise DataError(
                f"{rows.path}: no column {pattern!r} for features, and no such file; it has "
                f"{listed(rows.columns, 5)}"
            )
        names |= dict.fromkeys(fits)
    return list(names)


def _recognised(rows: Rows) -> list[str]:
    """Many numeric columns numbered under one name, or one column of long lists of numbers, without
    a gap and with fractions among them."""
    groups: dict[str, list[str]] = {}
    for name in rows.columns:
        if match := _NUMBERED.fullmatch(name[-LONGEST:]):
            groups.setdefault(match[1], []).append(name)
    for names in groups.values():
        if len(names) < FEWEST or all(is_one_annotator(name, likely=False) for name in names):
            continue
        numbers = [n for name in names if (n := rows.columns[name].numbers()) is not None]
        sample = np.array([numbers[at] for at in (0, len(numbers) // 2, -1) if numbers])
        if len(numbers) == len(names) and not np.isnan(sample).any() and (sample % 1 != 0).any():
            return names
    lists = []
    for name in rows.sets & rows.columns.keys():
        values = rows.columns[name].values
        vector = (_vector(values[0].as_py()) if len(values) else None) or []
        if len(vector) >= FEWEST and (np.array(vector) % 1 != 0).any():
            lists.append(name)
    return lists if len(lists) == 1 else []


def _matrix(rows: Rows, names: list[str]) -> np.ndarray:
    """The numbers in these columns, (n_rows, n_numbers)."""
    cells = []
    for name in names:
        numbers = rows.columns[name].numbers()
        if numbers is None or np.isnan(numbers).any():
            wrong = rows.columns[name].first_blank
            where = rows.path if wrong is None else rows.at(wrong)
            raise DataError(f"{where}: {name!r} is a feature, but a cell is blank or no number")
        cells.append(numbers.astype(np.float32))
    return np.stack(cells, axis=1)


def _vector(text: str) -> list[float] | None:
    """The numbers of a list as JSON; None of another text."""
    try:
        cells = json.loads(text)
    except ValueError:
        return None
    return as_numbers(map(str, cells)) if isinstance(cells, list) else None


def _lists(rows: Rows, name: str) -> np.ndarray:
    """The distinct lists in a column, (n_lists, n_numbers)."""
    texts = rows.columns[name].values.to_pylist()
    lists = [_vector(text) for text in texts]
    if None in lists or len({len(one or ()) for one in lists}) != 1:
        raise DataError(
            f"{rows.path}: {name!r} are features, but not each is a list of as many numbers"
        )
    return np.array(lists, dtype=np.float32)
