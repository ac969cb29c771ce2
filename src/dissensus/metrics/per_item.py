"""What each item adds to a soft metric: functions of the people's shares and the predicted ones.

Both are (n_items, ..., n_values), and the last axis sums to 1; the result lacks it. Of sets
(multi-label) each value is a distribution of its own, chosen or not, on an axis between.
"""

from __future__ import annotations

import numpy as np

from dissensus.scales import Interval, Scale

SMALLEST = 1e-12  # a probability below it counts as this, so that logarithms are finite


def cross_entropy(people: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """-sum p ln q."""
    surprise = people * np.log(np.maximum(predicted, SMALLEST))
    return 0.0 - surprise.sum(axis=-1)  # 0.0 and not -0.0


def divergence(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """sum a ln(a / b); a value with a = 0 adds nothing."""
    ratio = np.where(first > 0, first, 1) / np.where(first > 0, np.maximum(second, SMALLEST), 1)
    return (first * np.log(ratio)).sum(axis=-1)


def jsd(people: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Half the divergences of both from their average."""
    middle = (people + predicted) / 2
    return (divergence(people, middle) + divergence(predicted, middle)) / 2


def manhattan(people: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum |p - q|."""
    return np.abs(people - predicted).sum(axis=-1)


def common(people: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum min(p, q)."""
    return np.minimum(people, predicted).sum(axis=-1)


def moved(people: np.ndarray, predicted: np.ndarray, scale: Scale) -> np.ndarray:
    """The mass times distance that turns one into the other; of ratings the ends are -1 and 1."""
    step = 2 / scale.n_bins if isinstance(scale, Interval) else 1.0
    return np.abs(np.cumsum(people - predicted, axis=1))[:, :-1].sum(axis=1) * step
