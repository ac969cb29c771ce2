"""Metrics for ratings: does the predicted mean follow the mean of the answers?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import ratings
from dissensus.prediction import Prediction


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
    Tavernor et al. (2024); Lin, and the measure of agreement `mean_concordance`, divide by n.
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
    n: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    xx: np.ndarray,
    yy: np.ndarray,
    xy: np.ndarray,
) -> np.ndarray:
    """Lin's concordance from sums of ones, both sides, their squares and their product.

    nan where undefined: fewer than two entries, or both sides constant.
    """
    size, free = np.maximum(n, 1), np.maximum(n - 1, 1)
    spreads = ((xx - x * x / size) + (yy - y * y / size)) / free
    below = spreads + ((x - y) / size) ** 2
    varied = (n >= 2) & (spreads > 1e-12)
    together = 2 * (xy - x * y / size) / free
    return np.divide(together, below, out=np.full(n.shape, np.nan), where=varied)


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
