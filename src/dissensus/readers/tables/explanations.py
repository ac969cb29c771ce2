"""Explanations: what each column of a long table depends on, once items and annotators are known.

A function of the item is its content, a label or an attribute; a function of the annotator is an
attribute; what numbers or dates the rows belongs to the assignment; the rest are answers, or free
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow.compute as pc

from dissensus.errors import counted
from dissensus.readers.separators import separator_name, separator_of, split_cell
from dissensus.readers.tables.answers import MISSING
from dissensus.readers.tables.column_names import is_about_answers
from dissensus.readers.tables.dependence import (
    FEW,
    from_function,
    from_key,
    is_function,
    n_exceptions,
    usual_codes,
)
from dissensus.readers.tables.rows import Column, Rows

Kind = Literal[
    "content", "label", "item", "annotator", "assignment", "text", "answer", "either", "blank",
    "unclear",
]  # fmt: skip
TAKEN_FOR: Mapping[str, str] = {
    "label": "label of the item",
    "item": "attribute of the item",
    "annotator": "attribute of the annotator",
    "assignment": "about the assignment",
    "text": "free text",
    "either": "answer, or about the assignment",
}
MOSTLY_BLANK = 0.95  # of the rows
TEXT_LENGTH = 20  # letters, on average, of a content
LONG_ANSWER = 60  # letters, on average: longer answers are free text
DIFFERENT = 0.5  # of the items: so many contents are different
USES = 3  # rows for each value of an answer in words, on average
USES_OF_FEW = 2  # the same, for at most FEW_VALUES
FEW_VALUES = 20
NEARLY_UNIQUE = 0.9  # of the rows
SKEWED = 5  # a largest number so many times the median is a duration, not a rating
LONG_TAIL = 1.3  # a mean so many times the median, of fractions
SCALE_ENDS = (1, 5, 7, 9, 10, 100)
LARGEST_RATING = 100
EPOCH = 1e8  # larger numbers are dates or ids
SAME = 0.98  # of the items with a majority: a column that has it so often is the majority
MOST = 0.9  # of the cells
KEY = 0.1  # repeated pairs, as a share of those by chance: below, a column numbers rows
FEWER_THAN_CHANCE = 0.5  # the same share: below, it is worth looking for copies of rows
_DATE = re.compile(r"\W*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2})")
_LOOKED_AT = 200  # values of a column whose spelling is looked at
_MOST_SPLIT = 2000  # values of a column that are split into sets


@dataclass(frozen=True)
class Explanation:
    """What a column is taken for, and why."""

    kind: Kind
    why: str

    @property
    def taken_for(self) -> str:
        return TAKEN_FOR.get(self.kind, self.kind)


def explain(
    rows: Rows, names: Iterable[str], items: Column, annotators: Column
) -> dict[str, Explanation]:
    """What each of these columns is taken for."""
    explained = {name: _explained(rows, name, items, annotators) for name in names}
    answers = {n: rows.columns[n] for n, one in explained.items() if one.kind == "answer"}
    for name, one in explained.items():
        if one.kind == "item":
            explained[name] = _label(rows.columns[name], answers, items) or one
    return explained


def _explained(rows: Rows, name: str, items: Column, annotators: Column) -> Explanation:
    column = rows.columns[name]
    n_filled = int((column.codes >= 0).sum())
    if not n_filled:
        return Explanation("blank", "no cell is filled in")
    if column.is_bytes:
        return Explanation("item", "bytes")
    if len(column.values) == 1 and n_filled == rows.n_rows:
        return Explanation("item", "the same in every row")
    of_item, of_annotator = is_function(column, items), is_function(column, annotators)
    if of_item and of_annotator:  # in an item with one row everything is constant
        of_item = len(items.values) < len(items)
    if of_item or of_annotator:
        n_wrong = n_exceptions(column, items if of_item else annotators)
        except_in = f", except in {counted(n_wrong, 'row')}" if n_wrong else ""
        if of_item and is_text(column) and len(column.values) >= DIFFERENT * len(items.values):
            return Explanation("content", f"a text for each item{except_in}")
        kind: Literal["item", "annotator"] = "item" if of_item else "annotator"
        return Explanation(kind, f"the same for each {kind}{except_in}")
    explanation = _of_neither(rows, name, items, annotators, n_filled)
    if explanation.kind in ("answer", "either") and is_about_answers(name):
        return Explanation("assignment", "about the answers, by its name")
    return explanation


def _of_neither(
    rows: Rows, name: str, items: Column, annotators: Column, n_filled: int
) -> Explanation:
    """What a column is that neither the item nor the annotator explains."""
    column = rows.columns[name]
    n_values, numbers = len(column.values), column.numbers()
    if name in rows.sets:
        return Explanation("answer", f"depends on neither: {counted(n_values, 'different set')}")
    if _is_date(column):
        return Explanation("assignment", "dates or times")
    if n_filled < (1 - MOSTLY_BLANK) * rows.n_rows:
        return Explanation("text" if is_text(column) else "unclear", "nearly always blank")
    if (sets := _of_separated(column, n_filled)) is not None:
        return sets
    if is_text(column) and n_values > NEARLY_UNIQUE * n_filled:
        return _of_words(column, n_filled)
    numbering = [_numbering(rows, column, "item", items)]
    numbering += [_numbering(rows, column, "annotator", annotators)]
    numbers_rows = [one for one in numbering if one is not None]
    surely = [one for one in numbers_rows if one.kind == "assignment"]
    if surely:
        return surely[0]
    if numbers is not None:
        by_values = _of_numbers(numbers[column.codes >= 0], n_values)
    elif n_values == rows.n_rows:
        by_values = Explanation("assignment", "another value in every row")
    else:
        by_values = _of_words(column, n_filled)
    return numbers_rows[0] if numbers_rows and by_values.kind == "answer" else by_values


def _numbering(rows: Rows, column: Column, kind: str, groups: Column) -> Explanation | None:
    """A column that numbers or divides the rows of each item or annotator.

    In a small table the answers may never be the same twice by accident: they are "either".
    """
    n_values = len(column.values)
    if column.first_blank is None and n_values < rows.n_rows:
        repeated = from_key(groups, column)
        if repeated.n_wrong and repeated.share < FEWER_THAN_CHANCE:
            repeated = from_key(groups, column, rows.columns.values())
        if repeated.by_chance >= FEW and repeated.share <= KEY:
            sure = repeated.is_no_accident or counts_within(column, groups)
            why = f"never the same twice for one {kind}"
            return Explanation("assignment" if sure else "either", why)
    divided = from_function(groups, column)
    if n_values > len(groups.values) and divided.by_chance >= FEW and is_function(groups, column):
        why = f"each value belongs to one {kind}"
        return Explanation("assignment" if divided.is_no_accident else "either", why)
    return None


def counts_within(column: Column, groups: Column) -> bool:
    """Whether a column counts the rows of each group, from 0 or from 1, in any order."""
    numbers = column.numbers()
    if numbers is None or numbers.min() not in (0, 1) or _are_fractions(numbers):
        return False
    largest = np.zeros(len(groups.values))
    np.maximum.at(largest, groups.codes, numbers - numbers.min() + 1)
    return bool((largest <= np.bincount(groups.codes)).all())


# ---- what values say ----


def _of_numbers(numbers: np.ndarray, n_values: int) -> Explanation:
    largest, fractions = float(np.abs(numbers).max()), _are_fractions(numbers)
    if np.abs(numbers).min() > EPOCH:
        return Explanation("assignment", "large numbers: dates or ids")
    bounded = largest <= LARGEST_RATING
    if n_values > FEW_VALUES and _may_be_durations(numbers):
        why = "a few large numbers among small ones: durations?"
        sure = not bounded or (numbers.min() > 0 and fractions)
        return Explanation("assignment" if sure else "either", why)
    if n_values > NEARLY_UNIQUE * len(numbers) and not (fractions and largest <= 1):
        n_different = np.unique(numbers).size
        without_gap = numbers.max() - numbers.min() + 1 == n_different == len(numbers)
        sure = not bounded or (without_gap and not fractions)
        return Explanation("assignment" if sure else "either", "another number in nearly every row")
    if n_values > FEW_VALUES and not bounded:
        return Explanation("unclear", f"{n_values:,} different numbers: ratings or measurements?")
    return Explanation("answer", f"depends on neither: {counted(n_values, 'different number')}")


def _may_be_durations(numbers: np.ndarray) -> bool:
    """Whether positive numbers are skewed and do not end where a scale does."""
    if numbers.min() < 0 or numbers.max() in SCALE_ENDS or numbers.max() <= 1:
        return False
    median = float(np.median(numbers))
    long_tail = _are_fractions(numbers) and numbers.mean() > LONG_TAIL * median
    return bool(long_tail or numbers.max() > SKEWED * median)


def _are_fractions(numbers: np.ndarray) -> bool:
    return bool((numbers % 1 != 0).any())


def _of_separated(column: Column, n_filled: int) -> Explanation | None:
    """Cells such as "joy|fear": sets whose values are used several times, however rare a set is."""
    texts = column.values.slice(0, _MOST_SPLIT).to_pylist()
    separator = separator_of(texts)
    if separator is None:
        return None
    n_values = len({value for text in texts for value in split_cell(text, separator)})
    if n_filled < USES * n_values:
        return None
    what = f"sets of {counted(n_values, 'value')}, separated by {separator_name(separator)}"
    return Explanation("answer", f"depends on neither: {what}")


def _of_words(column: Column, n_filled: int) -> Explanation:
    n_values = len(column.values)
    if n_filled < (USES_OF_FEW if n_values <= FEW_VALUES else USES) * n_values:
        return Explanation("text", f"{n_values:,} different in {n_filled:,} rows")
    if _mean_length(column) > LONG_ANSWER:
        return Explanation("text", "long texts")
    return Explanation("answer", f"depends on neither: {counted(n_values, 'different value')}")


def is_text(column: Column) -> bool:
    """Whether a column contains texts of several words."""
    if column.is_bytes or not len(column.values):
        return False
    sample = column.values.slice(0, _LOOKED_AT)
    several = pc.mean(pc.match_substring(pc.utf8_trim_whitespace(sample), " ")).as_py()
    return bool(several > DIFFERENT and _mean_length(column) >= TEXT_LENGTH)


def _mean_length(column: Column) -> float:
    return float(pc.mean(pc.utf8_length(column.values.slice(0, _LOOKED_AT))).as_py())


def _is_date(column: Column) -> bool:
    values = column.values.slice(0, _LOOKED_AT).to_pylist()
    dates = [bool(_DATE.match(value)) for value in values if value.casefold() not in MISSING]
    return bool(dates) and float(np.mean(dates)) > MOST


# ---- labels of items, on the scale of the answers ----


def _label(column: Column, answers: Mapping[str, Column], items: Column) -> Explanation | None:
    """A column with a value of an answer, or with a mean of answers, for each item."""
    for name, answer in answers.items():
        if is_mean(column, answer, items):
            return Explanation("label", f"the mean of {name!r}")
        if len(column.values) < 2 or not has_values_of(column, answer):
            continue
        usual, labels = usual_codes(answer, items), usual_codes(column, items)
        clear = (usual >= 0) & (labels >= 0) & _undisputed(answer, usual, items)
        words = np.array([*answer.values.to_pylist(), None], dtype=object)
        own_words = np.array([*column.values.to_pylist(), None], dtype=object)
        same = (words[usual] == own_words[labels])[clear]
        if len(same) and same.mean() >= SAME:
            return Explanation("label", f"the majority of {name!r}")
        if from_function(column, answer).share < 0.9:
            return Explanation("label", f"has the values of {name!r}: gold labels or a model?")
    return None


def has_values_of(column: Column, answer: Column) -> bool:
    """Whether all values are those of an answer, and at least half of them."""
    own, values = set(column.values.to_pylist()), set(answer.values.to_pylist())
    return own <= values and 2 * len(own) >= len(values)


def _undisputed(answer: Column, usual: np.ndarray, items: Column) -> np.ndarray:
    """Whether more than half of the answers to an item are its most frequent one, (n_items,)."""
    there = answer.codes >= 0
    n_answers = np.bincount(items.codes[there], minlength=len(items.values))
    agree = there & (usual[items.codes] == answer.codes)
    return np.asarray(2 * np.bincount(items.codes[agree], minlength=len(items.values)) > n_answers)


def is_mean(column: Column, answer: Column, items: Column) -> bool:
    """Whether a column is the mean of the answers to each item, up to rounding."""
    numbers, answers = column.numbers(), answer.numbers()
    if numbers is None or answers is None:
        return False
    there = ~np.isnan(answers)
    n_items = len(items.values)
    n_answers = np.bincount(items.codes[there], minlength=n_items)
    sums = np.bincount(items.codes[there], answers[there], minlength=n_items)
    means = (sums / np.maximum(n_answers, 1))[items.codes]
    known = ~np.isnan(numbers) & (n_answers[items.codes] > 0)
    close = np.abs(numbers - means)[known] <= 0.0101 * max(1.0, np.nanstd(answers))
    return bool(known.any() and close.mean() > MOST and np.unique(means[known]).size > 2)
