"""Agreement of ratings: how far apart they are, and how much of their variance items explain."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from dissensus.agreement.estimates import (
    Estimate,
    OfSums,
    measure,
    numbers,
    own_disagreement,
    ratio,
    undefined,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval

Form = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]


@measure
def mean_difference(annotations: Annotations) -> Estimate:
    """How far apart two ratings of an item are on average, mean over items, in own units.

    0 is perfect agreement; what chance gives is not taken off. Every item with two annotators
    or more counts the same. nan where there is none. Ratings only.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 5), ("t1", "cleo", 5)]
        >>> mean_difference(Annotations.from_rows(rows, Interval(0, 10)))
        2.0
    """
    if not isinstance(annotations.scale, Interval):
        raise DataError(f"a mean difference needs ratings, not {annotations.scale.kind} answers")
    n = annotations.voters().astype(float)  # (n_items,)
    order = np.lexsort((annotations.answer, annotations.item))
    item, rating = annotations.item[order], annotations.answer[order]
    votes = annotations.votes[order]
    first = (np.cumsum(n) - n)[item]  # votes on all items before this one
    below = np.cumsum(votes) - votes - first  # of the item: lower, or equal and before
    above = n[item] - below - votes
    whole = np.bincount(item, votes * (below - above) * rating, minlength=len(n))
    answer = annotations.answer
    apart = whole - own_disagreement(annotations, lambda a, b: np.abs(answer[a] - answer[b])) / 2
    several = n >= 2
    mean = np.where(several, apart / np.where(several, n * (n - 1) / 2, 1.0), 0.0)
    return OfSums.of((mean, several.astype(float)), ratio)


@measure
def icc(annotations: Annotations, form: Form = "icc2") -> Estimate:
    """The intraclass correlation of ratings or levels (read at their positions).

    1 is perfect agreement; about 0 where items differ no more than one item's ratings do; it may
    be negative. The forms are those of Shrout and Fleiss:

    - "icc1", their (1,1): each item is rated by other annotators, who need not be known. Any
      numbers of ratings per item.
    - "icc2", their (2,1): the same annotators, drawn from many, rate every item; leniency is
      disagreement.
    - "icc3", their (3,1): the same annotators, only these are of interest; leniency does not
      count.
    - "icc1k", "icc2k", "icc3k": the same for the mean of an item's k ratings.

    nan where undefined: fewer than two items, no item with two ratings, or all ratings are the
    same; for the k forms also where all items have the same mean; for "icc2", "icc3" and their k
    forms where not every annotator rated every item once; for "icc1k" where items have different
    numbers of ratings.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> ratings = Annotations.from_rows(rows, Interval(0, 10))
        >>> round(icc(ratings, "icc2"), 4), round(icc(ratings, "icc3"), 4)
        (0.6842, 1.0)

    Reference: Shrout and Fleiss (1979), doi:10.1037/0033-2909.86.2.420.
    """
    if form not in get_args(Form):
        raise DataError(f"no form {form!r} of ICC; there are {', '.join(get_args(Form))}")
    number = numbers(annotations.scale, annotations.answer, "ICC")
    if form in ("icc1", "icc1k"):
        if form == "icc1k" and not same_number(annotations):
            return undefined(annotations)
        return _one_way(annotations, number, form == "icc1k")
    annotations.annotator_codes(f"ICC form {form}")
    if not annotations.n_rows or not crossed(annotations):
        return undefined(annotations)
    return _two_way(annotations, number, form)


def equal_means(annotations: Annotations) -> bool:
    """Whether the mean rating of all items with ratings is the same, up to rounding."""
    number = numbers(annotations.scale, annotations.answer, "ICC")
    size = annotations.voters()
    total = np.bincount(annotations.item, annotations.votes * number, minlength=len(size))
    mean = total[size > 0] / size[size > 0]
    return not mean.size or bool(np.ptp(mean) <= 1e-13 * np.abs(number).max())


def same_number(annotations: Annotations) -> bool:
    """Whether all items with ratings have as many annotators."""
    n = annotations.voters()
    n = n[n > 0]
    return not n.size or bool((n == n[0]).all())


def crossed(annotations: Annotations) -> bool:
    """Whether every annotator rated every item once; those without ratings are left aside."""
    if annotations.repeated is not None:
        return False
    n_items = np.count_nonzero(annotations.per_item())
    return n_items * np.count_nonzero(annotations.per_annotator()) == annotations.n_rows


def _one_way(annotations: Annotations, number: np.ndarray, mean: bool) -> Estimate:
    least, item, votes = _rounding(number), annotations.item, annotations.votes
    number = _centred(number, votes)
    size = annotations.voters().astype(float)
    total = np.bincount(item, votes * number, minlength=len(size)).astype(float, copy=False)
    mean_rating = total / np.maximum(size, 1)  # (n_items,)
    within = np.bincount(item, votes * (number - mean_rating[item]) ** 2, minlength=len(size))
    # what is between the answers of one annotator is not between annotators: as if one were drawn
    own = own_disagreement(annotations, lambda a, b: (number[a] - number[b]) ** 2, alone=True) / 2
    moved = own / np.maximum(size, 1)

    def formula(
        n_items: np.ndarray,
        n: np.ndarray,
        squared_size: np.ndarray,
        total: np.ndarray,
        squared_total: np.ndarray,
        within: np.ndarray,
        own: np.ndarray,
    ) -> np.ndarray:
        between = ratio(_less(squared_total, ratio(total**2 + own, n), least), n_items - 1)
        within = ratio(within, n - n_items)
        if mean:
            return _quotient(between - within, between)
        per_item = ratio(n - ratio(squared_size, n), n_items - 1)
        return _quotient(between - within, between, (per_item - 1) * within)

    answered, squared = (size > 0).astype(float), total * mean_rating + moved
    return OfSums.of((answered, size, size**2, total, squared, within - moved, own), formula)


def _two_way(annotations: Annotations, number: np.ndarray, form: Form) -> Estimate:
    """Leniency is taken off first, so that one high rater does not cost all others their digits."""
    least = _rounding(number)
    answered = annotations.per_item() > 0
    annotators, column = np.unique(annotations.annotator_codes("ICC"), return_inverse=True)
    table = np.zeros((annotations.n_items, len(annotators)))
    table[annotations.item, column.reshape(-1)] = _centred(number, annotations.weight)
    lenient = table[answered].mean(axis=0) if answered.any() else np.zeros(table.shape[1])
    table = np.where(answered[:, None], table - lenient, 0.0)  # (n_items, k)
    k = table.shape[1]
    total = table.sum(axis=1)
    within = ((table - (total / max(k, 1))[:, None]) ** 2).sum(axis=1)

    def formula(
        n_items: np.ndarray,
        total: np.ndarray,
        squared_total: np.ndarray,
        within: np.ndarray,
        columns: np.ndarray,  # (n, k)
    ) -> np.ndarray:
        grand = ratio(total**2, n_items * k)
        between = ratio(_less(squared_total / k, grand, least), n_items - 1)
        means = ratio(columns, n_items[:, None])  # of annotators, less their leniency
        moved = n_items * ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        error = ratio(_less(within, moved, least), (n_items - 1) * (k - 1))
        if form == "icc3":
            return _quotient(between - error, between, (k - 1) * error)
        if form == "icc3k":
            return _quotient(between - error, between)
        means = means + lenient
        spread = n_items * ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        off = ratio(ratio(spread, np.full(len(total), k - 1.0)), n_items), -ratio(error, n_items)
        if form == "icc2k":
            return _quotient(between - error, between, *off)
        return _quotient(between - error, between, (k - 1) * error, k * off[0], k * off[1])

    return OfSums.of((answered.astype(float), total, total**2, within, table), formula)


def _centred(number: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Ratings less their mean: sums of squares keep their digits."""
    if not number.size:
        return number
    number = number - number[0]
    return np.asarray(number - np.average(number, weights=weight))


def _rounding(number: np.ndarray) -> float:
    """The largest sum of squares that may be nothing but the rounding of these ratings."""
    return float(len(number) * (1e-14 * np.abs(number).max(initial=0.0)) ** 2)


def _less(a: np.ndarray, b: np.ndarray, least: float) -> np.ndarray:
    """a - b of sums of squares; 0 where that is nothing but rounding."""
    return np.where(np.abs(a - b) > np.maximum(1e-12 * np.abs(a), least), a - b, 0.0)


def _quotient(above: np.ndarray, *below: np.ndarray) -> np.ndarray:
    """above / the sum of below; nan where that is 0, or nothing but rounding."""
    size = np.abs(below).sum(axis=0)
    total = np.sum(below, axis=0)
    return np.asarray(above / np.where(np.abs(total) > 1e-12 * size, total, np.nan))
