"""Scores of a method as functions of item weights: what a test computes on resampled items.

`Sums` gives the score of each run (a fit with its seed) of one method, for many resamples at once.
A score is a function of sums over items, such as correct and occurring values for F1, so that a
resample is a row of counts and all resamples are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Sums:
    """The scores of a method's runs, as a function of weighted sums over items."""

    columns: np.ndarray  # (n_items, n_columns) what is summed
    combine: Callable[[np.ndarray], np.ndarray]  # (n_draws, n_columns) -> (n_draws, n_runs)

    @property
    def n_items(self) -> int:
        return len(self.columns)

    @property
    def score(self) -> float:
        """The score of all items, of the first run."""
        return float(self.combine(self.columns.sum(axis=0, keepdims=True))[0, 0])

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Scores, (n_draws, n_runs), for weights of (n_draws, n_items)."""
        return self.combine(weights @ self.columns)

    def grouped(self, groups: np.ndarray, n_groups: int) -> Sums:
        """The same for weights of groups, (n_draws, n_groups)."""
        return Sums(sums_by_group(self.columns, groups, n_groups), self.combine)

    def by_item(self) -> np.ndarray:
        """The score plus the influence of each item on it, (n_items,), of the first run.

        Their mean is the score, and their spread is that of the jackknife: a test of the mean of
        these over items is a test of the score.

        Example:
            >>> mean(np.array([[1.0, 0.0, 1.0]])).by_item().round(2).tolist()
            [1.0, 0.0, 1.0]
        """
        total = self.columns.sum(axis=0, keepdims=True)
        return jackknifed(self.score, self.combine(total - self.columns)[:, 0])


def mean(scores: np.ndarray) -> Sums:
    """The mean over items of scores, (n_runs, n_items).

    Example:
        >>> mean(np.array([[1.0, 0.0, 1.0]]))(np.array([[1, 1, 1], [0, 3, 0]])).round(2).tolist()
        [[0.67], [0.0]]
    """
    runs = np.atleast_2d(np.asarray(scores, dtype=float))
    return ratio(runs, np.ones_like(runs))


def ratio(above: np.ndarray, below: np.ndarray) -> Sums:
    """The sum over items of one thing over that of another, (n_runs, n_items) each.

    nan where the sum below is 0. Soft micro-F1 is one: 2 sum min(p, q) / sum (p + q).
    """
    above, below = (np.atleast_2d(np.asarray(side, dtype=float)) for side in (above, below))
    n_runs = len(above)

    def combine(sums: np.ndarray) -> np.ndarray:
        return divided(sums[:, :n_runs], sums[:, n_runs:])

    return Sums(np.concatenate([above, below]).T, combine)


def macro_f1(observed: np.ndarray, predicted: np.ndarray) -> Sums:
    """F1 of the consensus, mean over the values that occur in the draw, as the metric macro-F1.

    Args:
        observed: the observed consensus as codes, (n_items,).
        predicted: the predicted one, (n_runs, n_items).
    """
    observed = np.asarray(observed).astype(np.int64)
    predicted = np.atleast_2d(np.asarray(predicted)).astype(np.int64)
    n_runs = len(predicted)
    values = np.arange(max(observed.max(initial=0), predicted.max(initial=0)) + 1)
    chosen = predicted.T[:, :, None] == values  # (n_items, n_runs, n_values)
    true = observed[:, None, None] == values
    right, occurring = (chosen & true), chosen.astype(float) + true

    def combine(sums: np.ndarray) -> np.ndarray:
        hits, seen = np.split(sums.reshape(-1, 2 * n_runs, len(values)), 2, axis=1)
        each = 2 * hits / np.maximum(seen, 1)
        return divided(each.sum(axis=2), (seen > 0).sum(axis=2).astype(float))

    flat = np.concatenate([right, occurring], axis=1).reshape(len(observed), -1)
    return Sums(flat.astype(float), combine)


def concordance(observed: np.ndarray, predicted: np.ndarray) -> Sums:
    """Lin's concordance of ratings with unbiased variances, as the metric CCC; nan where both are
    constant in a draw.

    Args:
        observed: the mean rating, (n_items,).
        predicted: the predicted one, (n_runs, n_items).
    """
    return _of_moments(observed, predicted, _lin)


def correlation(observed: np.ndarray, predicted: np.ndarray) -> Sums:
    """Pearson's correlation, arguments as in `concordance`; nan where one side is constant."""
    return _of_moments(observed, predicted, _pearson)


def jackknifed(score: float, without: np.ndarray) -> np.ndarray:
    """The score plus the influence of each item, (n_items,), from the scores without each item;
    an item without which there is none has no influence."""
    influence = (len(without) - 1) * (score - without)
    influence -= np.nanmean(influence) if not np.isnan(influence).all() else 0
    return score + np.nan_to_num(influence)


def sums_by_group(columns: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """The sums of columns within each group, (n_groups, n_columns)."""
    sums = np.zeros((n_groups, columns.shape[1]))
    np.add.at(sums, groups, columns)
    return sums


def divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotient; nan where what is below is not above 0."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)[()]


Moments = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _of_moments(
    observed: np.ndarray, predicted: np.ndarray, function: Callable[[Moments], np.ndarray]
) -> Sums:
    """A function of n, means, variances and covariance of two sides in each run."""
    x = np.asarray(observed, dtype=float)
    y = np.atleast_2d(np.asarray(predicted, dtype=float))
    centre = x.mean() if x.size else 0.0  # sums of squares lose fewer digits around it
    unit = max(float(np.abs(x - centre).max(initial=0)), float(np.abs(y - centre).max(initial=0)))
    x, y = (x - centre) / (unit or 1), (y - centre) / (unit or 1)
    n_runs = len(y)
    alone = np.stack([np.ones_like(x), x, x * x], axis=1)
    columns = np.concatenate([alone, y.T, (y * y).T, (x * y).T], axis=1)

    def combine(sums: np.ndarray) -> np.ndarray:
        n, sum_x, sum_xx = sums[:, :1], sums[:, 1:2], sums[:, 2:3]
        sum_y, sum_yy, sum_xy = np.split(sums[:, 3:], [n_runs, 2 * n_runs], axis=1)
        mean_x, mean_y = sum_x / n, sum_y / n
        free = np.maximum(n - 1, 1)
        spread_x = (sum_xx - n * mean_x**2) / free
        spread_y = (sum_yy - n * mean_y**2) / free
        together = (sum_xy - n * mean_x * mean_y) / free
        return function((n, mean_x, mean_y, spread_x, spread_y, together))

    return Sums(columns, combine)


def _lin(moments: Moments) -> np.ndarray:
    n, mean_x, mean_y, spread_x, spread_y, together = moments
    varied = (np.maximum(spread_x, spread_y) > 1e-12) & (n >= 2)
    below = spread_x + spread_y + (mean_x - mean_y) ** 2
    return np.where(varied, divided(2 * together, below), np.nan)


def _pearson(moments: Moments) -> np.ndarray:
    n, _, _, spread_x, spread_y, together = moments
    varied = (np.minimum(spread_x, spread_y) > 1e-12) & (n >= 2)
    below = np.sqrt(np.maximum(spread_x * spread_y, 0))
    return np.where(varied, divided(together, below), np.nan)


def nothing(n_items: int, n_runs: int) -> Sums:
    """A score of 0 in every run: what a score by itself is compared with."""
    return Sums(np.zeros((n_items, n_runs)), lambda sums: sums)
