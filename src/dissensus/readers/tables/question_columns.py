"""Question columns: wide tables with a column for each question and annotator (`label_ann1`).

The name of such a column has two parts: `label_ann1` and `rating_ann1`, or `ann1_label`. Either
names say which part is the annotator, or one part is a known word for answers, and the columns that
share it agree beyond chance (`label_anna`, `label_ben`, `rating_anna`, ...).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator

from dissensus.readers.layout import Layout
from dissensus.readers.tables.annotator_columns import ANNOTATOR_WORDS, is_derived
from dissensus.readers.tables.column_names import NAMES, first_named, plain
from dissensus.readers.tables.dependence import agreement_beyond_chance
from dissensus.readers.tables.rows import Column, Rows

Grid = dict[str, dict[str, str]]  # question -> annotator -> column
SEPARATORS = " _.:/|-"
_SEPARATORS = re.compile(rf"[\s{re.escape(SEPARATORS)}]+")
_ANNOTATOR = re.compile(rf"(?i:{ANNOTATOR_WORDS})[\W_]*([0-9]+|[A-Za-z])|A[0-9A-Z]{{9,}}|\S+@\S+")
_NUMBER = re.compile(r"\d+|[A-Z]")
COMPLETE = 0.8  # of the pairs of question and annotator: so many have a column
FEWEST = 3  # annotators whose names say nothing
AGREEMENT = 0.1  # beyond chance, of the columns of a question whose annotators have any name
FEW_VALUES = 20  # so many are the values of a scale, whatever their share
_SHORT = re.compile(r"(?i)[aprwju]\d+")  # r1, P2
_NUMBERED = re.compile(r"(?i)(q|question|item|task|trial|stimulus|image|text|t|v)?[\W_]*\d+")


def find_grid(rows: Rows, options: Layout) -> Grid | None:
    """The columns by question and annotator; None if this is no such table."""
    chosen = (options.annotator, options.answer, options.question)
    if any(part is not None for part in chosen) or options.format not in (None, "wide"):
        return None
    free = [name for name in rows.columns if name not in _named(options) and not is_derived(name)]
    free = [name for name in free if len(rows.columns[name].values)]
    if options.annotators is not None:
        return None if set(options.annotators) & set(free) else _by_names(free, options.annotators)
    if first_named("annotator", rows) is not None:
        return None
    return _first(free, _is_annotator) or _by_answers(rows, free)


def find_single_question(rows: Rows, options: Layout) -> Grid | None:
    """Columns of one question, each with an annotator in its name: rater1_score, rater2_score."""
    if options.columns_named.keys() - {"item", "text", "gold"} or options.format is not None:
        return None
    filled = [name for name, column in rows.columns.items() if len(column.values)]
    free = [name for name in filled if name not in _named(options) and not is_derived(name)]
    return _first(free, lambda annotator, _: bool(_ANNOTATOR.fullmatch(annotator)), fewest=1)


def _by_names(names: Iterable[str], annotators: Iterable[str]) -> Grid | None:
    """The columns whose names begin or end with one of these annotators, after a separator."""
    grids: tuple[Grid, Grid] = ({}, {})
    for name, annotator in itertools.product(names, annotators):
        ends = name.removesuffix(annotator), name.removeprefix(annotator)
        for grid, rest, question in (
            (grids[0], ends[0], ends[0].rstrip(SEPARATORS)),
            (grids[1], ends[1], ends[1].lstrip(SEPARATORS)),
        ):
            if question and question != rest and rest != name:
                grid.setdefault(question, {})[annotator] = name
    best = max(grids, key=lambda grid: sum(map(len, grid.values())))
    return best or None


def _first(
    names: Iterable[str], is_annotator: Callable[[str, str], bool], fewest: int = 2
) -> Grid | None:
    """The first way to part the names of columns that gives a grid."""
    for questions_first, at_end in itertools.product((True, False), repeat=2):
        grid = _grid(names, questions_first, at_end, is_annotator, fewest)
        if grid is not None:
            return grid
    return None


def _by_answers(rows: Rows, names: Iterable[str]) -> Grid | None:
    """The first grid with an answer word among its questions, and annotators who agree on them."""
    for grid in _possible_grids(rows, names):
        columns = [[rows.columns[name] for name in of.values()] for of in grid.values()]
        agreement = [agreement_beyond_chance(of_question) for of_question in columns]
        words = any(plain(question) in NAMES["answer"] for question in grid)
        words = words or all(_SHORT.fullmatch(name) for of in grid.values() for name in of)
        if words and min(agreement) > 0 and max(agreement) > AGREEMENT:
            return grid
    return None


def possible_annotators(rows: Rows, options: Layout) -> tuple[str, ...]:
    """The second parts of the names of columns, if they may be annotators; () if there are none."""
    free = [name for name in rows.columns if name not in _named(options) and not is_derived(name)]
    grid = next(iter(_possible_grids(rows, free)), {})
    return tuple(dict.fromkeys(name for columns in grid.values() for name in columns))


def _possible_grids(rows: Rows, names: Iterable[str]) -> Iterator[Grid]:
    few = [name for name in names if _has_few_values(rows.columns[name])]
    for questions_first, at_end in itertools.product((True, False), repeat=2):
        grid = _grid(few, questions_first, at_end, _may_be_annotator)
        if grid is not None and min(map(len, grid.values())) >= FEWEST:
            yield grid


def _may_be_annotator(annotator: str, question: str) -> bool:
    return plain(annotator) not in NAMES["answer"] and not _NUMBERED.fullmatch(annotator)


def _has_few_values(column: Column) -> bool:
    n_filled = int((column.codes >= 0).sum())
    return not column.is_bytes and 0 < len(column.values) <= max(FEW_VALUES, n_filled // 10)


def _named(options: Layout) -> set[str]:
    single = {name for name in (options.item, options.gold) if name is not None}
    return single | set(options.text or ())


def _grid(
    names: Iterable[str],
    questions_first: bool,
    at_end: bool,
    is_annotator: Callable[[str, str], bool],
    fewest: int = 2,
) -> Grid | None:
    """Columns whose names have two parts, if one of both is an annotator.

    Args:
        is_annotator: of the part that may be the annotator, and the other.
        at_end: whether names are parted at the last separator, otherwise at the first.
        fewest: questions.
    """
    grid: Grid = {}
    for name in names:
        parts = _parted(name, at_end)
        if parts is None:
            continue
        question, annotator = parts if questions_first else parts[::-1]
        if is_annotator(annotator, question):
            grid.setdefault(question, {})[annotator] = name
    annotators = {annotator for columns in grid.values() for annotator in columns}
    grid = {q: columns for q, columns in grid.items() if len(columns) >= COMPLETE * len(annotators)}
    if len(grid) < fewest or len(annotators) < 2 or any(_ANNOTATOR.fullmatch(q) for q in grid):
        return None
    return grid


def _is_annotator(annotator: str, question: str) -> bool:
    """Whether a part is an annotator by its name; a number may be one: label_1, but not q_1."""
    numbered = bool(_NUMBER.fullmatch(annotator)) and plain(question) in NAMES["answer"]
    return numbered or bool(_ANNOTATOR.fullmatch(annotator))


def _parted(name: str, at_end: bool) -> tuple[str, str] | None:
    separators = list(_SEPARATORS.finditer(name))
    if not separators:
        return None
    where = separators[-1] if at_end else separators[0]
    first, second = name[: where.start()], name[where.end() :]
    return (first, second) if first and second else None
