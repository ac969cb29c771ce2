"""ICC: which part of the variance of ratings is between items."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from dissensus.agreement.measure import Estimate, ratio, summed, whole
from dissensus.agreement.weights import numbers
from dissensus.annotations import Annotations
from dissensus.errors import DataError

Form = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]


def icc(annotations: Annotations, form: Form = "icc2") -> float:
    """The intraclass correlation of ratings or levels (read at their positions).

    1 is perfect agreement; about 0 where items differ no more than one item's ratings do; it may
    be negative. The forms are those of Shrout and Fleiss:

    - "icc1", their (1,1): each item is rated by other people. Any numbers of ratings per item;
      who gave them does not matter.
    - "icc2", their (2,1): the same people, drawn from many, rate every item; leniency counts as
      disagreement.
    - "icc3", their (3,1): the same people, and only these are of interest; leniency does not
      count.
    - "icc1k", "icc2k", "icc3k": the same for the mean of an item's k ratings.

    nan where undefined: fewer than two items, no item with two ratings, or all ratings are the
    same; for "icc2", "icc3" and their k forms also where not everybody rated every item once, for
    "icc1k" where items have different numbers of ratings.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> ratings = Annotations.from_rows(rows, Interval(0, 10))
        >>> round(icc(ratings, "icc2"), 4), round(icc(ratings, "icc3"), 4)
        (0.6842, 1.0)

    Reference: Shrout and Fleiss (1979), doi:10.1037/0033-2909.86.2.420.
    """
    return whole(lambda a: prepare_icc(a, form), annotations)


def prepare_icc(annotations: Annotations, form: Form = "icc2") -> Estimate:
    """`icc` for weighted items."""
    if form not in get_args(Form):
        raise DataError(f"no form {form!r} of ICC; there are {', '.join(get_args(Form))}")
    sums = _sums(annotations)
    if form in ("icc1", "icc1k"):
        if form == "icc1k" and not same_number(annotations):
            return _undefined
        return lambda weight: _one_way(sums, weight, mean=form == "icc1k")
    annotations.who(f"ICC form {form}")
    if not crossed(annotations):
        return _undefined
    table = _table(annotations, sums.number)
    return lambda weight: _two_way(sums, table, weight, form)


def same_number(annotations: Annotations) -> bool:
    """Whether all items with ratings have as many."""
    n = annotations.per_item()
    n = n[n > 0]
    return not n.size or bool((n == n[0]).all())


def crossed(annotations: Annotations) -> bool:
    """Whether everybody rated every item once; items and people without ratings aside."""
    if annotations.repeats and _has_repeats(annotations):
        return False
    n_items = np.count_nonzero(annotations.per_item())
    return n_items * np.count_nonzero(annotations.per_annotator()) == annotations.n_rows


def _has_repeats(annotations: Annotations) -> bool:
    key = annotations.item.astype(np.int64) * annotations.n_annotators + annotations.who("ICC")
    return len(np.unique(key)) < len(key)


class _Sums(NamedTuple):
    """Per item, (n_items,) each; `number` (n_rows,) is what was rated, less the mean of all."""

    number: np.ndarray
    answered: np.ndarray
    size: np.ndarray
    total: np.ndarray
    between: np.ndarray  # squared total / size
    within: np.ndarray  # squared distances from the item's mean


def _sums(annotations: Annotations) -> _Sums:
    number = numbers(annotations.scale, annotations.answer, "ICC")
    item, people = annotations.item, annotations.weight
    if number.size:  # sums of squares keep their digits
        number = number - number[0]
        number = number - np.average(number, weights=people)
    size = annotations.per_item().astype(float)
    total = np.bincount(item, people * number, minlength=len(size)).astype(float, copy=False)
    mean = total / np.maximum(size, 1)
    within = np.bincount(item, people * (number - mean[item]) ** 2, minlength=len(size))
    return _Sums(number, (size > 0).astype(float), size, total, total * mean, within.astype(float))


def _table(annotations: Annotations, number: np.ndarray) -> np.ndarray:
    """Ratings as (n_items, n_people); 0 where items have none."""
    people, who = np.unique(annotations.who("ICC"), return_inverse=True)
    table = np.zeros((annotations.n_items, len(people)))
    table[annotations.item, who.reshape(-1)] = number
    return table


def _undefined(weight: np.ndarray) -> np.ndarray:
    return np.full(len(weight), np.nan)


def _one_way(sums: _Sums, weight: np.ndarray, mean: bool) -> np.ndarray:
    n_items, n = summed(weight, sums.answered), summed(weight, sums.size)
    grand = ratio(summed(weight, sums.total) ** 2, n)
    between = ratio(_less(summed(weight, sums.between), grand), n_items - 1)
    within = ratio(summed(weight, sums.within), n - n_items)
    if mean:
        return _quotient(between - within, between)
    per_item = ratio(n - ratio(summed(weight, sums.size**2), n), n_items - 1)
    return _quotient(between - within, between + (per_item - 1) * within)


def _two_way(sums: _Sums, table: np.ndarray, weight: np.ndarray, form: Form) -> np.ndarray:
    n_items, k = summed(weight, sums.answered), table.shape[1]
    grand = ratio(summed(weight, sums.total) ** 2, n_items * k)
    between = ratio(_less(summed(weight, sums.between), grand), n_items - 1)
    people = _less(ratio((summed(weight, table) ** 2).sum(axis=1), n_items), grand)
    error = ratio(_less(summed(weight, sums.within), people), (n_items - 1) * (k - 1))
    people = ratio(people, np.full(len(weight), k - 1.0))
    if form == "icc2":
        lenient = k * ratio(people - error, n_items)
        return _quotient(between - error, between + (k - 1) * error + lenient)
    if form == "icc3":
        return _quotient(between - error, between + (k - 1) * error)
    lenient = ratio(people - error, n_items) if form == "icc2k" else np.zeros(len(weight))
    return _quotient(between - error, between + lenient)


def _less(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b of sums of squares; 0 where that is nothing but rounding."""
    return np.where(a - b > 1e-12 * a, a - b, 0.0)


def _quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below; nan where below is 0."""
    return above / np.where(below == 0, np.nan, below)
