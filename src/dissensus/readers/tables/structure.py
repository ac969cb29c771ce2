"""Structure: which columns name the item and the annotator, and what every other column is.

Hardly any annotator answers an item twice: pairs of both are unique, where pairs put together by
chance would repeat. If a name says which column is one of both, the only column that goes with it
so is the other; if none does, nothing is read, and pairs are proposed.

A function of the item is its content, a label or an attribute; a function of the annotator is an
attribute; what numbers or dates the rows belongs to the assignment; the rest are answers, or free
text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from dissensus.errors import counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answer_cells import separator_name, separator_of, split_cell, ticks_of
from dissensus.readers.tables.column_names import is_about_answers, words_of
from dissensus.readers.tables.dependence import (
    ENOUGH,
    FEW,
    TOLERATED,
    exceptions,
    is_function,
    is_key,
    n_distinct_pairs,
    n_repeated,
    owner,
)
from dissensus.readers.tables.rows import (
    FEATURES,
    FEW_VALUES,
    LOOKED_AT,
    MISSING,
    Column,
    Rows,
    combined,
)

MOST = 0.9  # of the cells, rows or values that a rule is about
BY_NAME = "by its name"

# ---- keys ----
MOST_COLUMNS = 200  # above this, columns have to be named
EXPECTED = 5.0  # repeated pairs by chance, where neither column is named
EXPECTED_OF_NAMED = 2.0  # where one of both is known
ROWS_EACH = 1.15  # for each item or annotator, on average
DIVIDED = 1.5  # values for each value of a column that is a function
ALIKE = 0.1  # of their values: how much columns that divide the rows alike may differ
FEWEST_PARTS = 3  # values of a column that may number sessions, not parts of the item
MOST_QUESTIONS = 12  # values of a column that may name questions
MOST_COMBINED = 8  # columns that are tried as parts of an item
MOST_PROPOSED = 3  # pairs of columns

# ---- explanations ----
MOSTLY_BLANK = 0.95  # of the rows
LONG_ANSWER = 60  # letters, on average: longer answers are free text
USES = 3  # rows for each value of an answer in words, on average
USES_OF_FEW = 2  # the same, for at most FEW_VALUES
LONG_TAIL = 5  # a largest number so many times the median is a duration, not a rating
SCALE_ENDS = (1, 5, 7, 9, 10, 100)
LARGEST_RATING = 100
EPOCH = 1e8  # larger numbers are dates or ids
MOST_SPLIT = 2000  # values of a column that are split into sets
COUNTED = {"n", "num", "nb", "number", "count"}  # begin the names of numbers that are no answers
_DATE = re.compile(r"\W*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2})")

Pair = tuple[str, str]  # columns that may be item and annotator
ASSIGNMENT, EITHER = "about the assignment", "answer, or about the assignment"
TEXT, UNCLEAR = "free text", "unclear"


class Explanation(NamedTuple):
    """What a column is taken for, and why."""

    kind: str
    why: str


@dataclass(frozen=True)
class Key:
    """The columns of the item and of the annotator, and what the other columns are."""

    item: tuple[str, ...]  # together they name it
    annotator: str
    explained: dict[str, Explanation]
    why_item: str = BY_NAME
    why_unclear: str = ""  # why nothing is read
    ways: Mapping[str, Layout] = field(default_factory=dict)  # when each layout is right

    def of_kind(self, *kinds: str) -> list[str]:
        """The other columns that are taken for one of these."""
        return [name for name, one in self.explained.items() if one.kind in kinds]

    def layout(self, answers: Sequence[str]) -> Layout:
        """The layout that names these columns and those of the answers."""
        return Layout(item=self.item, annotator=self.annotator, answer=tuple(answers))


def find_key(
    rows: Rows, item: str | None, annotator: str | None, taken: Iterable[str], exact: bool = False
) -> Key | None:
    """The item and the annotator of each row; None if no two columns can be.

    Args:
        item: its column, if it is known; the annotator's likewise.
        taken: columns that are something else.
        exact: whether the item is what is stated, and no further column names it.
    """
    taken = {name for name in (*taken, item, annotator) if name is not None}
    if item is not None and annotator is not None:
        return _named_key(rows, item, annotator, taken, exact)
    if len(rows.columns) > MOST_COLUMNS:
        return None
    free, known = _candidates(rows, taken), item or annotator
    if known is None:
        free = sorted(free, key=lambda name: -len(rows.columns[name].values))
        pairs = _unique_pairs(rows, [*itertools.combinations(free, 2)], EXPECTED)
        return _unclear_key(pairs, "no name says which is which") if pairs else None
    pairs = _unique_pairs(rows, [(name, known) for name in free], EXPECTED_OF_NAMED)
    clear = [name for name, _ in pairs if not _is_numbering(rows, name, known)]
    if item is not None:
        return _anonymous_key(item, clear) if clear else None
    if len(clear) == 1:
        return _explained(rows, clear, known, taken, f"pairs with {known!r} are unique")
    if not pairs and (parts := _parts(rows, (), known, free)):
        return _explained(rows, parts, known, taken, f"together with {known!r} they are unique")
    why = "other columns may be, too" if clear else "one may only number the rows of the other"
    return _unclear_key(pairs, why) if pairs else None


def _anonymous_key(item: str, names: list[str]) -> Key:
    """No key, but the columns that may name the annotators, of which a person chooses one."""
    ways = {
        f"if {name!r} names the annotators": Layout(item=item, annotator=name)
        for name in names[:MOST_PROPOSED]
    }
    ways["if no column names them"] = Layout(item=item)
    return Key((item,), names[0], {}, why_unclear="no name says who answered", ways=ways)


def _unclear_key(pairs: list[Pair], why: str) -> Key:
    """No key, but what pairs of columns may be, of which a person chooses one."""
    both = pairs if len(pairs) > 1 else [*pairs, pairs[0][::-1]]
    ways = {
        f"if {item!r} is the item and {annotator!r} the annotator": Layout(
            item=item, annotator=annotator
        )
        for item, annotator in both[:MOST_PROPOSED]
    }
    return Key(pairs[0][:1], pairs[0][1], {}, why_unclear=why, ways=ways)


def _named_key(rows: Rows, item: str, annotator: str, taken: Iterable[str], exact: bool) -> Key:
    """The key of two known columns, and of those that name the item together with the first, as an
    annotator has it repeatedly: a sentence in its document, two models that are compared."""
    n_pairs = n_distinct_pairs(rows.columns[item], rows.columns[annotator])
    parts: tuple[str, ...] = ()
    if not exact and n_pairs < (1 - 2 * TOLERATED) * rows.n_rows:
        parts = _parts(rows, (item,), annotator, _candidates(rows, taken))
    if not parts:
        return _explained(rows, [item], annotator, taken)
    why = f"pairs with {annotator!r} repeat, with {listed(parts)} they do not"
    key = _explained(rows, [item, *parts], annotator, taken, why)
    if len(parts) > 1 or not _may_be_questions(rows, item, parts[0]):
        return key
    both = Layout(item=key.item, annotator=annotator)
    one = both.with_changes(item=item, question=parts[0])
    ways = {f"if {parts[0]!r} names the question": one, "if both name the item together": both}
    return replace(key, why_unclear=f"pairs repeat for each {parts[0]!r}", ways=ways)


def _explained(
    rows: Rows,
    items: Sequence[str],
    annotator: str,
    taken: Iterable[str],
    why_item: str = BY_NAME,
) -> Key:
    """The key of these columns, and what the others are."""
    ordered = [name for name in rows.columns if name in items]
    columns = [rows.columns[name] for name in ordered]
    names = combined(columns) if len(columns) > 1 else columns[0]
    others = [name for name in rows.columns if name not in {*items, annotator, *taken}]
    annotators = rows.columns[annotator]
    explained = {name: _explanation(rows, name, names, annotators) for name in others}
    return Key(tuple(ordered), annotator, explained, why_item)


# ---- columns that can name something ----


def _candidates(rows: Rows, taken: Iterable[str]) -> list[str]:
    """Columns that can name items or annotators; of those that divide the rows alike the first
    that is no text and no fraction."""
    every: list[list[str]] = []
    for name, column in rows.columns.items():
        n_values = len(column.values)
        if name in (FEATURES, *taken, *rows.sets) or column.is_bytes or not column.is_filled:
            continue
        if n_values < 2 or rows.n_rows < ROWS_EACH * n_values:
            continue
        for alike in every:
            if np.array_equal(column.codes, rows.columns[alike[0]].codes):
                alike.append(name)
                break
        else:
            every.append([name])
    return [min(alike, key=lambda name: is_measured(rows.columns[name])) for alike in every]


def is_measured(column: Column) -> bool:
    """Whether a column contains texts, bytes or fractions rather than names."""
    numbers = column.numbers()
    fractions = numbers is not None and bool((numbers % 1 != 0).any())
    return column.is_bytes or column.is_text or fractions


# ---- pairs that are unique ----


def _unique_pairs(rows: Rows, every: list[Pair], least: float) -> list[Pair]:
    """The pairs of columns that hardly repeat, without those in which a column is a function of
    one that would do as well: a text that two items share, an age."""
    n_values = {name: len(column.values) for name, column in rows.columns.items()}
    fewest = (1 - 2 * TOLERATED) * rows.n_rows
    every = [(a, b) for a, b in every if n_values[a] * n_values[b] >= fewest]
    pairs = [(a, b) for a, b in every if is_key(rows.columns[a], rows.columns[b], least)]

    def is_coarse(name: str, partner: str) -> bool:
        column, of = rows.columns[name], rows.columns[partner]
        for other in {one for pair in pairs if partner in pair for one in pair} - {name, partner}:
            fine = rows.columns[other]
            if n_values[other] > n_values[name] and is_function(column, fine):
                more = n_repeated(of, column) > n_repeated(of, fine)
                if more or n_values[other] < DIVIDED * n_values[name]:
                    return True
        return False  # a finer one may only number its rows, as sessions do

    return [pair for pair in pairs if not (is_coarse(*pair) or is_coarse(*pair[::-1]))]


def _is_numbering(rows: Rows, name: str, other: str) -> bool:
    """Whether a column may only number the rows of each cell of another one, from 0 or from 1: no
    further column goes with it."""
    column, groups, numbers = rows.columns[name], rows.columns[other], rows.columns[name].numbers()
    if numbers is None or numbers.min() not in (0, 1) or (numbers % 1 != 0).any():
        return False
    largest = np.zeros(len(groups.values))
    np.maximum.at(largest, groups.codes, numbers - numbers.min() + 1)
    further = (c for n, c in rows.columns.items() if n not in (name, other) and not c.is_bytes)
    return bool((largest <= np.bincount(groups.codes)).all()) and not any(
        is_function(c, column, ENOUGH) and not is_function(c, groups) for c in further
    )


# ---- items of several columns ----


def _parts(
    rows: Rows, known: tuple[str, ...], annotator: str, free: Sequence[str]
) -> tuple[str, ...]:
    """The fewest columns that name an item together, with those that are known, so that hardly any
    annotator has one repeatedly; none if others do as well."""
    free = [name for name in free if not is_about_answers(name)][:MOST_COMBINED]
    for n_parts in range(2 - len(known), 5 - len(known)):
        fitting = []
        for names in itertools.combinations(free, n_parts):
            columns = [rows.columns[name] for name in (*known, *names)]
            both = combined(columns)
            related = any(is_function(a, b) for a, b in itertools.permutations(columns, 2))
            if related or rows.n_rows < ROWS_EACH * len(both.values):
                continue
            if is_key(both, rows.columns[annotator], EXPECTED_OF_NAMED):
                fitting.append(names)
        if fitting:
            return fitting[0] if len(fitting) == 1 else ()
    return ()


def _may_be_questions(rows: Rows, item: str, part: str) -> bool:
    """Whether a column has the same few words, or very few numbers, for nearly every item."""
    column, items = rows.columns[part], rows.columns[item]
    n_values = len(column.values)
    numbered = any(re.search(r"\d", value) for value in column.values.slice(0, 20).to_pylist())
    if n_values > (FEWEST_PARTS if numbered else MOST_QUESTIONS):
        return False
    return n_distinct_pairs(items, column) >= MOST * n_values * len(items.values)


# ---- what every other column is ----


def _explanation(rows: Rows, name: str, items: Column, annotators: Column) -> Explanation:
    """What a column is taken for."""
    column = rows.columns[name]
    n_values, n_filled = len(column.values), int((column.codes >= 0).sum())
    if not n_filled:
        return Explanation("blank", "no cell is filled in")
    if column.is_bytes or (n_values == 1 and n_filled == rows.n_rows):
        why = "bytes" if column.is_bytes else "the same in every row"
        return Explanation("attribute of the item", why)
    kind = owner(column, items, annotators)
    if kind is not None:
        n_wrong, _ = exceptions(column, items if kind == "item" else annotators)
        except_in = f", except in {counted(n_wrong, 'row')}" if n_wrong else ""
        if kind == "item" and column.is_text and 2 * n_values >= len(items.values):
            return Explanation("content", f"a text for each item{except_in}")
        return Explanation(f"attribute of the {kind}", f"the same for each {kind}{except_in}")
    explanation = _of_neither(rows, name, {"item": items, "annotator": annotators}, n_filled)
    if explanation.kind in ("answer", EITHER) and is_about_answers(name):
        return Explanation(ASSIGNMENT, "about the answers, by its name")
    if (
        explanation.kind == "answer"
        and {*words_of(name)[:1]} & COUNTED
        and column.numbers() is not None
    ):
        return Explanation(EITHER, "a number of something, by its name")
    return explanation


def _of_neither(rows: Rows, name: str, groups: dict[str, Column], n_filled: int) -> Explanation:
    """What a column is that neither the item nor the annotator explains."""
    column = rows.columns[name]
    n_values, numbers = len(column.values), column.numbers()
    values = column.values.slice(0, LOOKED_AT).to_pylist()
    if name in rows.sets:
        return _answer(n_values, "different set")
    if n_values == 1 and ticks_of(column) is None:
        return Explanation(TEXT, "a single value, in some rows")
    if np.mean([bool(_DATE.match(v)) for v in values if v.casefold() not in MISSING]) > MOST:
        return Explanation(ASSIGNMENT, "dates or times")
    if n_filled < (1 - MOSTLY_BLANK) * rows.n_rows:
        return Explanation(TEXT if column.is_text else UNCLEAR, "nearly always blank")
    texts = column.values.slice(0, MOST_SPLIT).to_pylist()
    if (separator := separator_of(texts)) is not None:
        n_members = len({value for text in texts for value in split_cell(text, separator)})
        if n_filled >= USES * n_members:  # however rare a set is
            sets = f"sets of {counted(n_members, 'value')}, separated by"
            why = f"depends on neither: {sets} {separator_name(separator)}"
            return Explanation("answer", why)
    if numbers is not None:
        by_values = _of_numbers(numbers[column.codes >= 0], n_values)
    elif n_values == rows.n_rows and not column.is_text:
        by_values = Explanation(ASSIGNMENT, "another value in every row")
    elif n_filled < (USES_OF_FEW if n_values <= FEW_VALUES else USES) * n_values:
        by_values = Explanation(TEXT, f"{n_values:,} different in {n_filled:,} rows")
    elif column.mean_length > LONG_ANSWER:
        by_values = Explanation(TEXT, "long texts")
    else:
        by_values = _answer(n_values, "different value")
    if by_values.kind in ("answer", EITHER):
        numberings = (_numbering(rows, column, kind, of) for kind, of in groups.items())
        return next((one for one in numberings if one is not None), by_values)
    return by_values


def _answer(n_values: int, noun: str) -> Explanation:
    return Explanation("answer", f"depends on neither: {counted(n_values, noun)}")


def _numbering(rows: Rows, column: Column, kind: str, groups: Column) -> Explanation | None:
    """A column that may number or divide the rows of each item or annotator; answers may never be
    the same twice by accident."""
    n_values = len(column.values)
    if column.is_filled and n_values < rows.n_rows and is_key(groups, column, FEW):
        return Explanation(EITHER, f"never the same twice for one {kind}")
    if n_values > len(groups.values) and is_function(groups, column, FEW):
        return Explanation(EITHER, f"each value belongs to one {kind}")
    return None


def _of_numbers(numbers: np.ndarray, n_values: int) -> Explanation:
    """What a column of numbers is by its values: whole numbers or shares up to 100 are answers."""
    largest, fractions = float(np.abs(numbers).max()), bool((numbers % 1 != 0).any())
    if np.abs(numbers).min() > EPOCH:
        return Explanation(ASSIGNMENT, "large numbers: dates or ids")
    if n_values > FEW_VALUES and largest > LARGEST_RATING:
        why = f"{n_values:,} different numbers: ratings or measurements?"
        return Explanation(UNCLEAR, why)
    ends = numbers.min() < 0 or numbers.max() in SCALE_ENDS or numbers.max() <= 1
    tail = numbers.max() > LONG_TAIL * float(np.median(numbers))
    if n_values > FEW_VALUES and tail and not ends:
        return Explanation(EITHER, "a few large numbers among small ones: durations?")
    if n_values > MOST * len(numbers) and not (fractions and largest <= 1):
        return Explanation(EITHER, "another number in nearly every row")
    return _answer(n_values, "different number")
