"""Question columns: wide tables with a column for each question and annotator (`label_ann1`).

The name of such a column has two parts: `label_ann1` and `rating_ann1`, or `ann1_label`. Columns
are read so only if their names say which part is the annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dissensus.readers.options import Options
from dissensus.readers.tables.annotator_columns import ANNOTATOR_WORDS, is_derived
from dissensus.readers.tables.column_names import NAMES, first_named, plain
from dissensus.readers.tables.rows import Rows

Grid = dict[str, dict[str, str]]  # question -> annotator -> column
_SEPARATORS = re.compile(r"[\s_.:/|-]+")
_ANNOTATOR = re.compile(rf"(?i:{ANNOTATOR_WORDS})[\W_]*([0-9]+|[A-Za-z])|A[0-9A-Z]{{9,}}|\S+@\S+")
_NUMBER = re.compile(r"\d+|[A-Z]")
COMPLETE = 0.8  # of the pairs of question and annotator: so many have a column


def find_grid(rows: Rows, options: Options) -> Grid | None:
    """The columns by question and annotator; None if this is no such table."""
    chosen = (options.annotator, options.annotators, options.answer, options.question)
    if any(part is not None for part in chosen) or options.format not in (None, "wide"):
        return None
    if first_named("annotator", rows) is not None:
        return None
    free = [name for name in rows.columns if name not in _named(options) and not is_derived(name)]
    for questions_first in (True, False):
        for at_end in (True, False):
            grid = _grid(free, questions_first, at_end)
            if grid is not None:
                return grid
    return None


def _named(options: Options) -> set[str]:
    single = {name for name in (options.item, options.gold) if name is not None}
    return single | set(options.text or ())


def _grid(names: Iterable[str], questions_first: bool, at_end: bool) -> Grid | None:
    """Columns whose names have two parts, if one of both is an annotator by its name.

    Args:
        at_end: whether names are parted at the last separator, otherwise at the first.
    """
    grid: Grid = {}
    for name in names:
        parts = _parted(name, at_end)
        if parts is None:
            continue
        question, annotator = parts if questions_first else parts[::-1]
        if _ANNOTATOR.fullmatch(annotator) or _is_number(annotator, question):
            grid.setdefault(question, {})[annotator] = name
    annotators = {annotator for columns in grid.values() for annotator in columns}
    grid = {q: columns for q, columns in grid.items() if len(columns) >= COMPLETE * len(annotators)}
    if len(grid) < 2 or len(annotators) < 2 or any(_ANNOTATOR.fullmatch(q) for q in grid):
        return None
    return grid


def _is_number(annotator: str, question: str) -> bool:
    """Whether a number is an annotator's: label_1, but not q_1."""
    return bool(_NUMBER.fullmatch(annotator)) and plain(question) in NAMES["answer"]


def _parted(name: str, at_end: bool) -> tuple[str, str] | None:
    separators = list(_SEPARATORS.finditer(name))
    if not separators:
        return None
    where = separators[-1] if at_end else separators[0]
    first, second = name[: where.start()], name[where.end() :]
    return (first, second) if first and second else None
