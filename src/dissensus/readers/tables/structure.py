"""Structure: which columns name the item and the annotator, and what every other column is.

Hardly any annotator answers an item twice: pairs of both are unique, where pairs put together by
chance would repeat. If names do not say which columns these are, exactly one pair of columns has
to be such, and one of both has to have a text or to be spelled as names are; else nothing is read,
and the likeliest pairs are proposed.

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
from dissensus.readers.tables.answer_cells import separator_name, separator_of, split_cell
from dissensus.readers.tables.column_names import ANNOTATOR_NAME, ITEM_NAME, is_about_answers
from dissensus.readers.tables.dependence import (
    ENOUGH,
    FEW,
    TOLERATED,
    exceptions,
    is_function,
    is_key,
    n_distinct_pairs,
    n_repeated,
    n_repeated_by_chance,
    owner,
)
from dissensus.readers.tables.rows import (
    FEATURES,
    FEW_VALUES,
    LOOKED_AT,
    MISSING,
    Column,
    Rows,
    cells_of,
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
LEAST_KAPPA = 0.2  # between a label of the items and the answers

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
_DATE = re.compile(r"\W*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2})")

Pair = tuple[str, str]  # columns that may be item and annotator
NO_SIGN = "nothing says clearly which of both is the item"
NUMBERING = "one of them may only number the rows of the other"
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
    why_annotator: str = BY_NAME
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
    free = {_best_name(rows, alike): alike for alike in _candidates(rows, taken)}
    known = item or annotator
    every = [(known, name) for name in free] if known else [*itertools.combinations(free, 2)]
    pairs = _unique_pairs(rows, every, known)
    clear = [pair for pair in pairs if not _is_numbering(rows, pair, known)]
    if len(clear) > 1 and known is None:
        clear = [pair for pair in clear if _have_attributes(rows, *pair)] or clear
    if known is None and len(clear) == 1:
        one, other = (_best_name(rows, free[a], b) for a, b in itertools.permutations(clear[0]))
        items = _sign_of_items(rows, one, other), _sign_of_items(rows, other, one)
        if bool(items[0]) == bool(items[1]):
            return _unclear_key([(one, other), (other, one)], NO_SIGN)
        item, annotator = (one, other) if items[0] else (other, one)
        whys = [f"pairs with {name!r} are unique" for name in (annotator, item)]
        return _explained(rows, [item], annotator, taken, f"{whys[0]}; {max(items)}", whys[1])
    if known is not None and len(clear) == 1:
        why = f"pairs with {known!r} are unique"
        if item is not None:
            return _explained(rows, [item], clear[0][1], taken, why_annotator=why)
        return _explained(rows, [clear[0][1]], known, taken, why)
    if known is not None and not pairs and (parts := _parts(rows, (), known, list(free))):
        return _explained(rows, parts, known, taken, f"together with {known!r} they are unique")
    if item is not None or not pairs:
        return None
    by_size = [sorted(one, key=lambda n: -len(rows.columns[n].values)) for one in clear or pairs]
    names = ", ".join(map(repr, dict.fromkeys(itertools.chain(*by_size))))
    if len(by_size) > 1:
        several = f"several pairs of columns may be both: {names}"
        return _unclear_key([(more, fewer) for more, fewer in by_size], several)
    more, fewer = by_size[0]
    return _unclear_key([(more, fewer), (fewer, more)], NUMBERING)


def _unclear_key(pairs: list[Pair], why: str) -> Key:
    """No key, but what pairs of columns may be, of which a person chooses one."""
    ways = {
        f"if {item!r} is the item and {annotator!r} the annotator": Layout(
            item=item, annotator=annotator
        )
        for item, annotator in pairs[:MOST_PROPOSED]
    }
    return Key(pairs[0][:1], pairs[0][1], {}, why_unclear=why, ways=ways)


def _named_key(rows: Rows, item: str, annotator: str, taken: Iterable[str], exact: bool) -> Key:
    """The key of two known columns, and of those that name the item together with the first, as an
    annotator has it repeatedly: a sentence in its document, two models that are compared."""
    n_pairs = n_distinct_pairs(rows.columns[item], rows.columns[annotator])
    parts: tuple[str, ...] = ()
    if not exact and n_pairs < (1 - 2 * TOLERATED) * rows.n_rows:
        parts = _parts(rows, (item,), annotator, [one[0] for one in _candidates(rows, taken)])
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
    why_annotator: str = BY_NAME,
) -> Key:
    """The key of these columns, and what the others are."""
    ordered = [name for name in rows.columns if name in items]
    columns = [rows.columns[name] for name in ordered]
    names = combined(columns) if len(columns) > 1 else columns[0]
    others = [name for name in rows.columns if name not in {*items, annotator, *taken}]
    annotators = rows.columns[annotator]
    explained = {name: _explanation(rows, name, names, annotators) for name in others}
    return Key(tuple(ordered), annotator, explained, why_item, why_annotator)


# ---- columns that can name something ----


def _candidates(rows: Rows, taken: Iterable[str]) -> list[list[str]]:
    """Columns that can name items or annotators; those that divide the rows alike together."""
    every: list[list[str]] = []
    for name, column in rows.columns.items():
        n_values = len(column.values)
        if name in (FEATURES, *taken, *rows.sets) or column.is_bytes or not column.is_filled:
            continue
        if n_values < 2 or rows.n_rows < ROWS_EACH * n_values:
            continue
        for alike in every:
            if _divide_alike(column, rows.columns[alike[0]]):
                alike.append(name)
                break
        else:
            every.append([name])
    return every


def _divide_alike(one: Column, other: Column) -> bool:
    """Whether two columns are functions of each other."""
    n_one, n_other = len(one.values), len(other.values)
    similar = abs(n_one - n_other) <= 2 + ALIKE * max(n_one, n_other)
    both = similar and is_function(one, other, ENOUGH) and is_function(other, one, ENOUGH)
    return both or np.array_equal(one.codes, other.codes)


def _best_name(rows: Rows, alike: list[str], partner: str | None = None) -> str:
    """The column that serves best for names among those that divide the rows alike.

    Names are words or whole numbers, not texts, not fractions; where columns differ in a few rows,
    it is the one that contradicts the others least and repeats fewest pairs with its partner.
    """
    first = rows.columns[alike[0]]
    others = [c for n, c in rows.columns.items() if n in alike or _is_attribute(c, first)]

    def quality(name: str) -> tuple[bool, int, bool]:
        column, numbers = rows.columns[name], rows.columns[name].numbers()
        fractions = numbers is not None and bool((numbers % 1 != 0).any())
        n_wrong = sum(exceptions(other, column)[0] for other in others)
        if partner is not None:
            n_wrong += n_repeated(column, rows.columns[partner])
        return not (column.is_text or fractions), -n_wrong, numbers is None

    return alike[0] if len(alike) == 1 else max(alike, key=quality)


def _is_attribute(column: Column, names: Column) -> bool:
    """Whether a column is a function of another one, surely not by chance."""
    fewer = 1 < len(column.values) <= len(names.values) and not column.is_bytes
    return fewer and column is not names and is_function(column, names, ENOUGH)


def _is_spelled(column: Column, *patterns: re.Pattern[str]) -> bool:
    """Whether nearly all values are spelled as names of items or annotators are."""
    values = [value.strip() for value in column.values.slice(0, LOOKED_AT).to_pylist()]
    return any(np.mean([bool(one.fullmatch(v)) for v in values]) > 0.8 for one in patterns)


# ---- pairs that are unique ----


def _unique_pairs(rows: Rows, every: list[Pair], known: str | None) -> list[Pair]:
    """The pairs of columns that hardly ever repeat, without those in which a column is a function
    of one that would do as well."""
    n_values = {name: len(column.values) for name, column in rows.columns.items()}
    fewest = (1 - 2 * TOLERATED) * rows.n_rows
    every = [(a, b) for a, b in every if n_values[a] * n_values[b] >= fewest]
    least = EXPECTED_OF_NAMED if known else EXPECTED
    pairs = [(a, b) for a, b in every if is_key(rows.columns[a], rows.columns[b], least)]
    if not (known and pairs):
        pairs += [pair for pair in every if pair not in pairs and _fit_by_attributes(rows, *pair)]
    kept = {name: _without_relatives(rows, name, pairs) for pair in pairs for name in pair}
    return [(one, other) for one, other in pairs if one in kept[other] and other in kept[one]]


def _fit_by_attributes(rows: Rows, one: str, other: str) -> bool:
    """Whether no pair repeats, though few would by chance, and both columns have attributes."""
    first, second = rows.columns[one], rows.columns[other]
    related = is_function(first, second) or is_function(second, first)
    return not n_repeated(first, second) and not related and _have_attributes(rows, one, other)


def _have_attributes(rows: Rows, *pair: str) -> bool:
    """Whether each is spelled as names are, or columns are functions of it, not of the other."""
    names, partner = (rows.columns[name] for name in pair)
    return all(
        any(_is_attribute(c, a) and not _is_attribute(c, b) for c in rows.columns.values())
        or _is_spelled(a, ITEM_NAME, ANNOTATOR_NAME)
        for a, b in ((names, partner), (partner, names))
    )


def _without_relatives(rows: Rows, partner: str, pairs: list[Pair]) -> list[str]:
    """The columns in pairs with this one, but no functions of another one: a text that two items
    share, an age.

    If one has many fewer values and repeats no more pairs, it is not clear which is the name: the
    other may divide it further, as sessions do, or it may be a group of them. Both stay.
    """
    names = [name for pair in pairs if partner in pair for name in pair if name != partner]
    dropped = set()
    for fine, coarse in itertools.permutations(names, 2):
        one, other = rows.columns[fine], rows.columns[coarse]
        if len(one.values) <= len(other.values) or not is_function(other, one):
            continue
        repeated = [n_repeated(rows.columns[partner], column) for column in (one, other)]
        if len(one.values) < DIVIDED * len(other.values) or repeated[1] > repeated[0]:
            dropped.add(coarse)
    return [name for name in names if name not in dropped]


def _is_numbering(rows: Rows, pair: Pair, known: str | None) -> bool:
    """Whether a column, not the known one, may only number the rows of each cell of the other: no
    further column goes with it."""
    for name, other in (pair, pair[::-1]):
        column, groups = rows.columns[name], rows.columns[other]
        if name == known or not _counts_within(column, groups):
            continue
        further = (c for n, c in rows.columns.items() if n not in pair and not c.is_bytes)
        if not any(is_function(c, column, ENOUGH) and not is_function(c, groups) for c in further):
            return True
    return False


def _counts_within(column: Column, groups: Column) -> bool:
    """Whether a column counts the rows of each group, from 0 or from 1, in any order."""
    numbers = column.numbers()
    if numbers is None or numbers.min() not in (0, 1) or (numbers % 1 != 0).any():
        return False
    largest = np.zeros(len(groups.values))
    np.maximum.at(largest, groups.codes, numbers - numbers.min() + 1)
    return bool((largest <= np.bincount(groups.codes)).all())


def _sign_of_items(rows: Rows, name: str, partner: str) -> str:
    """Why a column is rather the item than the other one of a pair; empty if nothing says so."""
    column, other = rows.columns[name], rows.columns[partner]
    if column.is_text:
        return f"{name!r} contains texts"
    for further, cells in rows.columns.items():
        one_each = not cells.is_bytes and 2 * len(cells.values) >= len(column.values)
        if further not in (name, partner) and one_each and cells.is_text:
            if is_function(cells, column) and not is_function(cells, other):
                return f"{further!r} is a text for each {name!r}"
        if any(_is_label(rows, further, answer, (column, other)) for answer in rows.columns):
            return f"{further!r} has the values of the answers"
    if _is_spelled(column, ITEM_NAME):
        return f"{name!r} is spelled like items"
    if _is_spelled(other, ANNOTATOR_NAME):
        return f"{partner!r} is spelled like annotators"
    return ""


def _is_label(rows: Rows, name: str, answer: str, pair: tuple[Column, Column]) -> bool:
    """Whether a function of the first, not of the second, agrees with a function of neither."""
    labels, answers = rows.columns[name], rows.columns[answer]
    if name == answer or not labels.words <= answers.words or len(answers.words) > FEW_VALUES:
        return False
    functions = [is_function(one, of) for one in (labels, answers) for of in pair]
    if functions != [True, False, False, False]:
        return False
    cells = cells_of([labels, answers]).codes.reshape(-1, 2)
    cells = cells[(cells >= 0).all(axis=1)]
    shares = [np.bincount(one, minlength=cells.max() + 1) / len(cells) for one in cells.T]
    agreement, by_chance = float((cells[:, 0] == cells[:, 1]).mean()), float(shares[0] @ shares[1])
    return agreement - by_chance > LEAST_KAPPA * (1 - by_chance)


# ---- items of several columns ----


def _parts(
    rows: Rows, known: tuple[str, ...], annotator: str, free: Sequence[str]
) -> tuple[str, ...]:
    """The fewest columns that name an item together, with those that are known, so that hardly any
    annotator has one repeatedly; none if others do as well."""
    free = [name for name in free if not is_about_answers(name)][:MOST_COMBINED]
    for n_parts in range(2 - len(known), 4 - len(known)):
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
    return explanation


def _of_neither(rows: Rows, name: str, groups: dict[str, Column], n_filled: int) -> Explanation:
    """What a column is that neither the item nor the annotator explains."""
    column = rows.columns[name]
    n_values, numbers = len(column.values), column.numbers()
    if name in rows.sets:
        return _answer(n_values, "different set")
    values = column.values.slice(0, LOOKED_AT).to_pylist()
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
    """A column that numbers or divides the rows of each item or annotator; in a small table the
    answers may never be the same twice by accident."""
    n_values = len(column.values)
    if column.is_filled and n_values < rows.n_rows:
        if is_key(groups, column, FEW):
            sure = n_repeated_by_chance(groups, column) >= 2 * EXPECTED
            why = f"never the same twice for one {kind}"
            counts = _counts_within(column, groups)
            return Explanation(ASSIGNMENT if sure or counts else EITHER, why)
    if n_values > len(groups.values) and is_function(groups, column, FEW):
        sure = exceptions(groups, column)[1] >= 2 * ENOUGH
        return Explanation(ASSIGNMENT if sure else EITHER, f"each value belongs to one {kind}")
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
        sure = ASSIGNMENT if fractions and numbers.min() > 0 else EITHER
        return Explanation(sure, "a few large numbers among small ones: durations?")
    if n_values > MOST * len(numbers) and not (fractions and largest <= 1):
        return Explanation(EITHER, "another number in nearly every row")
    return _answer(n_values, "different number")
