"""Keys: the columns that name the item and the annotator of each row, found by what they hold.

No annotator answers an item twice, or hardly any does. So pairs of both are all but unique, while
pairs put together by chance would often repeat. In a small table chance repeats few pairs, too;
then both are recognised by their attributes: other columns are functions of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dissensus.readers.tables.dependence import (
    Deviation,
    effect,
    from_function,
    from_key,
    is_function,
    n_distinct_pairs,
)
from dissensus.readers.tables.explanations import (
    KEY,
    Explanation,
    counts_within,
    explain,
    is_text,
)
from dissensus.readers.tables.item_signs import (
    is_personal,
    is_spelled_like_names,
    reason_for,
    which_is_the_item,
)
from dissensus.readers.tables.rows import FEATURES, Column, Rows

MOST_REPEATED = 0.02  # of the rows: pairs that repeat
EXPECTED = 5.0  # repeated pairs by chance, where neither column is named
EXPECTED_OF_NAMED = 2.0  # where one of both is known
ENOUGH = 8.0  # violations by chance from which a function shows an attribute
ROWS_EACH = 1.15  # for each item or annotator, on average
MANY_MORE_THAN = 1.5  # values for each value of a column that is a function
ALIKE = 0.1  # of the values: columns that divide rows alike differ by no more
SURE_EFFECT = 6.0  # standard errors: a column goes with another one
NO_EFFECT = 3.0  # standard errors: it may not
SIDES = (("1", "2"), ("_a", "_b"), ("_x", "_y"), ("left", "right"), ("first", "second"))
MOST_COLUMNS = 200  # above this, columns have to be named


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
    taken = set(taken)
    if len(rows.columns) > MOST_COLUMNS and (item is None or annotator is None):
        return None
    alike = _candidates(rows, {*taken, item, annotator})
    free = [max(names, key=lambda name: _as_name(rows, name, names)) for names in alike]
    if item is not None and annotator is not None:
        return _with_compared(rows, item, annotator, taken)
    if item is None and annotator is None:
        return _unnamed(rows, free, alike, taken)
    known = str(item or annotator)
    others = [name for name in free if _fits(rows, known, name, EXPECTED_OF_NAMED)]
    others = others or [name for name in free if _fits_by_attributes(rows, known, name)]
    others = _without_relatives(rows, others, known)
    if item is not None:
        others = [name for name in others if not _is_slot(rows, item, name, taken)]
    if len(others) == 1:
        why = f"pairs with {known!r} are {_how_unique(rows, known, others[0])}"
        if item is None:
            return _explained(rows, (others[0],), known, taken, why, "by its name")
        return _explained(rows, (known,), others[0], taken, "by its name", why)
    return _of_two_columns(rows, known, free, taken) if item is None and not others else None


def _candidates(rows: Rows, taken: set[str | None]) -> list[list[str]]:
    """Columns that can name items or annotators; those that divide the rows alike together."""
    alike: list[list[str]] = []
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
        same = [names for names in alike if _divide_alike(column, rows.columns[names[0]])]
        if same:
            same[0].append(name)
        else:
            alike.append([name])
    return alike


def _divide_alike(one: Column, other: Column) -> bool:
    """Whether two columns divide the rows in the same way, up to a few rows."""
    if np.array_equal(one.codes, other.codes):
        return True
    sizes = sorted((len(one.values), len(other.values)))
    if sizes[1] - sizes[0] > 2 + ALIKE * sizes[1]:
        return False
    return _surely_function(one, other) and _surely_function(other, one)


def _surely_function(column: Column, groups: Column) -> bool:
    """Whether a column is a function of the groups where chance would often contradict it."""
    return from_function(column, groups).by_chance >= ENOUGH and is_function(column, groups)


def _as_name(
    rows: Rows, name: str, alike: list[str], partner: str | None = None
) -> tuple[bool, int, bool, bool]:
    """How well a column serves for names among those that divide the rows alike.

    Names are words or whole numbers, not texts, not fractions; where columns differ in a few rows,
    it is the one that contradicts the others least and repeats fewest pairs with its partner.
    """
    column = rows.columns[name]
    numbers = column.numbers()
    fractions = numbers is not None and bool((numbers % 1 != 0).any())
    plain = not (is_text(column) or fractions or is_personal(column))
    n_wrong = 0
    if len(alike) > 1:
        others = _dependents(rows, alike[0]) | set(alike)
        n_wrong = sum(from_function(rows.columns[other], column).n_wrong for other in others)
        n_wrong += 0 if partner is None else _deviation(rows, name, partner).n_wrong
    named = is_spelled_like_names(column) or _is_numbered(column)
    return plain, -n_wrong, named, numbers is None


def _is_numbered(column: Column) -> bool:
    """Whether the values are the whole numbers from 0 or 1 on, without a gap."""
    numbers = column.numbers()
    if numbers is None or numbers.min() not in (0, 1):
        return False
    return bool(numbers.max() - numbers.min() + 1 == len(column.values) == np.unique(numbers).size)


def _dependents(rows: Rows, name: str) -> set[str]:
    """The columns that are functions of this one, surely not by chance."""
    groups = rows.columns[name]
    return {
        other
        for other, column in rows.columns.items()
        if other != name
        and not column.is_bytes
        and 1 < len(column.values) <= len(groups.values)
        and _surely_function(column, groups)
    }


def _deviation(rows: Rows, one: str, other: str) -> Deviation:
    first, second = sorted((rows.columns[one], rows.columns[other]), key=lambda c: -len(c.values))
    return from_key(first, second, rows.columns.values())


def _fits(rows: Rows, one: str, other: str, expected: float = EXPECTED) -> bool:
    n_pairs = len(rows.columns[one].values) * len(rows.columns[other].values)
    if n_pairs < (1 - 2 * MOST_REPEATED) * rows.n_rows:
        return False
    return is_key(_deviation(rows, one, other), expected)


def _fits_by_attributes(rows: Rows, one: str, other: str) -> bool:
    """Whether no pair repeats, though few would by chance, and both columns have attributes."""
    first, second = rows.columns[one], rows.columns[other]
    deviation = _deviation(rows, one, other)
    if deviation.n_wrong or deviation.by_chance >= EXPECTED:
        return False
    if is_function(first, second) or is_function(second, first):
        return False
    return _has_attributes(rows, one, other) and _has_attributes(rows, other, one)


def _has_attributes(rows: Rows, name: str, partner: str) -> bool:
    """Whether columns are functions of this one, not of its partner; or it is spelled so."""
    own = _dependents(rows, name) - _dependents(rows, partner)
    return bool(own) or is_spelled_like_names(rows.columns[name])


def _how_unique(rows: Rows, one: str, other: str) -> str:
    n_wrong = _deviation(rows, one, other).n_wrong
    return f"unique but for {n_wrong:,}" if n_wrong else "unique"


def _unnamed(
    rows: Rows, free: list[str], alike: list[list[str]], taken: Iterable[str]
) -> Key | Unclear | None:
    """The pair of columns that repeats least often compared with chance, and which is which."""
    pairs = [pair for pair in itertools.combinations(free, 2) if _fits(rows, *pair)]
    pairs += [
        pair
        for pair in itertools.combinations(free, 2)
        if pair not in pairs and _fits_by_attributes(rows, *pair)
    ]
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
    chosen = _likeliest(rows, chosen)
    if len(chosen) != 1:
        names = tuple(dict.fromkeys(name for pair in chosen for name in pair))
        why = f"several pairs of columns may be both: {', '.join(map(repr, names))}"
        return Unclear(chosen[0], why, {})
    pair = _best_names(rows, chosen[0], alike)
    if isinstance(pair, Unclear):
        return pair
    one, other = sorted(pair, key=lambda name: -len(rows.columns[name].values))
    likely = _explained(rows, (one,), other, taken, "", "")
    side = which_is_the_item(rows, one, other, likely.explained)
    if isinstance(side, str):
        return Unclear((one, other), side, likely.explained)
    key = likely if side else _explained(rows, (other,), one, taken, "", "")
    item, annotator = (one, other) if side else (other, one)
    if _is_slot(rows, item, annotator, taken):
        return Unclear((item, annotator), f"{annotator!r} may number the answers to an item", {})
    how = _how_unique(rows, item, annotator)
    reason = reason_for(rows, item, annotator, key.explained)
    return replace(
        key,
        why_item=f"pairs with {annotator!r} are {how}; {reason}",
        why_annotator=f"pairs with {item!r} are {how}",
    )


def _best_names(
    rows: Rows, pair: tuple[str, str], alike: list[list[str]]
) -> tuple[str, str] | Unclear:
    """For both columns of a pair the one that names best among those that divide the rows alike."""
    best = []
    for name, partner in (pair, pair[::-1]):
        names = next(names for names in alike if name in names)
        marks = {one: _as_name(rows, one, names, partner) for one in names}
        first = max(marks, key=lambda one: marks[one])
        codes = rows.columns[first].codes
        for one in names:
            if marks[one] == marks[first] and not np.array_equal(rows.columns[one].codes, codes):
                why = f"{first!r} and {one!r} differ in a few rows, and either may be the name"
                return Unclear((first, partner), why, {})
        best.append(first)
    return best[0], best[1]


def _likeliest(rows: Rows, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of several pairs the one whose columns both have attributes, or which answers go with."""
    if len(pairs) == 1:
        return pairs
    of_two = [p for p in pairs if _has_attributes(rows, *p) and _has_attributes(rows, *p[::-1])]
    if of_two:
        return of_two
    in_all = [name for name in pairs[0] if all(name in pair for pair in pairs)]
    if len(in_all) != 1:
        return pairs
    others = [next(name for name in pair if name != in_all[0]) for pair in pairs]
    strongest = [_strongest_effect(rows, name, {*others, *in_all}) for name in others]
    order = np.argsort(strongest)[::-1]
    if strongest[order[0]] > SURE_EFFECT and strongest[order[1]] < NO_EFFECT:
        return [pairs[order[0]]]
    return pairs


def _strongest_effect(rows: Rows, name: str, without: set[str]) -> float:
    """How surely some further column goes with this one, in standard errors."""
    groups = rows.columns[name]
    effects = [
        effect(rows.columns[other], groups) for other in rows.columns if other not in without
    ]
    return max((one.z for one in effects if one.share > 0), default=0.0)


def _counts(rows: Rows, one: str, other: str) -> bool:
    """Whether one of both only numbers the rows of the other."""
    return _only_counts(rows, one, other) or _only_counts(rows, other, one)


def _only_counts(rows: Rows, name: str, other: str) -> bool:
    """Whether a column counts the rows of each `other`, and no further column goes with it."""
    column, groups = rows.columns[name], rows.columns[other]
    if not counts_within(column, groups):
        return False
    for further, cells in rows.columns.items():
        if further in (name, other) or cells.is_bytes or is_function(cells, groups):
            continue
        if _surely_function(cells, column) or effect(cells, column).z > SURE_EFFECT:
            return False
    return True


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
    """Whether a column may count the answers to each item: 1, 2, 3; and nothing goes with it."""
    items = rows.columns[item]
    if not counts_within(rows.columns[annotator], items):
        return False
    others = [name for name in rows.columns if name not in (item, annotator, *taken)]
    if _strongest_effect(rows, annotator, {item, annotator}) > SURE_EFFECT:
        return False
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
        if is_key(
            from_key(both, rows.columns[annotator], rows.columns.values()), EXPECTED_OF_NAMED
        ):
            pairs.append((one, other))
    if len(pairs) != 1:
        return None
    why = f"both together with {annotator!r} are unique"
    return _explained(rows, pairs[0], annotator, taken, why, "by its name")


def _with_compared(rows: Rows, item: str, annotator: str, taken: set[str]) -> Key:
    """A known item and annotator; where their pairs repeat, what is compared names the item, too.

    That are two columns whose names differ in a number, a letter or a side: model_a, model_b.
    """
    n_pairs = n_distinct_pairs(rows.columns[item], rows.columns[annotator])
    if n_pairs < (1 - 2 * MOST_REPEATED) * rows.n_rows:
        for pair in _compared_columns(rows, {item, annotator, *taken}):
            items = rows.columns[item]
            for name in pair:
                items = crossed(items, rows.columns[name])
            if is_key(from_key(items, rows.columns[annotator]), EXPECTED_OF_NAMED):
                why = f"pairs with {annotator!r} repeat, with what is compared they do not"
                return _explained(rows, (item, *pair), annotator, taken, why, "by its name")
    return _explained(rows, (item,), annotator, taken, "by its name", "by its name")


def _compared_columns(rows: Rows, taken: set[str]) -> list[tuple[str, str]]:
    """Pairs of columns whose names differ in 1 and 2, a and b, x and y, left and right."""
    names = [
        name
        for name, column in rows.columns.items()
        if name not in taken and not column.is_bytes and column.first_blank is None
    ]
    return [
        (one, other)
        for one, other in itertools.permutations(names, 2)
        if any(
            one.casefold() == head + sides[0] + tail and other.casefold() == head + sides[1] + tail
            for sides in SIDES
            for head, side, tail in (one.casefold().rpartition(sides[0]),)
            if side
        )
    ]


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
