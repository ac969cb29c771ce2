"""Aggregates of ratings: the mean, the median, and a model of biased and noisy annotators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, labelled
from dissensus.annotations import Annotations
from dissensus.scales import Interval


@dataclass(eq=False)
class Mean(Aggregator):
    """The mean rating; the distribution is people's own, on the grid."""

    name: ClassVar[str] = "mean"
    scales: ClassVar[tuple[str, ...]] = ("interval",)
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        return annotations.consensus()


@dataclass(eq=False)
class Median(Aggregator):
    """The median rating (the mean of the two middle ones); of levels, the lower median."""

    name: ClassVar[str] = "median"
    scales: ClassVar[tuple[str, ...]] = ("ordinal", "interval")
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        if not isinstance(annotations.scale, Interval):
            return annotations.consensus()
        order = np.lexsort((annotations.answer, annotations.item))
        item, answer = annotations.item[order], annotations.answer[order]
        reached = np.cumsum(annotations.weight[order])  # judgements up to this row
        total = annotations.per_item().astype(float)
        before = np.cumsum(total) - total
        items = np.flatnonzero(total)
        half = before[items] + total[items] / 2
        low = answer[np.searchsorted(reached, half - 1e-9)]
        high = answer[np.minimum(np.searchsorted(reached, half + 1e-9), len(item) - 1)]
        even = total[items] % 2 == 0
        return labelled(annotations, items, np.where(even, (low + high) / 2, low))


@dataclass(eq=False)
class Gaussian(Aggregator):
    """Ratings are a true value plus the annotator's bias plus noise of the annotator's own size.

    `bias_` and `spread_` are (n_annotators,) in the scale's units, the biases' mean over answers
    is 0; `variance_` (n_items,) says how sure the true values are. Both are drawn towards the
    crowd by `strength` answers. The distribution is the density of the true value on the grid.

    Args:
        iterations: the most that are made.
        tolerance: it stops when no true value moves by as much, in units of [-1, 1].
        strength: answers of a typical annotator that are added to each one's own.
    """

    iterations: int = 100
    tolerance: float = 1e-6
    strength: float = 2.0
    name: ClassVar[str] = "gaussian"
    scales: ClassVar[tuple[str, ...]] = ("interval",)
    bias_: np.ndarray = field(init=False, repr=False)
    spread_: np.ndarray = field(init=False, repr=False)
    variance_: np.ndarray = field(init=False, repr=False)
    log_likelihood_: list[float] = field(init=False, repr=False)
    n_iterations_: int = field(init=False, repr=False)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        scale = annotations.scale
        assert isinstance(scale, Interval)
        unit = scale.to_unit(annotations.answer)
        item, who = annotations.item, annotations.who(self.name)
        people, n_items = annotations.n_annotators, annotations.n_items
        n = np.bincount(who, minlength=people).astype(float)
        middle, width = unit.mean(), max(unit.var(), 1e-6)
        bias, noise = np.zeros(people), np.full(people, width / 2)
        true = np.full(n_items, middle)
        spread = width / 2
        self.log_likelihood_ = []
        for n_iterations in range(1, self.iterations + 1):
            self.n_iterations_ = n_iterations
            precision = 1 / spread + np.bincount(item, 1 / noise[who], n_items)
            pull = np.bincount(item, (unit - bias[who]) / noise[who], n_items)
            before, true = true, (middle / spread + pull) / precision
            variance = 1 / precision
            self.log_likelihood_.append(
                _log_likelihood(item, who, unit, bias, noise, middle, spread, n_items)
            )
            gap = unit - true[item]
            bias = np.bincount(who, gap, people) / (n + self.strength)
            bias -= (n @ bias) / n.sum()
            square = np.bincount(who, (gap - bias[who]) ** 2 + variance[item], people)
            typical = square.sum() / n.sum()
            noise = ((square + self.strength * typical) / (n + self.strength)).clip(1e-6)
            answered = np.bincount(item, minlength=n_items) > 0
            middle = true[answered].mean()
            spread = max(((true - middle) ** 2 + variance)[answered].mean(), 1e-6)
            if np.abs(true - before).max() < self.tolerance:
                break
        half = (scale.high - scale.low) / 2
        self.bias_, self.spread_ = bias * half, np.sqrt(noise) * half
        self.variance_ = np.where(answered, variance, np.nan) * half**2
        self._true = np.where(answered, true, np.nan)
        return _on_grid(scale, self._true, np.sqrt(variance))

    def _labels(self, annotations: Annotations) -> Annotations:
        scale = annotations.scale
        assert isinstance(scale, Interval)
        items = np.flatnonzero(annotations.per_item())
        value = scale.from_unit(self._true[items].clip(-1, 1))
        return labelled(annotations, items, value.clip(scale.low, scale.high))


def _log_likelihood(
    item: np.ndarray,
    who: np.ndarray,
    unit: np.ndarray,
    bias: np.ndarray,
    noise: np.ndarray,
    middle: float,
    spread: float,
    n_items: int,
) -> float:
    """Of all ratings, the true values integrated out."""
    weight = 1 / noise[who]
    gap = unit - bias[who] - middle
    precision = 1 / spread + np.bincount(item, weight, n_items)
    pull = np.bincount(item, gap * weight, n_items)
    each = np.log(noise[who]) + gap**2 * weight + np.log(2 * np.pi)
    shared = np.log(precision * spread) - pull**2 / precision
    return float(-0.5 * (each.sum() + shared.sum()))


def _on_grid(scale: Interval, place: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """A normal density of each item as mass on the bins, the tails counted to the ends."""
    from scipy.special import ndtr

    edges = np.linspace(-1, 1, scale.n_bins + 1)[1:-1]
    below = ndtr((edges - place[:, None]) / spread[:, None])
    ends = np.zeros((len(place), 1)), np.where(np.isnan(place), np.nan, 1.0)[:, None]
    return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)
