"""Keys: the columns that name the item and the annotator of each row, found by what they hold.

No annotator answers an item twice, or hardly any does. So pairs of both are all but unique, while
pairs put together by chance would often repeat.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dissensus.readers.tables.dependence import (
    TOLERATED,
    Deviation,
    from_function,
    from_key,
    is_function,
)
from dissensus.readers.tables.explanations import KEY, Explanation, explain, is_text
from dissensus.readers.tables.rows import FEATURES, Column, Rows

MOST_REPEATED = 0.02  # of the rows: pairs that repeat
EXPECTED = 5.0  # repeated pairs by chance, where neither column is named
EXPECTED_OF_NAMED = 2.0  # where one of both is known
ROWS_EACH = 1.5  # for each item or annotator, on average
MANY_MORE = 3  # so many times more items than annotators
MANY_MORE_THAN = 1.5  # values for each value of a column that is a function
GOES_WITH = 0.8  # violations as a share of chance: below, a column goes with another
CLEARER = 0.05  # a difference between shares of chance that means something
_ANNOTATOR = re.compile(
    r"(?i)(annotator|anno|ann|worker|rater|coder|judge|labell?er|user|turker|participant|expert|"
    r"reviewer|student|subject|person|crowd)[\W_]*(id[\W_]*)?[0-9a-f]+|\S+@\S+\.\S+|A[0-9A-Z]{11,}"
)
_ITEM = re.compile(
    r"(?i)(item|task|doc|document|sent|sentence|tweet|text|post|comment|image|img|clip|utt|q|hit|"
    r"example|unit|sample|instance)[\W_]*(id[\W_]*)?\d+|.+\.(jpe?g|png|gif|wav|mp3|mp4|txt|flac)|"
    r"https?://.+"
)
_PERSONAL = frozenset(
    "male female man woman men women m f nonbinary non-binary other diverse transgender".split()
)


@dataclass(frozen=True)
class Key:
    """The columns of the item and of the annotator, and what the other columns are."""

    item: tuple[str, ...]  # together they name it
    annotator: str
    explained: dict[str, Explanation]
    why_item: str
    why_annotator: str


@dataclass(frozen=True)
class Unclear:
    """Columns that may be the item and the annotator, but it is not clear which is which."""

    columns: tuple[str, str]
    why: str
    explained: dict[str, Explanation]


def is_key(deviation: Deviation, expected: float = EXPECTED) -> bool:
    """Whether pairs repeat much less often than chance would let them."""
    few = deviation.n_wrong <= MOST_REPEATED * deviation.n_rows
    return few and deviation.by_chance >= expected and deviation.share <= KEY


def find_key(
    rows: Rows, item: str | None, annotator: str | None, taken: Iterable[str]
) -> Key | Unclear | None:
    """The item and the annotator of each row; None if no two columns can be.

    Args:
        item: its column, if it is known; the annotator's likewise.
        taken: columns that are something else.
    """
    free = _candidates(rows, {*taken, item, annotator})
    if item is not None and annotator is not None:
        return _explained(rows, (item,), annotator, taken, "by its name", "by its name")
    if item is None and annotator is None:
        return _unnamed(rows, free, taken)
    known = str(item or annotator)
    others = [name for name in free if _fits(rows, known, name, EXPECTED_OF_NAMED)]
    others = _without_relatives(rows, others, known)
    if item is not None:
        others = [name for name in others if not _is_slot(rows, item, name, taken)]
    if len(others) == 1:
        why = f"pairs with {known!r} are {_how_unique(rows, known, others[0])}"
        if item is None:
            return _explained(rows, (others[0],), known, taken, why, "by its name")
        return _explained(rows, (known,), others[0], taken, "by its name", why)
    return _of_two_columns(rows, known, free, taken) if item is None and not others else None


def _candidates(rows: Rows, taken: set[str | None]) -> list[str]:
    """Columns that can name items or annotators, one for each way to divide the rows."""
    kept: list[str] = []
    for name, column in rows.columns.items():
        if (
            name == FEATURES
            or name in taken
            or name in rows.sets
            or column.is_bytes
            or column.first_blank is not None
        ):
            continue
        n_values = len(column.values)
        if n_values < 2 or rows.n_rows < ROWS_EACH * n_values:
            continue
        same = [other for other in kept if np.array_equal(column.codes, rows.columns[other].codes)]
        if not same:
            kept.append(name)
        elif _is_name(column) > _is_name(rows.columns[same[0]]):
            kept[kept.index(same[0])] = name
    return kept


def _is_name(column: Column) -> tuple[bool, bool, bool]:
    """How well a column serves for names: words or whole numbers, not texts, not fractions."""
    known = _spelled(column, _ITEM) or _spelled(column, _ANNOTATOR)
    numbers = column.numbers()
    fractions = numbers is not None and bool((numbers % 1 != 0).any())
    values = column.values.slice(0, 200).to_pylist()
    personal = {value.strip().casefold() for value in values} <= _PERSONAL
    return known, not (is_text(column) or fractions or personal), numbers is None


def _fits(rows: Rows, one: str, other: str, expected: float = EXPECTED) -> bool:
    first, second = sorted((rows.columns[one], rows.columns[other]), key=lambda c: -len(c.values))
    return is_key(from_key(first, second), expected)


def _how_unique(rows: Rows, one: str, other: str) -> str:
    first, second = sorted((rows.columns[one], rows.columns[other]), key=lambda c: -len(c.values))
    n_wrong = from_key(first, second).n_wrong
    return f"unique but for {n_wrong:,}" if n_wrong else "unique"


def _unnamed(rows: Rows, free: list[str], taken: Iterable[str]) -> Key | Unclear | None:
    """The pair of columns that repeats least often compared with chance, and which is which."""
    pairs = [pair for pair in itertools.combinations(free, 2) if _fits(rows, *pair)]
    if not pairs:
        return None
    partners = {
        name: [p for pair in pairs if name in pair for p in pair if p != name] for name in free
    }
    kept = {name: _without_relatives(rows, partners[name], name) for name in free}
    chosen = [(one, other) for one, other in pairs if one in kept[other] and other in kept[one]]
    counters = [pair for pair in chosen if _counts(rows, *pair)]
    chosen = [pair for pair in chosen if pair not in counters]
    if not chosen and len(counters) == 1:
        why = "one of them may only number the rows of the other"
        return Unclear(
            counters[0],
            why,
            _explained(rows, (counters[0][0],), counters[0][1], taken, "", "").explained,
        )
    if not chosen:
        return None
    if len(chosen) != 1:
        names = tuple(dict.fromkeys(name for pair in chosen for name in pair))
        why = f"several pairs of columns may be both: {', '.join(map(repr, names))}"
        return Unclear(chosen[0], why, {})
    one, other = sorted(chosen[0], key=lambda name: -len(rows.columns[name].values))
    likely = _explained(rows, (one,), other, taken, "", "")
    side = _which_is_the_item(rows, one, other, likely.explained)
    if isinstance(side, str):
        return Unclear((one, other), side, likely.explained)
    key = likely if side else _explained(rows, (other,), one, taken, "", "")
    item, annotator = (one, other) if side else (other, one)
    if _is_slot(rows, item, annotator, taken):
        return Unclear((item, annotator), f"{annotator!r} may number the answers to an item", {})
    how = _how_unique(rows, item, annotator)
    reason = _reasons(rows, item, annotator, key.explained)
    return replace(
        key,
        why_item=f"pairs with {annotator!r} are {how}; {reason}",
        why_annotator=f"pairs with {item!r} are {how}",
    )


def _counts(rows: Rows, one: str, other: str) -> bool:
    """Whether one of both only numbers the rows of the other."""
    return _only_counts(rows, one, other) or _only_counts(rows, other, one)


def _only_counts(rows: Rows, name: str, other: str) -> bool:
    """Whether a column counts the rows of each `other`, and no further column goes with it."""
    column, groups = rows.columns[name], rows.columns[other]
    if not _counts_within(column, groups):
        return False
    for further in rows.columns:
        if further in (name, other) or rows.columns[further].is_bytes:
            continue
        deviation = from_function(rows.columns[further], column)
        few = len(rows.columns[further].values) < 0.5 * len(column.values)
        if deviation.by_chance >= EXPECTED and (
            (few and deviation.share < GOES_WITH) or deviation.share <= TOLERATED
        ):
            if not is_function(rows.columns[further], groups):
                return False
    return True


def _counts_within(column: Column, groups: Column) -> bool:
    """Whether a column counts the rows of each group, from 0 or from 1, in any order."""
    numbers = column.numbers()
    if numbers is None or numbers.min() not in (0, 1) or (numbers % 1 != 0).any():
        return False
    largest = np.zeros(len(groups.values))
    np.maximum.at(largest, groups.codes, numbers - numbers.min() + 1)
    return bool((largest <= np.bincount(groups.codes)).all())


def _divides(rows: Rows, finer: str, coarser: str) -> bool:
    """Whether a column divides the groups of another one further."""
    one, other = rows.columns[finer], rows.columns[coarser]
    return len(one.values) > len(other.values) and is_function(other, one)


def _without_relatives(rows: Rows, names: list[str], partner: str) -> list[str]:
    """Without columns that are functions of another one: a text that two items share, an age.

    If one has many fewer values and repeats no more pairs, it is not clear which is the name: the
    other may divide it further, as sessions do, or it may be a group of them, one of each group for
    each item. Both stay.
    """
    dropped = set()
    for fine, coarse in itertools.permutations(names, 2):
        if not _divides(rows, fine, coarse):
            continue
        one, other = rows.columns[fine], rows.columns[coarse]
        repeated = [from_key(rows.columns[partner], column).n_wrong for column in (one, other)]
        many_more = len(one.values) >= MANY_MORE_THAN * len(other.values)
        if not (many_more and repeated[1] <= repeated[0]):
            dropped.add(coarse)
    return [name for name in names if name not in dropped]


def _is_slot(rows: Rows, item: str, annotator: str, taken: Iterable[str]) -> bool:
    """Whether a column may count the answers to each item: 1, 2, 3; and has no attributes."""
    items = rows.columns[item]
    if not _counts_within(rows.columns[annotator], items):
        return False
    others = [name for name in rows.columns if name not in (item, annotator, *taken)]
    return not any(
        is_function(rows.columns[name], rows.columns[annotator])
        and not is_function(rows.columns[name], items)
        for name in others
        if len(rows.columns[name].values) > 1
    )


def _of_two_columns(
    rows: Rows, annotator: str, free: list[str], taken: Iterable[str]
) -> Key | None:
    """An item that two columns name together, next to a known annotator."""
    pairs = []
    for one, other in itertools.combinations(free, 2):
        a, b = rows.columns[one], rows.columns[other]
        if is_function(a, b) or is_function(b, a):
            continue
        both = crossed(a, b)
        if rows.n_rows < 1.2 * len(both.values) or len(both.values) < len(a.values) * 1.2:
            continue
        if is_key(from_key(both, rows.columns[annotator]), EXPECTED_OF_NAMED):
            pairs.append((one, other))
    if len(pairs) != 1:
        return None
    why = f"both together with {annotator!r} are unique"
    return _explained(rows, pairs[0], annotator, taken, why, "by its name")


def crossed(one: Column, other: Column) -> Column:
    """A code for each pair of cells."""
    pairs = one.codes.astype(np.int64) * (len(other.values) + 1) + other.codes
    distinct, codes = np.unique(pairs, return_inverse=True)
    return Column(distinct, codes.reshape(-1))


def _explained(
    rows: Rows,
    item: tuple[str, ...],
    annotator: str,
    taken: Iterable[str],
    why_item: str,
    why_annotator: str,
) -> Key:
    items = rows.columns[item[0]]
    for name in item[1:]:
        items = crossed(items, rows.columns[name])
    others = [name for name in rows.columns if name not in (*item, annotator, *taken)]
    explained = explain(rows, others, items, rows.columns[annotator])
    return Key(item, annotator, explained, why_item, why_annotator)


# ---- which of two columns is the item ----


def _which_is_the_item(
    rows: Rows, one: str, other: str, explained: dict[str, Explanation]
) -> bool | str:
    """Whether the first is the item; a text says why it is not clear."""
    signs = _strong_signs(rows, one, other, explained)
    if signs:
        first = [reason for is_first, reason in signs if is_first]
        second = [reason for is_first, reason in signs if not is_first]
        if first and second:
            return f"{first[0]}, but {second[0]}"
        return bool(first)
    votes = _weak_signs(rows, one, other, explained)
    first = [reason for is_first, reason in votes if is_first]
    second = [reason for is_first, reason in votes if not is_first]
    if (first and second) or len(votes) < 2:
        return "nothing says clearly which of both is the item"
    return bool(first)


def _reasons(rows: Rows, item: str, annotator: str, explained: dict[str, Explanation]) -> str:
    signs = _strong_signs(rows, item, annotator, explained)
    signs = signs or _weak_signs(rows, item, annotator, explained)
    return next((reason for is_first, reason in signs if is_first), "by its name")


def _strong_signs(
    rows: Rows, one: str, other: str, explained: dict[str, Explanation]
) -> list[tuple[bool, str]]:
    """What shows which of both is the item: (the first is, why).

    `explained` takes the first for the item; a column is told here by which of both it follows.
    """
    signs: list[tuple[bool, str]] = []
    for first, name in ((True, one), (False, other)):
        column = rows.columns[name]
        if is_text(column):
            signs.append((first, f"{name!r} contains texts"))
        if _spelled(column, _ITEM):
            signs.append((first, f"{name!r} is spelled like items"))
        if _spelled(column, _ANNOTATOR):
            signs.append((not first, f"{name!r} is spelled like annotators"))
    answers = [rows.columns[name] for name, why in explained.items() if why.kind == "answer"]
    values = [set(answer.values.to_pylist()) for answer in answers]
    for name in explained:
        column = rows.columns[name]
        if column.is_bytes or len(column.values) < 2:
            continue
        of_one = is_function(column, rows.columns[one])
        if of_one == is_function(column, rows.columns[other]):
            continue
        owner = one if of_one else other
        own = set(column.values.to_pylist())
        if is_text(column) and len(own) >= 0.5 * len(rows.columns[owner].values):
            signs.append((of_one, f"{name!r} is a text for each {owner!r}"))
        elif {value.strip().casefold() for value in own} <= _PERSONAL:
            signs.append((not of_one, f"{name!r} is a gender for each {owner!r}"))
        elif _is_label(column, answers, values):
            signs.append((of_one, f"{name!r} has the values of the answers"))
    return signs


def _is_label(column: Column, answers: list[Column], values: list[set[str]]) -> bool:
    """Whether a column has the values of an answer, and goes with it."""
    own = set(column.values.to_pylist())
    return any(
        own <= possible
        and 2 * len(own) >= len(possible)
        and from_function(column, answer).share < 0.9
        for answer, possible in zip(answers, values, strict=True)
    )


def _spelled(column: Column, pattern: re.Pattern[str]) -> bool:
    sample = column.values.slice(0, 200).to_pylist()
    return float(np.mean([bool(pattern.fullmatch(value.strip())) for value in sample])) > 0.8


def _weak_signs(
    rows: Rows, one: str, other: str, explained: dict[str, Explanation]
) -> list[tuple[bool, str]]:
    """What makes it likely: (the first is the item, why)."""
    signs = []
    a, b = rows.columns[one], rows.columns[other]
    for first, name, more, fewer in ((True, one, a, b), (False, other, b, a)):
        if len(more.values) >= MANY_MORE * len(fewer.values):
            signs.append((first, f"{name!r} has many more values"))
        sizes, others = np.bincount(more.codes), np.bincount(fewer.codes)
        if sizes.min() == sizes.max() and others.min() < others.max():
            signs.append((first, f"every {name!r} has {sizes[0]} rows"))
    differences = []
    for name, why in explained.items():
        if why.kind == "answer":
            by = [from_function(rows.columns[name], groups) for groups in (a, b)]
            if all(one.by_chance >= EXPECTED for one in by):
                differences.append(by[1].share - by[0].share)
    if differences and abs(float(np.mean(differences))) > CLEARER:
        first = float(np.mean(differences)) > 0
        name = one if first else other
        signs.append((first, f"answers agree within {name!r}"))
    return signs
