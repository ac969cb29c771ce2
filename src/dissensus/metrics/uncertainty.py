"""Is a method uncertain where annotators disagree, and how peaked is a soft label?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import distributions
from dissensus.metrics.statistics import Sums, correlation
from dissensus.prediction import Prediction

EVEN = 1e-12  # entropies and masses that differ by less count as the same


def entropy_correlation(prediction: Prediction, annotations: Annotations) -> float:
    """Pearson's correlation over items of the observed and the predicted entropy.

    1 where the prediction is least certain exactly where annotators disagree most, whatever it
    predicts. nan where undefined: fewer than two predicted items have answers, or either side has
    the same entropy everywhere.

    Reference: Uma et al. (2021), doi:10.1613/jair.1.12752; likewise `entropy_similarity`.
    """
    observed, predicted = _entropies(prediction, annotations)
    if len(observed) < 2 or np.ptp(observed) < EVEN or np.ptp(predicted) < EVEN:
        return float("nan")
    return _cosine(observed - observed.mean(), predicted - predicted.mean())


def entropy_similarity(prediction: Prediction, annotations: Annotations) -> float:
    """The cosine of the observed and the predicted entropies over items, 0 to 1.

    nan where undefined: no predicted item has answers, annotators are unanimous about every item,
    or the prediction is certain of every item.
    """
    observed, predicted = _entropies(prediction, annotations)
    if observed.max(initial=0) < EVEN or predicted.max(initial=0) < EVEN:
        return float("nan")
    return _cosine(observed, predicted)


def entropy_correlation_sums(prediction: Prediction, annotations: Annotations) -> Sums:
    """`entropy_correlation` as a function of sums over items."""
    return correlation(*_entropies(prediction, annotations))


def entropy_similarity_sums(prediction: Prediction, annotations: Annotations) -> Sums:
    """`entropy_similarity` as a function of sums over items."""
    x, y = _entropies(prediction, annotations)

    def cosine(sums: np.ndarray) -> np.ndarray:
        below = np.sqrt(np.maximum(sums[:, 1:2] * sums[:, 2:], 0))
        return np.divide(sums[:, :1], below, out=np.full_like(below, np.nan), where=below > EVEN)

    return Sums(np.stack([x * y, x * x, y * y], axis=1), cosine)


def entropy(distribution: np.ndarray) -> np.ndarray:
    """The entropy of each row in nats, (n,): 0 sure, ln(n_values) even; nan where it holds nan."""
    logs = np.log(np.where(distribution > 0, distribution, 1))
    return np.abs((distribution * logs).sum(axis=1))  # not -0.0


def normalised_entropy(distribution: np.ndarray) -> np.ndarray:
    """The entropy of each row as a share of the highest possible, (n,): 0 sure, 1 even.

    nan where there is only one value.

    Example:
        >>> normalised_entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
        [1.0, 0.0]
    """
    if distribution.shape[1] < 2:
        return np.full(len(distribution), np.nan)
    return entropy(distribution) / np.log(distribution.shape[1])


def excess_kurtosis(distribution: np.ndarray) -> np.ndarray:
    """How peaked each soft label is, (n,): the kurtosis of its masses minus 3 (Fisher's).

    With population moments over the values. Highest where all mass is on one value; with two
    values always -2, so that it tells nothing. nan where all values have the same mass.

    Args:
        distribution: mass over values, (n, n_values).

    Example:
        >>> round(float(excess_kurtosis(np.eye(12)[:1])[0]), 4)
        7.0909

    Reference: Fornaciari et al. (2021), doi:10.18653/v1/2021.naacl-main.204, Table 3.
    """
    apart = distribution - distribution.mean(axis=1, keepdims=True)
    variance = (apart**2).mean(axis=1)
    peaked = np.abs(apart).max(axis=1, initial=0) > EVEN
    fourth = (apart**4).mean(axis=1)
    ratio = np.full(len(variance), np.nan)
    return np.divide(fourth, variance**2, out=ratio, where=peaked) - 3


def _entropies(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    observed, predicted = distributions(prediction, annotations)
    return normalised_entropy(observed), normalised_entropy(predicted)


def _cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))
