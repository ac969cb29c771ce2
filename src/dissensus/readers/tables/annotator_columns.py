"""Annotator columns: tables with a column for each annotator, or for each question and annotator.

Columns of different questions ("toxic", "insult"; "V", "A", "D") look the same as columns of
different annotators. So columns are read as annotators only if their names say so, or if something
else in the table does: a majority, or the number of answers in each row.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dissensus.errors import DataError, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answers import MISSING
from dissensus.readers.tables.column_names import (
    MEDIA,
    NAMES,
    PAIR,
    answer_named,
    are_persons,
    candidates,
    first_named,
    is_about_answers,
    is_annotator_part,
    is_called_annotator,
    is_derived,
    is_one_annotator,
    is_slot,
    plain,
)
from dissensus.readers.tables.dependence import effect
from dissensus.readers.tables.rows import Column, Rows, cells_of, numbered
from dissensus.readers.tables.structure import FEW_VALUES, MOST, SURE
from dissensus.scales import as_numbers

Grid = dict[str, dict[str, str]]  # question -> annotator -> column
SHARE = 0.1  # of the filled cells: so many distinct answers are values of a scale, too
SAME_RATINGS = 0.1  # of the variance of ratings: so much is between items
COMPLETE = 0.8  # of the pairs of question and annotator: so many have a column
FEWEST = 3  # annotators whose names say little
MANY = 6  # so many columns numbered from 0 or 1 are annotators, even without a blank cell
MOST_COMPARED = 200  # columns, or different sets of values, that are compared with one another
MAJORITY, OTHERS = 0.99, 0.97  # of the rows with a majority: how often its column is it
CONTENTS = ("item", "text", *MEDIA)
_WAYS = tuple(itertools.product((True, False), repeat=2))  # question first, parted at the end
_SEPARATORS = re.compile(r"[\s_.:/|-]+")
_NUMBERED = re.compile(r"(?i)(q|question|item|task|trial|stimulus|image|text|t|v)?[\W_]*\d+")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(
    r"(?i)(item|task|doc|document|stimulus|stim|image|img|clip|trial|example|sample)[\W_]*\d+|"
    r".+\.(jpe?g|png|gif|wav|mp3|mp4|txt|flac)"
)


# ---- columns that are stated ----


def columns_of_annotators(rows: Rows, layout: Layout) -> dict[str, dict[str, str]]:
    """The columns of a table that is stated to be wide: annotator, and question if it has one."""
    roles = ("annotator", "answer", "question")
    others = [f"{role}=" for role in roles if getattr(layout, role) is not None]
    if others:
        raise DataError(
            f"{rows.path}: in a wide table the columns are the annotators, their cells the "
            f"answers; leave out {', '.join(others)}"
        )
    if layout.annotators == ():
        raise DataError(
            f"{rows.path}: no annotator is named; leave annotators= out or name columns"
        )
    annotators = layout.annotators or _of_wide_table(rows, layout)
    if not set(annotators) & set(rows.columns):
        grid = _ending_in(_free(rows, layout), annotators)
        if grid:
            return {
                column: {"question": question, "annotator": annotator}
                for question, columns in grid.items()
                for annotator, column in columns.items()
            }
    rows.check(annotators)
    _check_kinds(rows, annotators, layout)
    return {name: {"annotator": name} for name in annotators}


def _of_wide_table(rows: Rows, layout: Layout) -> tuple[str, ...]:
    """The annotators of a table that is known to be wide, by their names or by their answers."""
    free = _without_role(rows, _free(rows, layout))
    annotators = _surely_annotators(rows, free)
    if len(annotators) > 1:
        _check_slots(rows, annotators)
    else:
        annotators = [name for name in free if _shares(rows, name, free)]
    if len(annotators) < 2:
        raise DataError(
            f"{rows.path}: no columns of annotators recognised in {listed(rows.columns, 5)}; "
            "name them (annotators=, --annotator-columns)"
        )
    return tuple(annotators)


def _ending_in(names: list[str], annotators: Iterable[str]) -> Grid:
    """The columns whose names begin or end with one of these annotators, after a separator."""
    grids: tuple[Grid, Grid] = ({}, {})
    for name, annotator in itertools.product(names, annotators):
        rests = (name.removesuffix(annotator), name.removeprefix(annotator))
        for grid, rest in zip(grids, rests, strict=True):
            question = rest.strip(" _.:/|-")
            if question and question != rest != name:
                grid.setdefault(question, {})[annotator] = name
    return max(grids, key=lambda grid: sum(map(len, grid.values())))


def _check_kinds(rows: Rows, annotators: Iterable[str], layout: Layout) -> None:
    """Refuse annotators of whom some answer in numbers only and some in words only."""
    first: dict[str, str] = {}
    for name in annotators:
        numeric = {as_numbers([value]) is not None for value in _values(rows, name)}
        kind = "sets" if name in rows.sets else "numbers" if True in numeric else "words"
        if name in rows.sets or len(numeric) == 1:  # "1", "2", "3+" go with either
            first.setdefault(kind, name)
    kinds = [kind for kind in ("numbers", "words", "sets") if kind in first]
    if len(kinds) < 2 or (layout.scale is not None and "sets" not in kinds):
        return
    examples = {kind: str(rows.columns[first[kind]].values[0])[:40] for kind in kinds}
    clash = [f"{first[kind]!r} answers in {kind} ({examples[kind]!r})" for kind in kinds]
    raise DataError(
        f"{rows.path}: {', '.join(clash)}; name the columns that are annotators (annotators=, "
        "--annotator-columns), or declare a scale that contains both (scale=, --scale)"
    )


# ---- columns and their values ----


def _free(rows: Rows, layout: Layout) -> list[str]:
    """The columns that may belong to an annotator."""
    named = {layout.item, layout.gold, *(layout.text or ())}
    return [name for name in rows.columns if name not in named and not is_derived(name)]


def _without_role(rows: Rows, names: list[str]) -> list[str]:
    """The columns that are not named as something else."""
    roles = (*CONTENTS, "gold", "seconds", "count", "split")
    known = {name for role in roles for name in candidates(role, rows)}
    known |= {name for name in names if plain(name) in PAIR or "unnamed" in plain(name)}
    return [name for name in names if name not in known and not rows.columns[name].is_bytes]


def _values(rows: Rows, name: str) -> set[str]:
    """The values of a column, without words for a missing value."""
    return {value for value in rows.columns[name].words if value.casefold() not in MISSING}


def _shares(rows: Rows, name: str, others: Iterable[str]) -> bool:
    """Whether a value of this column occurs in other columns too."""
    own = rows.columns[name].words - MISSING
    return any(not own.isdisjoint(rows.columns[other].words) for other in others if other != name)


def _is_scale(rows: Rows, names: list[str]) -> bool:
    """Whether columns have few values, or few for so many cells, most of them in common."""
    n_columns = Counter(value for name in names for value in _values(rows, name))
    if len(n_columns) <= FEW_VALUES:
        return True
    n_filled = 0
    for column in (rows.columns[name] for name in names):
        shared = np.array([n_columns[v.strip()] > 1 for v in column.values.to_pylist()])
        filled = column.codes[column.codes >= 0]
        n_filled += len(filled)
        if len(filled) and shared[filled].mean() < MOST:
            return False
    return len(n_columns) <= SHARE * n_filled


def _rate_the_same(rows: Rows, names: list[str]) -> bool:
    """Whether columns contain many numbers, which agree within rows."""
    columns = [rows.columns[name] for name in names]
    if any(column.is_bytes or column.numbers() is None for column in columns):
        return False
    each = numbered(rows.n_rows)
    by_row = effect(cells_of(columns), Column(each.values, np.repeat(each.codes, len(columns))))
    return by_row.share > SAME_RATINGS and by_row.z > SURE


# ---- annotators by their names ----


def names_annotators(rows: Rows, layout: Layout) -> bool:
    """Whether columns are annotators by their names, or one column contains their names."""
    sure = _surely_annotators(rows, _free(rows, layout))
    return len(sure) > 1 or first_named("annotator", rows, sure) is not None


def propose_annotators(rows: Rows, layout: Layout) -> Layout | None:
    """A layout whose annotators are columns, by their names; what may be either is refused."""
    if layout.format is not None or layout.states_answers:
        return None
    free = _free(rows, layout)
    sure = _surely_annotators(rows, free)
    annotator = first_named("annotator", rows, sure)
    if annotator is not None and _shares(rows, annotator, sure):
        sure.append(annotator)  # a column "expert" with answers, next to those of the crowd
        annotator = first_named("annotator", rows, sure)
    if annotator is not None:
        return None
    answer = answer_named(rows, sure)
    if len(sure) < 2:
        likely = None if answer is not None else _likely(rows, free)
        return None if likely is None else Layout(annotators=likely)
    if answer is not None and not rows.columns[answer].is_text:  # such as the text of a model
        if not _shares(rows, answer, sure):
            raise DataError(
                f"{rows.path}: {listed(sure)} look like annotators and {answer!r} like answers; "
                'use format="wide" if they answered (--format wide), format="long" if not '
                "(--format long)"
            )
    _check_slots(rows, sure)
    return Layout(annotators=tuple(name for name in rows.columns if name in sure))


def _surely_annotators(rows: Rows, free: list[str]) -> list[str]:
    sure = [name for name in free if is_one_annotator(name, likely=False)]
    if len(sure) > 1:  # and those that are called like them: Annot1, Annot-Peter
        values = set().union(*(_values(rows, name) for name in sure))
        called = {name for name in free if is_called_annotator(name) and _values(rows, name)}
        called -= {name for name in called if plain(_SEPARATORS.split(name)[-1]) in NAMES["answer"]}
        sure = [n for n in free if n in sure or (n in called and _values(rows, n) <= values)]
    return sure


def _check_slots(rows: Rows, sure: list[str]) -> None:
    """Refuse columns in pairs: the name of an annotator (annotator_1) and the answer (label_1)."""
    slots = [name for name in rows.columns if is_slot(name)]
    others = [name for name in sure if name not in slots]
    if len(slots) > 1 and len(others) > 1:
        raise DataError(
            f"{rows.path}: {listed(others)} and {listed(slots)}: it is not clear which columns "
            "contain answers; name them (annotators=, --annotator-columns), or give every answer a "
            "row of its own"
        )


def _likely(rows: Rows, free: list[str]) -> tuple[str, ...] | None:
    """Columns that may be annotators by their names, and have the same few answers."""
    likely = [name for name in free if is_one_annotator(name)]
    alike = all(_shares(rows, name, likely) for name in likely if _values(rows, name))
    if len(likely) < 2 or not alike:
        return None
    if not _is_scale(rows, likely) and not _rate_the_same(rows, likely):
        return None
    gaps = sum(rows.columns[name].first_blank is not None for name in likely)
    numbers = [str(number) for number in range(len(likely) + 1)]
    if list(rows.columns) in (numbers[:-1], numbers[1:]) and gaps < 2 and len(likely) < MANY:
        return None  # "0,1,2" may be the header of a long table without column names
    return tuple(likely)


# ---- a column for each question and annotator ----


def propose_grid(rows: Rows, layout: Layout, fewest: int = 2) -> Layout | None:
    """A layout of columns such as `label_ann1`, `rating_ann1`, `label_ann2`, ...

    Args:
        fewest: questions; with one, its annotators have to be called so, as in rater1_score.
    """
    if layout.format is not None or layout.states_answers:
        return None
    named = {layout.item, layout.gold, *(layout.text or ())}
    free = [n for n, column in rows.columns.items() if len(column.values) and n not in named]
    if fewest == 1:
        free = [name for name in free if not is_derived(name)]
        grid = _grid(free, lambda part, _: is_annotator_part(part), fewest)
    elif first_named("annotator", rows) is not None:
        return None
    else:
        grid = _grid(free, _is_annotator, fewest) or _grid(free, _has_initial, fewest, FEWEST)
    about = [q for q in grid or () if is_about_answers(q) or is_derived(q)]
    grid = {question: of for question, of in (grid or {}).items() if question not in about}
    if not grid:
        return None
    patterns = dict.fromkeys(
        name.removesuffix(annotator) + "{annotator}"
        if name.endswith(annotator)
        else "{annotator}" + name.removeprefix(annotator)
        for columns in grid.values()
        for annotator, name in columns.items()
    )
    annotators = dict.fromkeys(name for columns in grid.values() for name in columns)
    return Layout(annotators=tuple(annotators), answer=tuple(patterns))


def possible_annotators(rows: Rows, layout: Layout) -> tuple[str, ...]:
    """The second parts of the names of columns, if they may be annotators; () if there are none."""

    def has_few_values(column: Column) -> bool:
        n_filled = int((column.codes >= 0).sum())
        return not column.is_bytes and 0 < len(column.values) <= max(FEW_VALUES, n_filled // 10)

    def may_be(part: str, _: str) -> bool:
        return plain(part) not in NAMES["answer"] and not _NUMBERED.fullmatch(part)

    few = [name for name in _free(rows, layout) if has_few_values(rows.columns[name])]
    grid = _grid(few, may_be, 2, FEWEST) or {}
    return tuple(dict.fromkeys(name for columns in grid.values() for name in columns))


def _is_annotator(part: str, question: str) -> bool:
    """Whether a part is an annotator by its name; a number may be one: label_1, but not q_1."""
    is_number = re.fullmatch(r"\d+|[A-Z]", part) and plain(question) in NAMES["answer"]
    return bool(is_number) or is_annotator_part(part) or are_persons([part])


def _has_initial(part: str, _: str) -> bool:
    """Whether a part may be an annotator by its initial: r1, a2, j3, u4."""
    return bool(re.fullmatch(r"(?i)[arju]\d+", part))


def _grid(
    names: list[str],
    is_annotator: Callable[[str, str], bool],
    fewest: int,
    fewest_annotators: int = 2,
) -> Grid | None:
    """Columns whose names have two parts, if one of both is an annotator.

    Args:
        is_annotator: of the part that may be the annotator, and the other.
        fewest: questions.
    """
    for questions_first, at_end in _WAYS:
        every: Grid = {}
        for name in names:
            separators = list(_SEPARATORS.finditer(name))
            if separators:
                where = separators[-1 if at_end else 0]
                parts = name[: where.start()], name[where.end() :]
                question, annotator = parts if questions_first else parts[::-1]
                if question and annotator:
                    every.setdefault(question, {})[annotator] = name
        sure = {q: {a: n for a, n in of.items() if is_annotator(a, q)} for q, of in every.items()}
        annotators = {annotator for of in sure.values() for annotator in of}
        grid = {q: of for q, of in sure.items() if len(of) >= COMPLETE * len(annotators) > 0}
        if are_persons(list(annotators)) and grid:  # and who is called otherwise
            shared = set.intersection(*(set(every[question]) for question in grid))
            annotators |= {one for one in shared if not is_derived(one) and _has_no_role(one)}
            grid = {q: {a: n for a, n in every[q].items() if a in annotators} for q in grid}
        enough = len(grid) >= fewest and len(annotators) >= fewest_annotators
        if enough and not any(map(is_annotator_part, grid)):
            return grid
    return None


def _has_no_role(part: str) -> bool:
    return not any(plain(part) in names for names in NAMES.values())


# ---- columns with the same values, which may be annotators or questions ----


@dataclass(frozen=True)
class AlikeColumns:
    """Columns with the same values, and what shows that they are annotators."""

    names: tuple[str, ...] = ()
    why: str = ""  # empty if nothing does
    majority: str | None = None  # the column that is always their majority


def columns_alike(rows: Rows, layout: Layout) -> AlikeColumns:
    """The columns with the same values.

    They are annotators if they are called like persons, if another column is always their
    majority, or if every row has the same number of answers, by a part of the columns.
    """
    free = [name for name in _without_role(rows, _free(rows, layout)) if _values(rows, name)]
    group = _largest_group(rows, free)
    if len(group) < 2 or not _is_scale(rows, group):
        return AlikeColumns()
    if are_persons(group):  # also who gave some of the answers only
        values = set().union(*(_values(rows, name) for name in group))
        own = [name for name in free if _values(rows, name) <= values]
        persons = [name for name in own if name in group or are_persons([*group, name])]
        return AlikeColumns(tuple(persons), "the same values, called like a person")
    majority = _majority_of(rows, group)
    if majority is not None:
        others = tuple(name for name in group if name != majority)
        return AlikeColumns(others, f"the same values, {majority!r} is the majority", majority)
    counts = np.bincount(np.sum([rows.columns[name].codes >= 0 for name in group], axis=0))
    usual = int(counts.argmax())
    part = 2 <= usual < len(group) and counts[usual] >= MOST * rows.n_rows >= MOST * MANY
    why = f"the same values, {usual} answers in each row" if part else ""
    return AlikeColumns(tuple(group), why)


def _largest_group(rows: Rows, names: list[str]) -> list[str]:
    """The largest group of columns that have most of their values in common with one of them."""
    with_values: dict[frozenset[str], list[str]] = {}
    for name in names:
        with_values.setdefault(frozenset(_values(rows, name)), []).append(name)
    usual = sorted(with_values, key=lambda values: -len(with_values[values]))[:MOST_COMPARED]
    groups = [
        [n for other in usual if 2 * len(own & other) > max(len(own), len(other))
         for n in with_values[other]]
        for own in usual
    ]  # fmt: skip
    group = max(groups, key=len, default=[])
    patterns = {_DIGITS.sub("#", name) for name in group}  # img003.jpg: all that are called so
    patterns = patterns if len(patterns) == 1 < len(group) else set()
    return [name for name in names if name in group or _DIGITS.sub("#", name) in patterns]


def _majority_of(rows: Rows, group: list[str]) -> str | None:
    """The column that is the majority of the others in every row that has one."""
    if not 4 <= len(group) <= MOST_COMPARED or rows.n_rows < FEW_VALUES:
        return None
    codes = cells_of([rows.columns[name] for name in group]).codes.reshape(rows.n_rows, -1)
    counts = np.stack([(codes == code).sum(axis=1) for code in range(codes.max() + 1)])
    agreeing = []
    for own in codes.T:
        others = counts - (own == np.arange(len(counts))[:, None])  # (n_values, n_rows)
        clear = others.max(axis=0) * 2 > others.sum(axis=0)
        same = (others.argmax(axis=0) == own)[clear]
        agreeing.append(float(same.mean()) if len(same) else 0.0)
    *_, second, best = np.argsort(agreeing)
    sure = agreeing[best] >= MAJORITY and agreeing[second] < OTHERS
    return group[best] if sure else None


def propose_people(rows: Rows, columns: tuple[str, ...]) -> Layout | None:
    """A layout with a row for each annotator, if a column says so or others are called like items.

    Args:
        columns: those that have values in common.
    """
    if any(candidates(role, rows, columns) for role in CONTENTS):
        return None

    def names_rows(column: Column) -> bool:
        return column.is_unique and len(column) > 1

    named = first_named("annotator", rows, columns, names_rows)
    first = next(iter(rows.columns))
    if named is None and first not in columns and all(map(_ITEM.fullmatch, columns)):
        named = first if names_rows(rows.columns[first]) else None
    return None if named is None else Layout(item="{column}", annotator=named, answer=columns)
