"""Confidence intervals: how much a measure would vary with other items of the same kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dissensus.agreement.measure import Estimate, Measure
from dissensus.annotations import Annotations
from dissensus.errors import DataError

MOST_GROUPS = 1000  # of items, left out one group after another; for functions without a shortcut


class ConfidenceInterval(NamedTuple):
    """The two ends; both nan where there is no interval."""

    low: float
    high: float


def jackknife(
    measure: Measure | Callable[[Annotations], float],
    annotations: Annotations,
    level: float = 0.95,
) -> ConfidenceInterval:
    """A jackknife interval over items: leave out one item, with all its answers, after another.

    The standard error comes from how much the measure changes, the width from Student's t with
    one degree of freedom less than there are items. A `Measure` that is at most 1 is taken as the
    logarithm of its distance from 1, because it varies less the nearer it is to 1. Any other
    function has a symmetric interval; it is called without each item or, above 1,000 items,
    without each of 1,000 random groups of them.

    Reference: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11.
    """
    if not 0 < level < 1:
        raise DataError(f"a level lies between 0 and 1, found {level:g}")
    items = np.flatnonzero(annotations.per_item())
    if isinstance(measure, Measure):
        return jackknife_of(measure.prepare(annotations), items, measure.bounds, level)
    unbounded = (-math.inf, math.inf)
    return _around(measure(annotations), _called(measure, annotations, items), unbounded, level)


def jackknife_of(
    estimate: Estimate,
    items: np.ndarray,
    bounds: tuple[float, float],
    level: float = 0.95,
) -> ConfidenceInterval:
    """`jackknife` of an estimate, over these items (codes)."""
    return _around(estimate.value(), estimate.without_each()[items], bounds, level)


def _around(
    value: float, without: np.ndarray, bounds: tuple[float, float], level: float
) -> ConfidenceInterval:
    n = len(without)
    if n < 2 or np.isnan(without).any():
        return ConfidenceInterval(math.nan, math.nan)
    return jackknife_from(value, n, float(((without - without.mean()) ** 2).sum()), bounds, level)


def jackknife_from(
    value: float, n: int, squares: float, bounds: tuple[float, float], level: float = 0.95
) -> ConfidenceInterval:
    """`jackknife` from the squared deviations of the values without each of n items, summed."""
    from scipy.special import stdtrit

    error = math.sqrt((n - 1) / n * squares)
    return _within(value, error * float(stdtrit(n - 1, (1 + level) / 2)), bounds)


def _within(value: float, half: float, bounds: tuple[float, float]) -> ConfidenceInterval:
    """The interval around a value, half as wide as `half` where the value has no upper bound."""
    least, most = bounds
    low, high = value - half, value + half
    distance = most - value
    if math.isfinite(most) and distance > 0:
        factor = math.exp(min(half / distance, 700.0))
        low, high = most - distance * factor, most - distance / factor
    return ConfidenceInterval(min(value, max(low, least)), max(value, min(high, most)))


def _called(
    measure: Callable[[Annotations], float], annotations: Annotations, items: np.ndarray
) -> np.ndarray:
    """The measure without each item, or without each group of items."""
    shuffled = np.random.default_rng(0).permutation(items)
    kept = np.ones(annotations.n_items, dtype=bool)
    values = []
    for group in np.array_split(shuffled, min(len(items), MOST_GROUPS)) if len(items) else []:
        kept[group] = False
        values.append(measure(annotations.take(kept[annotations.item])))
        kept[group] = True
    return np.array(values)
