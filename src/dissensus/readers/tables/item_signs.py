"""Item signs: which of two columns whose pairs are unique is the item, and which the annotator."""

from __future__ import annotations

import re

import numpy as np

from dissensus.readers.tables.dependence import effect, from_function, is_function
from dissensus.readers.tables.explanations import FEW_VALUES, Explanation, is_mean, is_text
from dissensus.readers.tables.rows import Column, Rows

MANY_MORE = 3  # so many times more items than annotators
MORE_EVEN = 0.5  # the rows of items vary so much less in number than those of annotators
CLEARER = 0.05  # a difference between shares of variance that means something
SURE_EFFECT = 4.0  # standard errors
_ANNOTATOR = re.compile(
    r"(?i)(annotator|anno|ann|worker|rater|coder|judge|labell?er|user|turker|participant|expert|"
    r"reviewer|student|subject|person|crowd)[\W_]*(id[\W_]*)?[0-9a-f]+|\S+@\S+\.\S+|A[0-9A-Z]{11,}"
)
_ITEM = re.compile(
    r"(?i)(item|task|doc|document|sent|sentence|tweet|text|post|comment|image|img|clip|utt|q|hit|"
    r"example|unit|sample|instance)[\W_]*(id[\W_]*)?\d+|.+\.(jpe?g|png|gif|wav|mp3|mp4|txt|flac)|"
    r"https?://.+"
)
PERSONAL = frozenset(
    "male female man woman men women m f nonbinary non-binary other diverse transgender".split()
)


def which_is_the_item(
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


def reason_for(rows: Rows, item: str, annotator: str, explained: dict[str, Explanation]) -> str:
    """Why the first of both columns is the item."""
    signs = _strong_signs(rows, item, annotator, explained)
    signs = signs or _weak_signs(rows, item, annotator, explained)
    return next((reason for is_first, reason in signs if is_first), "by its name")


def is_spelled_like_names(column: Column) -> bool:
    """Whether cells are spelled as the names of items or annotators often are."""
    return _spelled(column, _ITEM) or _spelled(column, _ANNOTATOR)


def is_personal(column: Column) -> bool:
    """Whether all cells are words for a gender."""
    values = column.values.slice(0, 200).to_pylist()
    return {value.strip().casefold() for value in values} <= PERSONAL


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
        elif is_personal(column):
            signs.append((not of_one, f"{name!r} is a gender for each {owner!r}"))
        elif _is_label(column, answers):
            signs.append((of_one, f"{name!r} has the values of the answers"))
        elif _is_mean_of_one(column, answers, rows.columns[owner]):
            signs.append((of_one, f"{name!r} has the mean of the answers for each {owner!r}"))
    return signs


def _is_label(column: Column, answers: list[Column]) -> bool:
    """Whether a column has the values of an answer, and goes with it."""
    own = set(column.values.to_pylist())
    if len(own) > FEW_VALUES:
        return False
    for answer in answers:
        possible = set(answer.values.to_pylist())
        if own <= possible and 2 * len(own) >= len(possible) and goes_with(column, answer):
            return True
    return False


def goes_with(column: Column, answer: Column) -> bool:
    """Whether labels tell something about the answers with the same values."""
    sure = effect(answer, column)
    return from_function(column, answer).share < 0.9 or (sure.share > 0 and sure.z > SURE_EFFECT)


def _is_mean_of_one(column: Column, answers: list[Column], groups: Column) -> bool:
    numbers = column.numbers()
    ratings = [answer.numbers() for answer in answers]
    return numbers is not None and any(
        one is not None and is_mean(numbers, one, groups) for one in ratings
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
        if _unevenness(more) < MORE_EVEN * _unevenness(fewer):
            signs.append((first, f"every {name!r} has a similar number of rows"))
    differences = []
    for name, why in explained.items():
        if why.kind == "answer":
            by = [effect(rows.columns[name], groups) for groups in (a, b)]
            if max(one.z for one in by) > SURE_EFFECT:
                differences.append(by[0].share - by[1].share)
    if differences and abs(float(np.mean(differences))) > CLEARER:
        first = float(np.mean(differences)) > 0
        name = one if first else other
        signs.append((first, f"answers agree within {name!r}"))
    return signs


def _unevenness(column: Column) -> float:
    """How much the number of rows for each value varies: its coefficient of variation."""
    sizes = np.bincount(column.codes)
    return float(sizes.std() / sizes.mean())
