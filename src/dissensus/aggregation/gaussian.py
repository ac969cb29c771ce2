"""A model of annotators who rate with a bias and with noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives, labelled
from dissensus.annotations import Annotations
from dissensus.scales import Interval

LEAST = 1e-6  # variance, so that nothing is divided by 0


@dataclass(eq=False)
class Gaussian(Aggregator):
    """Ratings are a true value plus the annotator's bias plus noise of the annotator's own size.

    `bias_` and `spread_` are (n_annotators,) in the scale's units, the biases' mean over answers
    is 0; `variance_` (n_items,) says how sure the true values are. Both are drawn towards the
    crowd by `strength` answers. The distribution is the density of the true value on the grid.

    Args:
        iterations: the largest number of iterations.
        tolerance: it stops when no true value moves by as much, in units of [-1, 1].
        strength: answers of a typical annotator that are added to each one's own.
    """

    iterations: int = 100
    tolerance: float = 1e-6
    strength: float = 2.0
    name: ClassVar[str] = "gaussian"
    scales: ClassVar[tuple[str, ...]] = ("interval",)
    gives: ClassVar[Gives] = "probability"
    bias_: np.ndarray = field(init=False, repr=False)
    spread_: np.ndarray = field(init=False, repr=False)
    variance_: np.ndarray = field(init=False, repr=False)
    log_likelihood_: list[float] = field(init=False, repr=False)
    n_iterations_: int = field(init=False, repr=False)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        scale = annotations.scale
        assert isinstance(scale, Interval)
        model = Ratings.of(annotations, scale.to_unit(annotations.answer), self.name)
        true = np.full(annotations.n_items, model.middle)
        self.log_likelihood_ = []
        for n_iterations in range(1, self.iterations + 1):
            self.n_iterations_ = n_iterations
            before, (true, variance) = true, model.expected()
            self.log_likelihood_.append(model.log_likelihood())
            model.maximise(true, variance, self.strength)
            if np.abs(true - before).max() < self.tolerance:
                break
        half = (scale.high - scale.low) / 2
        self.bias_, self.spread_ = model.bias * half, np.sqrt(model.noise) * half
        self.variance_ = np.where(model.answered, variance, np.nan) * half**2
        self._true = np.where(model.answered, true, np.nan)
        return _on_grid(scale, self._true, np.sqrt(variance))

    def _labels(self, annotations: Annotations) -> Annotations:
        scale = annotations.scale
        assert isinstance(scale, Interval)
        items = np.flatnonzero(annotations.per_item())
        value = scale.from_unit(self._true[items].clip(-1, 1))
        return labelled(annotations, items, value.clip(scale.low, scale.high))


@dataclass(eq=False)
class Ratings:
    """Ratings on [-1, 1], and what is believed of annotators and of true values."""

    item: np.ndarray  # (n_rows,)
    annotator: np.ndarray  # (n_rows,) codes
    rating: np.ndarray  # (n_rows,)
    answered: np.ndarray  # (n_items,) booleans
    n_ratings: np.ndarray  # (n_annotators,)
    bias: np.ndarray  # (n_annotators,)
    noise: np.ndarray  # (n_annotators,) variances
    middle: float  # of true values
    spread: float  # their variance

    @classmethod
    def of(cls, annotations: Annotations, rating: np.ndarray, purpose: str) -> Ratings:
        """The start: no annotator has a bias, and half of all variance is noise."""
        annotator, n_annotators = annotations.annotator_codes(purpose), annotations.n_annotators
        half = max(rating.var(), LEAST) / 2
        return cls(
            annotations.item,
            annotator,
            rating,
            np.bincount(annotations.item, minlength=annotations.n_items) > 0,
            np.bincount(annotator, minlength=n_annotators).astype(float),
            np.zeros(n_annotators),
            np.full(n_annotators, half),
            rating.mean(),
            half,
        )

    def expected(self) -> tuple[np.ndarray, np.ndarray]:
        """The true values, and how unsure they are, (n_items,) each."""
        noise, n_items = self.noise[self.annotator], len(self.answered)
        precision = 1 / self.spread + np.bincount(self.item, 1 / noise, n_items)
        pull = np.bincount(self.item, (self.rating - self.bias[self.annotator]) / noise, n_items)
        return (self.middle / self.spread + pull) / precision, 1 / precision

    def maximise(self, true: np.ndarray, variance: np.ndarray, strength: float) -> None:
        """What makes the ratings most likely, given the true values."""
        n, annotator, n_annotators = self.n_ratings, self.annotator, len(self.n_ratings)
        gap = self.rating - true[self.item]
        self.bias = np.bincount(annotator, gap, n_annotators) / (n + strength)
        self.bias -= (n @ self.bias) / n.sum()
        square = np.bincount(
            annotator, (gap - self.bias[annotator]) ** 2 + variance[self.item], n_annotators
        )
        typical = square.sum() / n.sum()
        self.noise = ((square + strength * typical) / (n + strength)).clip(LEAST)
        self.middle = true[self.answered].mean()
        apart = ((true - self.middle) ** 2 + variance)[self.answered]
        self.spread = max(apart.mean(), LEAST)

    def log_likelihood(self) -> float:
        """Of all ratings, the true values integrated out."""
        noise, n_items = self.noise[self.annotator], len(self.answered)
        weight = 1 / noise
        gap = self.rating - self.bias[self.annotator] - self.middle
        precision = 1 / self.spread + np.bincount(self.item, weight, n_items)
        pull = np.bincount(self.item, gap * weight, n_items)
        each = np.log(noise) + gap**2 * weight + np.log(2 * np.pi)
        shared = np.log(precision * self.spread) - pull**2 / precision
        return float(-0.5 * (each.sum() + shared.sum()))


def _on_grid(scale: Interval, place: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """A normal density of each item as mass on the bins, the tails counted to the ends."""
    from scipy.special import ndtr

    edges = np.linspace(-1, 1, scale.n_bins + 1)[1:-1]
    below = ndtr((edges - place[:, None]) / spread[:, None])
    ends = np.zeros((len(place), 1)), np.where(np.isnan(place), np.nan, 1.0)[:, None]
    return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)
