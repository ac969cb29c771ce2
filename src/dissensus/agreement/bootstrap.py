"""Confidence intervals: how much a measure would vary with other items of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dissensus.agreement.measure import Measure
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names

BLOCK = 1 << 22  # item weights at a time


class ConfidenceInterval(NamedTuple):
    """The two ends, and in how many resamples the measure was undefined and left out."""

    low: float
    high: float
    undefined: int


def bootstrap(
    measure: Measure | Callable[[Annotations], float],
    annotations: Annotations,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> ConfidenceInterval:
    """A percentile bootstrap interval over items: draw as many items again, with replacement.

    An item keeps all its answers. A `Measure` is computed from item weights, without copying
    rows; any other function is called on the drawn answers. nan where no resample has a value.

    Reference: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    if not 0 < level < 1:
        raise DataError(f"a level lies between 0 and 1, found {level:g}")
    if resamples < 1:
        raise DataError(f"an interval needs resamples, found {resamples}")
    answered = np.flatnonzero(annotations.per_item())
    generator = np.random.default_rng(seed)
    if isinstance(measure, Measure):
        estimate = measure.prepare(annotations)
        draws = _weights(answered, annotations.n_items, resamples, generator)
        found = np.concatenate([estimate(weight) for weight in draws])
    else:
        function, rows = measure, _Rows.of(annotations)
        drawn = (generator.choice(answered, len(answered)) for _ in range(resamples))
        found = np.array([function(rows.take(items)) for items in drawn])
    defined = found[~np.isnan(found)]
    if not defined.size:
        return ConfidenceInterval(float("nan"), float("nan"), resamples)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return ConfidenceInterval(float(low), float(high), resamples - len(defined))


def _weights(
    answered: np.ndarray, n_items: int, resamples: int, generator: np.random.Generator
) -> Iterator[np.ndarray]:
    """How often each item is drawn, (n_draws, n_items) at a time."""
    n = len(answered)
    step = max(1, BLOCK // max(n_items, 1))
    for begin in range(0, resamples, step):
        draws = min(step, resamples - begin)
        weight = np.zeros((draws, n_items))
        if n:
            place = generator.integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
            weight[:, answered] = np.bincount(place.ravel(), minlength=draws * n).reshape(draws, n)
        yield weight


class _Rows(NamedTuple):
    """The rows of each item, to take items several times."""

    annotations: Annotations
    order: np.ndarray  # (n_rows,) rows, one item after another
    begin: np.ndarray  # (n_items,)
    size: np.ndarray  # (n_items,)

    @classmethod
    def of(cls, annotations: Annotations) -> _Rows:
        size = np.bincount(annotations.item, minlength=annotations.n_items)
        order = np.argsort(annotations.item, kind="stable")
        return cls(annotations, order, np.cumsum(size) - size, size)

    def take(self, items: np.ndarray) -> Annotations:
        """Annotations of these items; one that stands twice is two items."""
        size = self.size[items]
        new = np.repeat(np.arange(len(items)), size)
        within = np.arange(len(new)) - (np.cumsum(size) - size)[new]
        rows = self.annotations.take(self.order[self.begin[items][new] + within])
        return replace(rows, item=new, items=Names.range(len(items)))
