"""Metrics of the consensus: is the predicted label, or the predicted mean, that of annotators?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.metric import labels, ratings
from dissensus.metrics.statistics import Sums, divided
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel

F1 = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def correct(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """1 for each item whose predicted consensus is the observed one, else 0.

    The observed consensus is the most frequent value (nominal), the median level (ordinal), or the
    set of values that more than half of the annotators chose (multi-label, where the whole set must
    be right); of tied values the first on the scale. Gold labels may take the place of answers:
    values that the prediction's scale does not have are never right.

    Example:
        >>> correct(np.array([0, 1, 1]), np.array([0, 1, 0])).tolist()
        [1.0, 1.0, 0.0]
    """
    return (observed == predicted).astype(float)


def distance(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """How far the predicted consensus of each item is from the observed one, (n_common,).

    Medians in levels, mean ratings in units of the scale. nan where a gold label is a level that
    the prediction's scale does not have.
    """
    if isinstance(prediction.scale, Interval):
        observed, predicted = ratings(prediction, annotations)
        return np.asarray(np.abs(observed - predicted))
    observed, predicted = labels(prediction, annotations)
    known = observed < prediction.scale.n_columns
    return np.where(known, np.abs(observed - predicted), np.nan)


def macro_f1(right: np.ndarray, occurring: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The mean over values of F1, the harmonic mean of precision and recall.

    The mean runs over the values that occur as observed or as predicted consensus. Consensus and
    ties are as in `correct`. nan where no predicted item has answers.

    Args:
        right, occurring, true: how often each value is right, occurs (as truth and as prediction),
            and is the truth, (..., n_values); likewise of the next two.
    """
    each = 2 * right / np.maximum(occurring, 1)
    return divided(each.sum(axis=-1), (occurring > 0).sum(axis=-1).astype(float))


def micro_f1(right: np.ndarray, occurring: np.ndarray, true: np.ndarray) -> np.ndarray:
    """F1 of all items and values together; with one value per item it is the accuracy.

    Against gold labels it is the hard score of LeWiDi 2023.
    """
    return divided(2 * right.sum(axis=-1), occurring.sum(axis=-1))


def weighted_f1(right: np.ndarray, occurring: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The mean over values of F1, each value weighted by how often it is the consensus.

    As `macro_f1`, but rare values have little weight. nan where no predicted item has answers.
    """
    each = 2 * right / np.maximum(occurring, 1)
    return divided((each * true).sum(axis=-1), true.sum(axis=-1))


def f1_score(prediction: Prediction, annotations: Annotations, function: F1) -> float:
    """A function of how often each value is right, occurs and is true."""
    truth, predicted = labels(prediction, annotations)
    if isinstance(prediction.scale, MultiLabel):
        return f1_sums(prediction, annotations, function).score
    size = int(max(truth.max(initial=-1), predicted.max(initial=-1))) + 1
    right, true, chosen = (
        np.bincount(codes, minlength=size).astype(float)
        for codes in (truth[truth == predicted], truth, predicted)
    )
    return float(function(right, true + chosen, true))


def f1_sums(prediction: Prediction, annotations: Annotations, function: F1) -> Sums:
    """As `f1_score`, with what each item adds to the counts."""
    truth, predicted = labels(prediction, annotations)
    if isinstance(prediction.scale, MultiLabel):
        scale = prediction.scale
        true, chosen = (scale.one_hot(masks).astype(float) for masks in (truth, predicted))
    else:
        values = np.arange(max(truth.max(initial=-1), predicted.max(initial=-1)) + 1)
        true, chosen = ((codes[:, None] == values).astype(float) for codes in (truth, predicted))
    columns = np.concatenate([true * chosen, true + chosen, true], axis=1)
    return Sums(columns, lambda counts: function(*np.split(counts, 3, axis=1))[:, None])


def ccc(prediction: Prediction, annotations: Annotations) -> float:
    """Concordance of the predicted consensus with the mean rating of each item.

    1 is equality, 0 no relation, -1 the opposite; unlike a correlation it falls when the
    prediction is shifted or stretched. A constant prediction has 0. nan where undefined: fewer
    than two predicted items have ratings, or both sides are constant.

    Example:
        >>> from dissensus import Interval
        >>> answers = Annotations.from_rows(
        ...     [("t1", "ann", 2), ("t2", "ann", 4), ("t3", "ann", 6)], Interval(0, 10))
        >>> mass = answers.distribution()
        >>> shifted = Prediction(answers.scale, answers.items, mass, np.array([3.0, 5.0, 7.0]))
        >>> round(ccc(shifted, answers), 4)
        0.8889

    Reference: Lin (1989), doi:10.2307/2532051; with unbiased variances.
    """
    return concordance(*ratings(prediction, annotations))


def concordance(x: np.ndarray, y: np.ndarray) -> float:
    """Lin's concordance of two equally long arrays, 2 s_xy / (s_x^2 + s_y^2 + (m_x - m_y)^2).

    Variances and covariance are the unbiased ones, divided by n - 1, as in the loss "ccc" and in
    Tavernor et al. (2024); Lin, and the measure of agreement `concordance`, divide by n.
    nan where undefined: fewer than two entries, or both constant.
    """
    if len(x) < 2 or (np.ptp(x) == 0 and np.ptp(y) == 0):
        return float("nan")
    apart = x - x.mean(), y - y.mean()
    free = len(x) - 1
    covariance = apart[0] @ apart[1] / free
    variances = (apart[0] @ apart[0] + apart[1] @ apart[1]) / free
    return float(2 * covariance / (variances + (x.mean() - y.mean()) ** 2))


def concordance_of_sums(
    n: np.ndarray, x: np.ndarray, y: np.ndarray, xx: np.ndarray, yy: np.ndarray, xy: np.ndarray
) -> np.ndarray:
    """Lin's concordance from sums of ones, both sides, their squares and their product.

    nan where undefined: fewer than two entries, or both sides constant.
    """
    size, free = np.maximum(n, 1), np.maximum(n - 1, 1)
    spreads = ((xx - x * x / size) + (yy - y * y / size)) / free
    below = spreads + ((x - y) / size) ** 2
    varied = (n >= 2) & (spreads > 1e-12)
    together = 2 * (xy - x * y / size) / free
    return divided(together, np.where(varied, below, 0.0))


def concordance_by_group(x: np.ndarray, y: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
    """`concordance` within each group, (n,); `group` holds codes, (n_entries,).

    nan where undefined: fewer than two entries, or both sides constant.
    """
    size = np.bincount(group, minlength=n)
    means = [np.bincount(group, side, minlength=n) / np.maximum(size, 1) for side in (x, y)]
    apart = [side - mean[group] for side, mean in zip((x, y), means, strict=True)]

    def spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.bincount(group, a * b, minlength=n) / np.maximum(size - 1, 1)

    varied = np.zeros(n, dtype=bool)
    first = np.zeros(n, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]  # the first entry of each group
    varied[group[(x != x[first[group]]) | (y != y[first[group]])]] = True
    below = spread(apart[0], apart[0]) + spread(apart[1], apart[1]) + (means[0] - means[1]) ** 2
    return np.divide(2 * spread(*apart), below, out=np.full(n, np.nan), where=varied)
