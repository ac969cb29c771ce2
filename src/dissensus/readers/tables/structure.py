"""Structure: which columns name the item and the annotator, and what every other column is.

No annotator answers an item twice, or hardly any does. So pairs of both are all but unique, while
pairs put together by chance would often repeat. In a small table chance repeats few pairs, too;
then both are recognised by their attributes: other columns are functions of them.

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
    SURE,
    TOLERATED,
    Deviation,
    effect,
    from_function,
    from_key,
    is_function,
    n_distinct_pairs,
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
KEY = 0.1  # repeated pairs, as a share of those by chance: below, columns name rows together
EXPECTED = 5.0  # repeated pairs by chance, where neither column is named
EXPECTED_OF_NAMED = 2.0  # where one of both is known
ROWS_EACH = 1.15  # for each item or annotator, on average
DIVIDED = 1.5  # values for each value of a column that is a function
MANY_MORE = 3  # so many times more items than annotators
CLEARER = 0.05  # a difference between shares of variance that means something
STRONG, WEAK = 3, 1  # what signs of the item weigh; together they have to be
ENOUGH_SIGNS = 2  # and as many times those of the other column as a strong one is a weak one
FEWEST_PARTS = 3  # values of a column that may number sessions, not parts of the item
MOST_QUESTIONS = 12  # values of a column that may name questions
MOST_COMBINED = 8  # columns that are tried as parts of an item

# ---- explanations ----
MOSTLY_BLANK = 0.95  # of the rows
LONG_ANSWER = 60  # letters, on average: longer answers are free text
USES = 3  # rows for each value of an answer in words, on average
USES_OF_FEW = 2  # the same, for at most FEW_VALUES
LONG_TAIL = 5  # a largest number so many times the median is a duration, not a rating
LONG_MEAN = 1.3  # a mean so many times the median, of fractions
SCALE_ENDS = (1, 5, 7, 9, 10, 100)
LARGEST_RATING = 100
EPOCH = 1e8  # larger numbers are dates or ids
MOST_SPLIT = 2000  # values of a column that are split into sets
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
    why_annotator: str = BY_NAME
    why_unclear: str = ""  # why it is not clear which of both is the item
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
    pairs = _pairs(rows, known, free)
    counting = [
        pair
        for pair in pairs
        if any(a != known and _only_counts(rows, a, b) for a, b in itertools.permutations(pair))
    ]
    pairs = [pair for pair in pairs if pair not in counting] or ([] if item else counting)
    if known is None:
        return _unnamed_key(rows, pairs, free, taken, pairs == counting) if pairs else None
    if len(pairs) == 1:
        other = pairs[0][1]
        why = f"pairs with {known!r} are {_how_unique(rows, known, other)}"
        if item is None:
            return _explained(rows, [other], known, taken, why)
        return _explained(rows, [known], other, taken, why_annotator=why)
    parts = () if item or pairs else _parts(rows, (), known, list(free))
    why = f"together with {known!r} they are unique"
    return _explained(rows, parts, known, taken, why) if parts else None


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


def _unnamed_key(
    rows: Rows,
    pairs: list[Pair],
    free: Mapping[str, list[str]],
    taken: Iterable[str],
    only_counts: bool,
) -> Key:
    """The key of one of these pairs of columns, and which of both is the item.

    Args:
        free: the columns that can be either, and those that divide the rows as they do.
        only_counts: whether one column of each pair may only number the rows of the other.
    """
    if len(pairs) > 1:
        pairs = [pair for pair in pairs if _have_attributes(rows, *pair)] or pairs
    one, other = pairs[0]
    if len(pairs) > 1:
        names = ", ".join(map(repr, dict.fromkeys(itertools.chain(*pairs))))
        return Key((one,), other, {}, why_unclear=f"several pairs of columns may be both: {names}")
    pair = _best_name(rows, free[one], other), _best_name(rows, free[other], one)
    more, fewer = sorted(pair, key=lambda name: -len(rows.columns[name].values))
    likely = _explained(rows, [more], fewer, taken)
    if only_counts:
        return replace(likely, why_unclear="one of them may only number the rows of the other")
    is_item, why = _which_is_the_item(rows, more, fewer, likely.explained)
    if is_item is None:
        return replace(likely, why_unclear=why)
    item, annotator = (more, fewer) if is_item else (fewer, more)
    how = _how_unique(rows, item, annotator)
    why = f"pairs with {annotator!r} are {how}; {why}"
    return _explained(rows, [item], annotator, taken, why, f"pairs with {item!r} are {how}")


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


def _pairs(rows: Rows, known: str | None, free: Iterable[str]) -> list[Pair]:
    """The pairs of columns that may be item and annotator, one of which may be known."""
    every = [(known, name) for name in free] if known else [*itertools.combinations(free, 2)]
    n_values = {name: len(column.values) for name, column in rows.columns.items()}
    fewest = (1 - 2 * TOLERATED) * rows.n_rows
    pairs = [(a, b) for a, b in every if n_values[a] * n_values[b] >= fewest]
    expected = EXPECTED_OF_NAMED if known else EXPECTED
    pairs = [pair for pair in pairs if _is_key(_repeated(rows, *pair), expected)]
    if not (known and pairs):
        pairs = [pair for pair in every if pair in pairs or _fit_by_attributes(rows, *pair)]
    kept = {name: _without_relatives(rows, name, pairs) for pair in pairs for name in pair}
    return [(one, other) for one, other in pairs if one in kept[other] and other in kept[one]]


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
            other = rows.columns[alike[0]]
            if np.array_equal(column.codes, other.codes) or (
                abs(n_values - len(other.values)) <= 2 + KEY * max(n_values, len(other.values))
                and is_function(column, other, ENOUGH)
                and is_function(other, column, ENOUGH)
            ):
                alike.append(name)
                break
        else:
            every.append([name])
    return every


def _best_name(rows: Rows, alike: list[str], partner: str | None = None) -> str:
    """The column that serves best for names among those that divide the rows alike.

    Names are words or whole numbers, not texts, not fractions; where columns differ in a few rows,
    it is the one that contradicts the others least and repeats fewest pairs with its partner.
    """
    if len(alike) == 1:
        return alike[0]
    first = rows.columns[alike[0]]
    others = [c for n, c in rows.columns.items() if n in alike or _is_attribute(c, first)]

    def quality(name: str) -> tuple[bool, int, bool]:
        column, numbers = rows.columns[name], rows.columns[name].numbers()
        fractions = numbers is not None and bool((numbers % 1 != 0).any())
        n_wrong = sum(from_function(other, column).n_wrong for other in others)
        n_wrong += _repeated(rows, name, partner).n_wrong if partner else 0
        return not (column.is_text or fractions), -n_wrong, numbers is None

    return max(alike, key=quality)


def _is_spelled(column: Column, *patterns: re.Pattern[str]) -> bool:
    """Whether nearly all values are spelled as names of items or annotators are."""
    values = [value.strip() for value in column.values.slice(0, LOOKED_AT).to_pylist()]
    return any(np.mean([bool(one.fullmatch(v)) for v in values]) > 0.8 for one in patterns)


# ---- pairs that are unique ----


def _repeated(rows: Rows, one: str, other: str) -> Deviation:
    first, second = sorted((rows.columns[one], rows.columns[other]), key=lambda c: -len(c.values))
    return from_key(first, second, rows.columns.values())


def _how_unique(rows: Rows, one: str, other: str) -> str:
    n_wrong = _repeated(rows, one, other).n_wrong
    return f"unique but for {n_wrong:,}" if n_wrong else "unique"


def _is_key(repeated: Deviation, expected: float = EXPECTED_OF_NAMED) -> bool:
    """Whether pairs repeat much less often than chance would let them."""
    few = repeated.n_wrong <= TOLERATED * repeated.n_rows
    return few and repeated.by_chance >= expected and repeated.share <= KEY


def _fit_by_attributes(rows: Rows, one: str, other: str) -> bool:
    """Whether no pair repeats, though few would by chance, and both columns have attributes."""
    first, second = rows.columns[one], rows.columns[other]
    repeated = _repeated(rows, one, other)
    if repeated.n_wrong or repeated.by_chance >= EXPECTED:
        return False
    related = is_function(first, second) or is_function(second, first)
    return not related and _have_attributes(rows, one, other)


def _have_attributes(rows: Rows, *pair: str) -> bool:
    """Whether each is spelled as names are, or columns are functions of it, not of the other."""
    names, partner = (rows.columns[name] for name in pair)
    return all(
        any(_is_attribute(c, a) and not _is_attribute(c, b) for c in rows.columns.values())
        or _is_spelled(a, ITEM_NAME, ANNOTATOR_NAME)
        for a, b in ((names, partner), (partner, names))
    )


def _is_attribute(column: Column, names: Column) -> bool:
    """Whether a column is a function of another one, surely not by chance."""
    fewer = 1 < len(column.values) <= len(names.values) and not column.is_bytes
    return fewer and column is not names and is_function(column, names, ENOUGH)


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
        repeated = [from_key(rows.columns[partner], column).n_wrong for column in (one, other)]
        if len(one.values) < DIVIDED * len(other.values) or repeated[1] > repeated[0]:
            dropped.add(coarse)
    return [name for name in names if name not in dropped]


def _only_counts(rows: Rows, name: str, other: str) -> bool:
    """Whether a column only numbers the rows of each `other`: no further column goes with it."""
    column, groups = rows.columns[name], rows.columns[other]
    return _counts_within(column, groups) and not any(
        is_function(cells, column, ENOUGH) or effect(cells, column).z > SURE
        for further, cells in rows.columns.items()
        if further not in (name, other) and not cells.is_bytes and not is_function(cells, groups)
    )


def _counts_within(column: Column, groups: Column) -> bool:
    """Whether a column counts the rows of each group, from 0 or from 1, in any order."""
    numbers = column.numbers()
    if numbers is None or numbers.min() not in (0, 1) or (numbers % 1 != 0).any():
        return False
    largest = np.zeros(len(groups.values))
    np.maximum.at(largest, groups.codes, numbers - numbers.min() + 1)
    return bool((largest <= np.bincount(groups.codes)).all())


def _which_is_the_item(
    rows: Rows, one: str, other: str, explained: Mapping[str, Explanation]
) -> tuple[bool | None, str]:
    """Whether the first is the item, and why; None if it is not clear.

    `explained` takes the first for the item; a column is told here by which of both it follows.
    """
    signs: list[tuple[bool, int, str]] = []  # whether the first is the item, weight, why
    answers = [rows.columns[name] for name, why in explained.items() if why.kind == "answer"]
    for name, partner in ((one, other), (other, one)):
        column, groups, first = rows.columns[name], rows.columns[partner], name == one
        if column.is_text:
            signs.append((first, STRONG, f"{name!r} contains texts"))
        if _is_spelled(column, ITEM_NAME):
            signs.append((first, STRONG, f"{name!r} is spelled like items"))
        if _is_spelled(column, ANNOTATOR_NAME):
            signs.append((not first, STRONG, f"{name!r} is spelled like annotators"))
        for further in explained:
            cells = rows.columns[further]
            if cells.is_bytes or len(cells.values) < 2:
                continue
            if not is_function(cells, column) or is_function(cells, groups):
                continue
            if cells.is_text and 2 * len(cells.values) >= len(column.values):
                signs.append((first, STRONG, f"{further!r} is a text for each {name!r}"))
            elif any(_is_label(cells, answer) for answer in answers):
                signs.append((first, STRONG, f"{further!r} has the values of the answers"))
        if len(column.values) >= MANY_MORE * len(groups.values):
            signs.append((first, WEAK, f"{name!r} has many more values"))
        if 2 * _unevenness(column) < _unevenness(groups):
            signs.append((first, WEAK, f"every {name!r} has a similar number of rows"))
        by = [(effect(answer, column), effect(answer, groups)) for answer in answers]
        shares = [a.share - b.share for a, b in by if max(a.z, b.z) > SURE]
        if shares and np.mean(shares) > CLEARER:
            signs.append((first, WEAK, f"answers agree within {name!r}"))
    weights = {side: sum(w for first, w, _ in signs if first == side) for side in (True, False)}
    likely = weights[True] >= weights[False]
    if weights[likely] < max(ENOUGH_SIGNS, STRONG * weights[not likely]):
        return None, "nothing says clearly which of both is the item"
    return likely, max((sign for sign in signs if sign[0] == likely), key=lambda one: one[1])[2]


def _is_label(column: Column, answer: Column) -> bool:
    """Whether a column has the values of an answer, and goes with it."""
    own, values = set(column.values.to_pylist()), set(answer.values.to_pylist())
    same = own <= values and len(values) <= min(FEW_VALUES, 2 * len(own))
    return same and from_function(column, answer).share < MOST


def _unevenness(column: Column) -> float:
    """How much the number of rows for each value varies: its coefficient of variation."""
    sizes = np.bincount(column.codes)
    return float(sizes.std() / sizes.mean())


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
            if _is_key(from_key(both, rows.columns[annotator], rows.columns.values())):
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
        return Explanation(
            "attribute of the item", "bytes" if column.is_bytes else "the same in every row"
        )
    kind = owner(column, items, annotators)
    if kind is not None:
        n_wrong = from_function(column, items if kind == "item" else annotators).n_wrong
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
    numbering = [_numbering(rows, column, kind, of) for kind, of in groups.items()]
    numbers_rows = [one for one in numbering if one is not None]
    surely = [one for one in numbers_rows if one.kind == ASSIGNMENT]
    if surely and not (column.is_text and n_values > MOST * n_filled):
        return surely[0]
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
    return numbers_rows[0] if numbers_rows and by_values.kind == "answer" else by_values


def _answer(n_values: int, noun: str) -> Explanation:
    return Explanation("answer", f"depends on neither: {counted(n_values, noun)}")


def _numbering(rows: Rows, column: Column, kind: str, groups: Column) -> Explanation | None:
    """A column that numbers or divides the rows of each item or annotator; in a small table the
    answers may never be the same twice by accident."""
    n_values = len(column.values)
    if column.first_blank is None and n_values < rows.n_rows:
        repeated = from_key(groups, column)
        if repeated.n_wrong and repeated.share < 0.5:  # worth looking for copies of rows
            repeated = from_key(groups, column, rows.columns.values())
        if repeated.by_chance >= FEW and repeated.share <= KEY:
            sure = repeated.is_no_accident or _counts_within(column, groups)
            why = f"never the same twice for one {kind}"
            return Explanation(ASSIGNMENT if sure else EITHER, why)
    if n_values > len(groups.values) and is_function(groups, column, FEW):
        why = f"each value belongs to one {kind}"
        sure = from_function(groups, column).is_no_accident
        return Explanation(ASSIGNMENT if sure else EITHER, why)
    return None


def _of_numbers(numbers: np.ndarray, n_values: int) -> Explanation:
    """What a column of numbers is by its values."""
    largest, fractions = float(np.abs(numbers).max()), bool((numbers % 1 != 0).any())
    if np.abs(numbers).min() > EPOCH:
        return Explanation(ASSIGNMENT, "large numbers: dates or ids")
    bounded = largest <= LARGEST_RATING
    median = float(np.median(numbers))
    ends = numbers.min() < 0 or numbers.max() in SCALE_ENDS or numbers.max() <= 1
    tail = numbers.max() > LONG_TAIL * median or (fractions and numbers.mean() > LONG_MEAN * median)
    if n_values > FEW_VALUES and tail and not ends:
        why = "a few large numbers among small ones: durations?"
        sure = not bounded or (numbers.min() > 0 and fractions)
        return Explanation(ASSIGNMENT if sure else EITHER, why)
    if n_values > MOST * len(numbers) and not (fractions and largest <= 1):
        n_different = np.unique(numbers).size
        without_gap = numbers.max() - numbers.min() + 1 == n_different == len(numbers)
        sure = not bounded or (without_gap and not fractions)
        return Explanation(ASSIGNMENT if sure else EITHER, "another number in nearly every row")
    if n_values > FEW_VALUES and not bounded:
        return Explanation(UNCLEAR, f"{n_values:,} different numbers: ratings or measurements?")
    return _answer(n_values, "different number")
