"""Keys: the columns that name the item and the annotator of each row, found by what they hold.

No annotator answers an item twice, or hardly any does. So pairs of both are all but unique, while
pairs put together by chance would often repeat. In a small table chance repeats few pairs, too;
then both are recognised by their attributes: other columns are functions of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dissensus.readers.tables.dependence import (
    Deviation,
    effect,
    from_function,
    from_key,
    is_function,
    is_surely_function,
    n_distinct_pairs,
)
from dissensus.readers.tables.explanations import (
    FEW_VALUES,
    KEY,
    Explanation,
    counts_within,
    explain,
    has_values_of,
    is_mean,
    is_text,
)
from dissensus.readers.tables.rows import FEATURES, Column, Rows, combined

MOST_REPEATED = 0.02  # of the rows: pairs that repeat
EXPECTED = 5.0  # repeated pairs by chance, where neither column is named
EXPECTED_OF_NAMED = 2.0  # where one of both is known
ROWS_EACH = 1.15  # for each item or annotator, on average
MANY_MORE_THAN = 1.5  # values for each value of a column that is a function
ALIKE = 0.1  # of the values: columns that divide rows alike differ by no more
SURE_EFFECT = 6.0  # standard errors: a column goes with another one
NO_EFFECT = 3.0  # standard errors: it may not
CLEAR_EFFECT = 4.0  # standard errors: answers go with items or annotators
CLEARER = 0.05  # a difference between shares of variance that means something
MANY_MORE = 3  # so many times more items than annotators
MORE_EVEN = 0.5  # the rows of items vary so much less in number than those of annotators
MOST_COLUMNS = 200  # above this, columns have to be named
SIDES = (("1", "2"), ("_a", "_b"), ("_x", "_y"), ("left", "right"), ("first", "second"))
GENDERS = frozenset(
    "male female man woman men women m f nonbinary non-binary other diverse transgender".split()
)
_ANNOTATOR = re.compile(
    r"(?i)(annotator|anno|ann|worker|rater|coder|judge|labell?er|user|turker|participant|expert|"
    r"reviewer|student|subject|person|crowd)[\W_]*(id[\W_]*)?[0-9a-f]+|\S+@\S+\.\S+|A[0-9A-Z]{11,}"
)
_ITEM = re.compile(
    r"(?i)(item|task|doc|document|sent|sentence|tweet|text|post|comment|image|img|clip|utt|q|hit|"
    r"example|unit|sample|instance)[\W_]*(id[\W_]*)?\d+|.+\.(jpe?g|png|gif|wav|mp3|mp4|txt|flac)|"
    r"https?://.+"
)
Sign = tuple[bool, str]  # whether the first of two columns is the item, and why


@dataclass(frozen=True)
class Key:
    """The columns of the item and of the annotator, and what the other columns are."""

    item: tuple[str, ...]  # together they name it
    annotator: str
    explained: dict[str, Explanation]
    why_item: str = "by its name"
    why_annotator: str = "by its name"


@dataclass(frozen=True)
class Unclear:
    """Columns that may be the item and the annotator, but it is not clear which is which."""

    columns: tuple[str, str]
    why: str
    explained: dict[str, Explanation] = field(default_factory=dict)


def find_key(
    rows: Rows, item: str | None, annotator: str | None, taken: Iterable[str]
) -> Key | Unclear | None:
    """The item and the annotator of each row; None if no two columns can be.

    Args:
        item: its column, if it is known; the annotator's likewise.
        taken: columns that are something else.
    """
    taken = set(taken)
    if item is not None and annotator is not None:
        return _with_compared(rows, item, annotator, taken)
    if len(rows.columns) > MOST_COLUMNS:
        return None
    alike = _candidates(rows, {*taken, item, annotator})
    free = [max(names, key=lambda name: _as_name(rows, name, names)) for names in alike]
    if item is None and annotator is None:
        return _unnamed(rows, free, alike, taken)
    known = str(item or annotator)
    others = [name for name in free if _fits(rows, known, name, EXPECTED_OF_NAMED)]
    others = others or [name for name in free if _fits_by_attributes(rows, known, name)]
    others = _without_relatives(rows, others, known)
    if item is not None:
        others = [name for name in others if not _only_counts(rows, name, item)]
    if len(others) == 1:
        why = f"pairs with {known!r} are {_how_unique(rows, known, others[0])}"
        if item is None:
            return replace(_explained(rows, (others[0],), known, taken), why_item=why)
        return replace(_explained(rows, (known,), others[0], taken), why_annotator=why)
    return _of_two_columns(rows, known, free, taken) if item is None and not others else None


def _explained(rows: Rows, item: Sequence[str], annotator: str, taken: Iterable[str]) -> Key:
    items = combined([rows.columns[n] for n in item]) if len(item) > 1 else rows.columns[item[0]]
    others = [name for name in rows.columns if name not in (*item, annotator, *taken)]
    return Key(tuple(item), annotator, explain(rows, others, items, rows.columns[annotator]))


# ---- columns that can name something ----


def _candidates(rows: Rows, taken: set[str | None]) -> list[list[str]]:
    """Columns that can name items or annotators; those that divide the rows alike together."""
    alike: list[list[str]] = []
    for name, column in rows.columns.items():
        n_values = len(column.values)
        if name in (FEATURES, *taken) or name in rows.sets or column.is_bytes or n_values < 2:
            continue
        if column.first_blank is not None or rows.n_rows < ROWS_EACH * n_values:
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
    fewer, more = sorted((len(one.values), len(other.values)))
    if more - fewer > 2 + ALIKE * more:
        return False
    return is_surely_function(one, other) and is_surely_function(other, one)


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
    plain = not (is_text(column) or fractions or _are_genders(column))
    n_wrong = 0
    if len(alike) > 1:
        others = _dependents(rows, alike[0]) | set(alike)
        n_wrong = sum(from_function(rows.columns[other], column).n_wrong for other in others)
        n_wrong += 0 if partner is None else _repeated(rows, name, partner).n_wrong
    named = _is_spelled_like_names(column) or _is_numbered(numbers, len(column.values))
    return plain, -n_wrong, named, numbers is None


def _is_numbered(numbers: np.ndarray | None, n_values: int) -> bool:
    """Whether the values are the whole numbers from 0 or 1 on, without a gap."""
    if numbers is None or numbers.min() not in (0, 1):
        return False
    return bool(numbers.max() - numbers.min() + 1 == n_values == np.unique(numbers).size)


def _is_spelled_like_names(column: Column) -> bool:
    return _is_spelled(column, _ITEM) or _is_spelled(column, _ANNOTATOR)


def _is_spelled(column: Column, pattern: re.Pattern[str]) -> bool:
    sample = column.values.slice(0, 200).to_pylist()
    return float(np.mean([bool(pattern.fullmatch(value.strip())) for value in sample])) > 0.8


def _are_genders(column: Column) -> bool:
    return {
        value.strip().casefold() for value in column.values.slice(0, 200).to_pylist()
    } <= GENDERS


def _dependents(rows: Rows, name: str) -> set[str]:
    """The columns that are functions of this one, surely not by chance."""
    groups = rows.columns[name]
    return {
        other
        for other, column in rows.columns.items()
        if other != name and not column.is_bytes and 1 < len(column.values) <= len(groups.values)
        if is_surely_function(column, groups)
    }


def _has_attributes(rows: Rows, name: str, partner: str) -> bool:
    """Whether columns are functions of this one, not of its partner; or it is spelled so."""
    own = _dependents(rows, name) - _dependents(rows, partner)
    return bool(own) or _is_spelled_like_names(rows.columns[name])


# ---- pairs that are unique ----


def is_key(deviation: Deviation, expected: float = EXPECTED) -> bool:
    """Whether pairs repeat much less often than chance would let them."""
    few = deviation.n_wrong <= MOST_REPEATED * deviation.n_rows
    return few and deviation.by_chance >= expected and deviation.share <= KEY


def _repeated(rows: Rows, one: str, other: str) -> Deviation:
    first, second = sorted((rows.columns[one], rows.columns[other]), key=lambda c: -len(c.values))
    return from_key(first, second, rows.columns.values())


def _how_unique(rows: Rows, one: str, other: str) -> str:
    n_wrong = _repeated(rows, one, other).n_wrong
    return f"unique but for {n_wrong:,}" if n_wrong else "unique"


def _fits(rows: Rows, one: str, other: str, expected: float = EXPECTED) -> bool:
    n_pairs = len(rows.columns[one].values) * len(rows.columns[other].values)
    enough = n_pairs >= (1 - 2 * MOST_REPEATED) * rows.n_rows
    return enough and is_key(_repeated(rows, one, other), expected)


def _fits_by_attributes(rows: Rows, one: str, other: str) -> bool:
    """Whether no pair repeats, though few would by chance, and both columns have attributes."""
    first, second = rows.columns[one], rows.columns[other]
    repeated = _repeated(rows, one, other)
    if repeated.n_wrong or repeated.by_chance >= EXPECTED:
        return False
    if is_function(first, second) or is_function(second, first):
        return False
    return _has_attributes(rows, one, other) and _has_attributes(rows, other, one)


def _without_relatives(rows: Rows, names: list[str], partner: str) -> list[str]:
    """Without columns that are functions of another one: a text that two items share, an age.

    If one has many fewer values and repeats no more pairs, it is not clear which is the name: the
    other may divide it further, as sessions do, or it may be a group of them, one of each group for
    each item. Both stay.
    """
    dropped = set()
    for fine, coarse in itertools.permutations(names, 2):
        one, other = rows.columns[fine], rows.columns[coarse]
        if len(one.values) <= len(other.values) or not is_function(other, one):
            continue
        repeated = [from_key(rows.columns[partner], column).n_wrong for column in (one, other)]
        many_more = len(one.values) >= MANY_MORE_THAN * len(other.values)
        if not (many_more and repeated[1] <= repeated[0]):
            dropped.add(coarse)
    return [name for name in names if name not in dropped]


def _only_counts(rows: Rows, name: str, other: str) -> bool:
    """Whether a column only numbers the rows of each `other`: no further column goes with it."""
    column, groups = rows.columns[name], rows.columns[other]
    return counts_within(column, groups) and not any(
        is_surely_function(cells, column) or effect(cells, column).z > SURE_EFFECT
        for further, cells in rows.columns.items()
        if further not in (name, other) and not cells.is_bytes and not is_function(cells, groups)
    )


# ---- items and annotators that no name tells ----


def _unnamed(
    rows: Rows, free: list[str], alike: list[list[str]], taken: Iterable[str]
) -> Key | Unclear | None:
    """The pair of columns that repeats least often compared with chance, and which is which."""
    every = list(itertools.combinations(free, 2))
    pairs = [pair for pair in every if _fits(rows, *pair)]
    pairs += [pair for pair in every if pair not in pairs and _fits_by_attributes(rows, *pair)]
    kept = {}
    for name in free:
        partners = [one for pair in pairs if name in pair for one in pair if one != name]
        kept[name] = _without_relatives(rows, partners, name)
    chosen = [(one, other) for one, other in pairs if one in kept[other] and other in kept[one]]
    counters = [
        pair for pair in chosen if _only_counts(rows, *pair) or _only_counts(rows, *pair[::-1])
    ]
    chosen = [pair for pair in chosen if pair not in counters]
    if not chosen and len(counters) == 1:
        one, other = counters[0]
        explained = _explained(rows, (one,), other, taken).explained
        return Unclear((one, other), "one of them may only number the rows of the other", explained)
    if not chosen:
        return None
    chosen = _likeliest(rows, chosen)
    if len(chosen) != 1:
        names = dict.fromkeys(name for pair in chosen for name in pair)
        why = f"several pairs of columns may be both: {', '.join(map(repr, names))}"
        return Unclear(chosen[0], why)
    pair = _best_names(rows, chosen[0], alike)
    if isinstance(pair, Unclear):
        return pair
    one, other = sorted(pair, key=lambda name: -len(rows.columns[name].values))
    likely = _explained(rows, (one,), other, taken)
    is_item, why = _which_is_the_item(rows, one, other, likely.explained)
    if is_item is None:
        return Unclear((one, other), why, likely.explained)
    item, annotator = (one, other) if is_item else (other, one)
    if _only_counts(rows, annotator, item):
        return Unclear((item, annotator), f"{annotator!r} may number the answers to an item")
    key = likely if is_item else _explained(rows, (item,), annotator, taken)
    how = _how_unique(rows, item, annotator)
    return replace(
        key,
        why_item=f"pairs with {annotator!r} are {how}; {why}",
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
                return Unclear((first, partner), why)
        best.append(first)
    return best[0], best[1]


def _likeliest(rows: Rows, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of several pairs the one whose columns both have attributes, or which answers go with."""
    if len(pairs) == 1:
        return pairs
    of_two = [p for p in pairs if _has_attributes(rows, *p) and _has_attributes(rows, *p[::-1])]
    in_all = [name for name in pairs[0] if all(name in pair for pair in pairs)]
    if of_two or len(in_all) != 1:
        return of_two or pairs
    names = {name for pair in pairs for name in pair}
    strongest = []
    for pair in pairs:
        groups = rows.columns[next(name for name in pair if name != in_all[0])]
        effects = [effect(c, groups) for other, c in rows.columns.items() if other not in names]
        strongest.append(max((one.z for one in effects if one.share > 0), default=0.0))
    order = np.argsort(strongest)[::-1]
    if strongest[order[0]] > SURE_EFFECT and strongest[order[1]] < NO_EFFECT:
        return [pairs[order[0]]]
    return pairs


def _which_is_the_item(
    rows: Rows, one: str, other: str, explained: dict[str, Explanation]
) -> tuple[bool | None, str]:
    """Whether the first is the item, and why; None if it is not clear, and why not."""
    strong = _strong_signs(rows, one, other, explained)
    signs = strong or _weak_signs(rows, one, other, explained)
    sides = {is_first: why for is_first, why in reversed(signs)}
    if strong and len(sides) == 2:
        return None, f"{sides[True]}, but {sides[False]}"
    if not strong and (len(sides) == 2 or len(signs) < 2):
        return None, "nothing says clearly which of both is the item"
    return signs[0]


def _strong_signs(
    rows: Rows, one: str, other: str, explained: dict[str, Explanation]
) -> list[Sign]:
    """What shows which of both is the item.

    `explained` takes the first for the item; a column is told here by which of both it follows.
    """
    signs: list[Sign] = []
    for first, name in ((True, one), (False, other)):
        column = rows.columns[name]
        if is_text(column):
            signs.append((first, f"{name!r} contains texts"))
        if _is_spelled(column, _ITEM):
            signs.append((first, f"{name!r} is spelled like items"))
        if _is_spelled(column, _ANNOTATOR):
            signs.append((not first, f"{name!r} is spelled like annotators"))
    answers = [rows.columns[name] for name, why in explained.items() if why.kind == "answer"]
    for name in explained:
        column = rows.columns[name]
        if column.is_bytes or len(column.values) < 2:
            continue
        of_one = is_function(column, rows.columns[one])
        if of_one == is_function(column, rows.columns[other]):
            continue
        owner = one if of_one else other
        groups = rows.columns[owner]
        if is_text(column) and len(column.values) >= 0.5 * len(groups.values):
            signs.append((of_one, f"{name!r} is a text for each {owner!r}"))
        elif _are_genders(column):
            signs.append((not of_one, f"{name!r} is a gender for each {owner!r}"))
        elif any(_is_label(column, answer) for answer in answers):
            signs.append((of_one, f"{name!r} has the values of the answers"))
        elif any(is_mean(column, answer, groups) for answer in answers):
            signs.append((of_one, f"{name!r} has the mean of the answers for each {owner!r}"))
    return signs


def _is_label(column: Column, answer: Column) -> bool:
    """Whether a column has the values of an answer, and goes with it."""
    if len(column.values) > FEW_VALUES or not has_values_of(column, answer):
        return False
    sure = effect(answer, column)
    related = from_function(column, answer).share < 0.9
    return related or (sure.share > 0 and sure.z > CLEAR_EFFECT)


def _weak_signs(rows: Rows, one: str, other: str, explained: dict[str, Explanation]) -> list[Sign]:
    """What makes it likely which of both is the item."""
    signs: list[Sign] = []
    a, b = rows.columns[one], rows.columns[other]
    for first, name, more, fewer in ((True, one, a, b), (False, other, b, a)):
        if len(more.values) >= MANY_MORE * len(fewer.values):
            signs.append((first, f"{name!r} has many more values"))
        if _unevenness(more) < MORE_EVEN * _unevenness(fewer):
            signs.append((first, f"every {name!r} has a similar number of rows"))
    differences = []
    for name, why in explained.items():
        by = [effect(rows.columns[name], groups) for groups in (a, b)]
        if why.kind == "answer" and max(one.z for one in by) > CLEAR_EFFECT:
            differences.append(by[0].share - by[1].share)
    difference = float(np.mean(differences)) if differences else 0.0
    if abs(difference) > CLEARER:
        signs.append((difference > 0, f"answers agree within {one if difference > 0 else other!r}"))
    return signs


def _unevenness(column: Column) -> float:
    """How much the number of rows for each value varies: its coefficient of variation."""
    sizes = np.bincount(column.codes)
    return float(sizes.std() / sizes.mean())


# ---- items of several columns ----


def _of_two_columns(
    rows: Rows, annotator: str, free: list[str], taken: Iterable[str]
) -> Key | None:
    """An item that two columns name together, next to a known annotator."""
    pairs = []
    for one, other in itertools.combinations(free, 2):
        a, b = rows.columns[one], rows.columns[other]
        if is_function(a, b) or is_function(b, a):
            continue
        both = combined([a, b])
        n_both = 1.2 * len(both.values)
        if rows.n_rows < n_both or len(both.values) < 1.2 * len(a.values):
            continue
        repeated = from_key(both, rows.columns[annotator], rows.columns.values())
        if is_key(repeated, EXPECTED_OF_NAMED):
            pairs.append((one, other))
    if len(pairs) != 1:
        return None
    why = f"both together with {annotator!r} are unique"
    return replace(_explained(rows, pairs[0], annotator, taken), why_item=why)


def _with_compared(rows: Rows, item: str, annotator: str, taken: set[str]) -> Key:
    """A known item and annotator; where their pairs repeat, what is compared names the item, too.

    That are two columns whose names differ in a number, a letter or a side: model_a, model_b.
    """
    items, people = rows.columns[item], rows.columns[annotator]
    if n_distinct_pairs(items, people) < (1 - 2 * MOST_REPEATED) * rows.n_rows:
        for pair in _compared_columns(rows, {item, annotator, *taken}):
            both = combined([items, *(rows.columns[name] for name in pair)])
            if is_key(from_key(both, people), EXPECTED_OF_NAMED):
                why = f"pairs with {annotator!r} repeat, with what is compared they do not"
                return replace(_explained(rows, (item, *pair), annotator, taken), why_item=why)
    return _explained(rows, (item,), annotator, taken)


def _compared_columns(rows: Rows, taken: set[str]) -> list[tuple[str, str]]:
    """Pairs of columns whose names differ in 1 and 2, a and b, x and y, left and right."""
    names = {
        name.casefold(): name
        for name, column in rows.columns.items()
        if name not in taken and not column.is_bytes and column.first_blank is None
    }
    pairs = []
    for low, name in names.items():
        for side, other_side in SIDES:
            head, there, tail = low.rpartition(side)
            if there and head + other_side + tail in names:
                pairs.append((name, names[head + other_side + tail]))
    return pairs
