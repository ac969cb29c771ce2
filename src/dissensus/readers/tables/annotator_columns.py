"""Annotator columns: which columns of a table contain the answers of one annotator each.

None in a long table, several in a wide one. Columns of different questions ("toxic", "insult"; "V",
"A", "D") look the same as columns of different annotators. So columns are read as annotators only
if their names say so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answers import MISSING
from dissensus.readers.tables.column_names import (
    NAMES,
    PAIR,
    answer_named,
    candidates,
    first_named,
    plain,
)
from dissensus.readers.tables.dependence import agreement_beyond_chance, effect
from dissensus.readers.tables.explanations import is_text
from dissensus.readers.tables.first_names import are_persons
from dissensus.readers.tables.item_rows import cells_of
from dissensus.readers.tables.rows import Column, Rows
from dissensus.scales import as_numbers

SMALL = 20  # so few distinct answers are values of a scale, whatever their share
SHARE = 0.1  # of the filled cells: so many distinct answers are values of a scale, too
SHARED = 0.9  # of a column's filled cells: so many have an answer of another annotator
SAME_TRUTH = 0.2  # agreement beyond chance of every annotator with gold labels
SAME_RATINGS = 0.1  # of the variance of ratings: so much is between items
SURE_EFFECT = 4.0  # standard errors
MOST_COMPARED = 200  # columns, or different sets of values, that are compared with one another
MANY = 6  # so many columns numbered from 0 or 1 are annotators, even without a blank cell

_WORDS = sorted({word.removesuffix("id").removesuffix("name") for word in NAMES["annotator"]})
ANNOTATOR_WORDS = "|".join(
    [*_WORDS, "ann", "anno", "annot", "human", "turker", "subject", "student"]
)
_ANNOTATOR = ANNOTATOR_WORDS
_ANSWER = "label|answer|rating|annotation|judgment|judgement|vote"
_SURE = re.compile(rf"({_ANSWER})?({_ANNOTATOR})(id)?\d+({_ANSWER})?")  # ann_1, worker851_label
_SLOT = re.compile(rf"({_ANSWER})({_ANNOTATOR})?\d+|({_ANNOTATOR})\d+({_ANSWER})")  # label_1
_LETTERED = re.compile(
    rf"(?i:{_ANNOTATOR})([ _.-]+[A-Za-z]|[A-Z])"
)  # Rater A, coder_b; not "raters"
_CALLED = re.compile(rf"(?i:{_ANNOTATOR})[ _.-]+\w+")  # Annot-Peter
_LIKELY = re.compile(rf"({_ANSWER}|[aprwju])?\d+")  # label_1, w851, 17
_ADDRESS = re.compile(r"A[0-9A-Z]{9,}|\S+@\S+")  # of a worker of Mechanical Turk, of a letter
_DERIVED = frozenset(
    "mean avg average median mode majority mv aggregate aggregated consensus final adjudicated sd "
    "std stdev var variance entropy agreement alpha kappa sum total soft hard pred predicted "
    "prediction model gpt chatgpt llm bert claude llama mistral gemini baseline machine auto prob "
    "probability confidence mehrheit mittelwert durchschnitt moyenne promedio".split()
)
_OTHER_ROLES = ("item", "text", "image", "audio", "video", "gold", "seconds", "count", "split")


def find_annotators(rows: Rows, options: Layout) -> tuple[str, ...] | None:
    """The columns that are an annotator each; None if this is a long table.

    Columns that may be either are refused, and so are annotators of whom some answer in numbers and
    some in words.
    """
    annotators: tuple[str, ...] | None
    roles = ("annotator", "answer", "question")
    long_options = [f"{role}=" for role in roles if getattr(options, role) is not None]
    if options.annotators is not None or options.format == "wide":
        if long_options:
            raise DataError(
                f"{rows.path}: in a wide table the columns are the annotators, their cells the "
                f"answers; leave out {', '.join(long_options)}"
            )
        if options.annotators == ():
            raise DataError(
                f"{rows.path}: no annotator is named; leave annotators= out or name columns"
            )
        annotators = options.annotators or _wide_columns(rows, options)
    elif options.format == "long" or long_options:
        return None
    else:
        annotators = _recognised_annotators(rows, options)
    if annotators is not None:
        rows.check(annotators)
        _check_kinds(rows, annotators, options)
    return annotators


def names_annotators(rows: Rows, options: Layout) -> bool:
    """Whether columns are annotators by their names, or one column contains their names."""
    sure = _surely_annotators(rows, _free(rows, options))
    return len(sure) > 1 or first_named("annotator", rows, sure) is not None


def _free(rows: Rows, options: Layout) -> list[str]:
    """The columns that may belong to an annotator."""
    return [name for name in rows.columns if name not in _named(options) and not is_derived(name)]


def _surely_annotators(rows: Rows, free: Iterable[str]) -> list[str]:
    free = list(free)
    sure = [name for name in free if _SURE.fullmatch(plain(name)) or _LETTERED.fullmatch(name)]
    if len(sure) > 1:  # and those that are called like them: Annot1, Annot-Peter
        values = set().union(*(_values(rows, name) for name in sure))
        called = [name for name in free if name not in sure and _CALLED.fullmatch(name)]
        also = {name for name in called if _values(rows, name) and _values(rows, name) <= values}
        sure = [name for name in free if name in sure or name in also]
    return sure


def is_named_like_an_annotator(name: str) -> bool:
    """Whether a name is usual for an annotator: rater_1, Coder B, w851, 17, an address.

    Example:
        >>> [is_named_like_an_annotator(name) for name in ("rater_1", "w851", "toxic")]
        [True, True, False]
    """
    patterns = (_SURE.fullmatch(plain(name)), _LIKELY.fullmatch(plain(name)))
    known = plain(name) in NAMES["annotator"]
    return known or any((*patterns, _LETTERED.fullmatch(name), _ADDRESS.fullmatch(name)))


def is_derived(name: str) -> bool:
    """Whether a column is a summary or the output of a model, by its name.

    Example:
        >>> [is_derived(name) for name in ("majorityVote", "label_mean", "gpt4", "ann_1")]
        [True, True, True, False]
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return any(word.lower() in _DERIVED for word in words)


def _recognised_annotators(rows: Rows, options: Layout) -> tuple[str, ...] | None:
    """The columns that are annotators by their names."""
    free = _free(rows, options)
    sure = _surely_annotators(rows, free)
    annotator = first_named("annotator", rows, sure)
    if annotator is not None and _shares(rows, annotator, sure):
        sure.append(annotator)  # a column "expert" with answers, next to those of the crowd
        annotator = first_named("annotator", rows, sure)
    if annotator is not None:
        return None
    answer = answer_named(rows, sure)
    if answer is not None and len(sure) > 1 and is_text(rows.columns[answer]):
        answer = None  # such as the `response` of a model
    if len(sure) > 1:
        _check_slots(rows, sure)
        if answer is None or _shares(rows, answer, sure):
            return tuple(name for name in rows.columns if name in sure)
        raise DataError(
            f"{rows.path}: {listed(sure)} look like annotators and {answer!r} like answers; use "
            'format="wide" if they answered (--format wide), format="long" if not (--format long)'
        )
    return None if answer is not None else _likely(rows, free)


def _check_slots(rows: Rows, sure: list[str]) -> None:
    """Refuse columns in pairs: the name of an annotator (annotator_1) and the answer (label_1)."""
    slots = [name for name in rows.columns if _SLOT.fullmatch(plain(name))]
    others = [name for name in sure if name not in slots]
    if len(slots) > 1 and len(others) > 1:
        raise DataError(
            f"{rows.path}: {listed(others)} and {listed(slots)}: it is not clear which columns "
            "contain answers; name them (annotators=, --annotator-columns), or give every answer a "
            "row of its own"
        )


def _likely(rows: Rows, free: list[str]) -> tuple[str, ...] | None:
    """Columns that may be annotators by their names, and have the same few answers."""
    likely = [name for name in free if _LIKELY.fullmatch(plain(name)) or _ADDRESS.fullmatch(name)]
    values = set().union(*(_values(rows, name) for name in likely))
    alike = all(_shares(rows, name, likely) for name in likely if _values(rows, name))
    if len(likely) < 2 or not alike:
        return None
    if not _is_scale(rows, likely, values) and not _rate_the_same(rows, likely):
        return None
    gaps = sum(rows.columns[name].first_blank is not None for name in likely)
    if (
        len(likely) == len(rows.columns)
        and _is_numbered(likely)
        and gaps < 2
        and len(likely) < MANY
    ):
        return None  # "0,1,2" may be the header of a long table without column names
    return tuple(likely)


def _rate_the_same(rows: Rows, names: list[str]) -> bool:
    """Whether columns contain many numbers, which agree within rows."""
    columns = [rows.columns[name] for name in names]
    if any(column.is_bytes or column.numbers() is None for column in columns):
        return False
    codes = np.repeat(np.arange(rows.n_rows), len(columns))
    by_row = effect(cells_of(columns), Column(pa.array(np.arange(rows.n_rows).astype(str)), codes))
    return by_row.share > SAME_RATINGS and by_row.z > SURE_EFFECT


def _is_scale(rows: Rows, names: list[str], values: set[str]) -> bool:
    """Whether columns have few values, or few for so many cells, most of them in common."""
    if len(values) <= SMALL:
        return True
    n_filled = sum(int((rows.columns[name].codes >= 0).sum()) for name in names)
    n_columns = Counter(value for name in names for value in _values(rows, name))
    return len(values) <= SHARE * n_filled and all(
        _in_common(rows, one, n_columns) for one in names
    )


def _in_common(rows: Rows, name: str, n_columns: Mapping[str, int]) -> bool:
    """Whether most cells of a column have a value that several columns have."""
    column = rows.columns[name]
    shared = np.array([n_columns[v.strip()] > 1 for v in column.values.to_pylist()] + [False])
    filled = column.codes >= 0
    return not filled.any() or float(shared[column.codes[filled]].mean()) >= SHARED


@dataclass(frozen=True)
class AlikeColumns:
    """Columns with the same values, which may be annotators or questions."""

    names: tuple[str, ...] = ()
    why_annotators: str = ""  # what shows that they are annotators; empty if nothing does
    majority: str | None = None  # the column that is always their majority


def columns_alike(rows: Rows, options: Layout) -> AlikeColumns:
    """The columns with the same values, and what shows that they are annotators.

    They are if they are called like persons, if all agree with gold labels, if another column is
    always their majority, or if every row has the same number of answers, by a part of the columns.
    """
    known = {name for role in _OTHER_ROLES for name in candidates(role, rows)} | _named(options)
    free = [name for name in rows.columns if name not in known and plain(name) not in PAIR]
    free = [name for name in free if not rows.columns[name].is_bytes and _values(rows, name)]
    derived = [name for name in free if is_derived(name)]
    free = [name for name in free if name not in derived]
    group = _largest_group(rows, free)
    values = set().union(*(_values(rows, n) for n in group))
    if len(group) < 2 or not _is_scale(rows, group, values):
        return AlikeColumns()
    if are_persons(group):  # also who gave some of the answers only
        own = [name for name in free if _values(rows, name) <= values]
        persons = [name for name in own if name in group or are_persons([*group, name])]
        return AlikeColumns(tuple(persons), "the same values, called like a person")
    label = _common_truth(rows, group)
    if label is not None:
        return AlikeColumns(tuple(group), f"the same values, agrees with {label!r}")
    majority = _majority_of(rows, group)
    if majority is not None:
        annotators = tuple(name for name in group if name != majority)
        return AlikeColumns(annotators, f"the same values, {majority!r} is the majority", majority)
    filled = np.sum([rows.columns[name].codes >= 0 for name in group], axis=0)
    counts = np.bincount(filled)
    part = 2 <= counts.argmax() < len(group) and counts.max() >= SHARED * rows.n_rows
    if not part or rows.n_rows < MANY:
        return AlikeColumns(tuple(group))
    return AlikeColumns(tuple(group), f"the same values, {counts.argmax()} answers in each row")


def alike_by_values(annotators: tuple[str, ...]) -> AlikeColumns | None:
    """Why columns are annotators if their names do not say so; None if they do."""
    if all(map(is_named_like_an_annotator, annotators)):
        return None
    return AlikeColumns(annotators, "has values of the other columns")


def _largest_group(rows: Rows, names: list[str]) -> list[str]:
    """The largest group of columns that have most of their values in common with one of them."""
    with_values: dict[frozenset[str], list[str]] = {}
    for name in names:
        with_values.setdefault(frozenset(_values(rows, name)), []).append(name)
    usual = sorted(with_values, key=lambda values: -len(with_values[values]))[:MOST_COMPARED]
    groups = [
        [name for values in usual if _are_alike(own, values) for name in with_values[values]]
        for own in usual
    ]
    sizes = [len(group) for group in groups]
    group = set(groups[sizes.index(max(sizes))]) if groups else set()
    return [name for name in names if name in group]


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return 2 * len(one & other) > max(len(one), len(other))


def _common_truth(rows: Rows, group: list[str]) -> str | None:
    """A gold or adjudicated column that has the same values, and that every column agrees with."""
    labels = [*candidates("gold", rows), *(name for name in rows.columns if is_derived(name))]
    values = set().union(*(_values(rows, name) for name in group))
    labels = [name for name in labels if name not in group and _values(rows, name)]
    for label in labels:
        columns = [[rows.columns[label], rows.columns[name]] for name in group]
        if _values(rows, label) <= values and all(
            agreement_beyond_chance(pair) > SAME_TRUTH for pair in columns
        ):
            return label
    return None


def _majority_of(rows: Rows, group: list[str]) -> str | None:
    """The column that is the majority of the others in every row that has one."""
    if not 4 <= len(group) <= MOST_COMPARED or rows.n_rows < SMALL:
        return None
    words = np.array([np.array([*c.values.to_pylist(), ""], dtype=object)[c.codes]
                      for c in (rows.columns[name] for name in group)])  # fmt: skip
    agreeing = []
    for n in range(len(group)):
        others = np.delete(words, n, axis=0)
        most, clear = _most_frequent(others)
        same = words[n][clear] == most[clear]
        agreeing.append(float(same.mean()) if len(same) else 0.0)
    best = int(np.argmax(agreeing))
    second = sorted(agreeing)[-2]
    return group[best] if agreeing[best] >= 0.99 and second < 0.97 else None


def _most_frequent(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value that more than half of the filled cells of a row have, and whether there is one."""
    values = [value for value in np.unique(words.astype(str)) if value]
    counts = np.array([(words == value).sum(axis=0) for value in values])
    most = np.array(values, dtype=object)[counts.argmax(axis=0)]
    return most, counts.max(axis=0) * 2 > (words != "").sum(axis=0)


def _is_numbered(names: list[str]) -> bool:
    numbers = [str(number) for number in range(len(names) + 1)]
    return names in (numbers[:-1], numbers[1:])


def _wide_columns(rows: Rows, options: Layout) -> tuple[str, ...]:
    """The annotators of a table that is known to be wide, by their names or by their answers."""
    known = {name for role in _OTHER_ROLES for name in candidates(role, rows)} | _named(options)
    free = [name for name in rows.columns if name not in known and not is_derived(name)]
    free = [name for name in free if plain(name) not in PAIR and "unnamed" not in plain(name)]
    sure = _surely_annotators(rows, free)
    if len(sure) > 1:
        _check_slots(rows, sure)
        return tuple(sure)
    annotators = [name for name in free if _shares(rows, name, free)]
    if len(annotators) < 2:
        raise DataError(
            f"{rows.path}: no columns of annotators recognised in {listed(rows.columns, 40)}; "
            "name them (annotators=, --annotator-columns)"
        )
    return tuple(annotators)


def _named(options: Layout) -> set[str]:
    single = {name for name in (options.item, options.gold) if name is not None}
    return single | set(options.text or ())


def _values(rows: Rows, name: str) -> set[str]:
    """The values of a column, without words for a missing value."""
    return {value for value in rows.columns[name].words if value.casefold() not in MISSING}


def _shares(rows: Rows, name: str, others: Iterable[str]) -> bool:
    """Whether a value of this column occurs in other columns too."""
    own = rows.columns[name].words - MISSING
    return any(not own.isdisjoint(rows.columns[other].words) for other in others if other != name)


def _check_kinds(rows: Rows, annotators: tuple[str, ...], options: Layout) -> None:
    """Refuse annotators of whom some answer in numbers only and some in words only."""
    first: dict[str, str] = {}
    for name in annotators:
        kind = "sets" if name in rows.sets else _kind(_values(rows, name))
        if kind is not None:
            first.setdefault(kind, name)
    kinds = [kind for kind in ("numbers", "words", "sets") if kind in first]
    if len(kinds) < 2 or (options.scale is not None and "sets" not in kinds):
        return
    clash = [f"{first[kind]!r} answers in {kind} ({_example(rows, first[kind])})" for kind in kinds]
    raise DataError(
        f"{rows.path}: {', '.join(clash)}; name the columns that are annotators (annotators=, "
        "--annotator-columns), or declare a scale that contains both (scale=, --scale)"
    )


def _kind(values: set[str]) -> str | None:
    numeric = [as_numbers([value]) is not None for value in values]
    if not numeric or (any(numeric) and not all(numeric)):
        return None  # "1", "2", "3+" go with either
    return "numbers" if all(numeric) else "words"


def _example(rows: Rows, name: str) -> str:
    values = _values(rows, name)
    column = rows.columns[name].values.to_pylist()
    value = next(value for value in column if value.strip() in values)
    return repr(value if len(value) <= 40 else value[:40] + "...")
