"""Predicted ratings as several possible ones: each annotator's own spread, without random numbers.

A predicted rating is a mean, so that predicted ratings differ less than ratings do. Here an item
has `N_POINTS` sets of ratings, from points that cover a normal distribution evenly. The points are
the same for all items, so that an item's density does not depend on other items.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.densities.arrays import namespace, table
from dissensus.densities.observations import first_primes

KNOTS = np.arange(-2.0, 2.25, 0.5)  # where quantiles are known, in standard deviations
N_POINTS = 8  # sets of ratings of an item


def quantiles(distribution: np.ndarray, *, levels: bool = False) -> np.ndarray:
    """The quantiles of distributions on [-1, 1] at `KNOTS` of a normal: (..., n_knots).

    Args:
        distribution: (..., n), the mass of equal bins.
        levels: the masses are those of ordinal levels at equal distances instead.

    Example:
        >>> quantiles(np.array([0.25, 0.25, 0.25, 0.25])).round(2)[[0, 4, 8]].tolist()
        [-0.95, 0.0, 0.95]
    """
    from scipy.special import ndtr

    n = distribution.shape[-1]
    below = distribution.cumsum(axis=-1)[..., None, :]  # (..., 1, n)
    share = ndtr(KNOTS)[:, None]
    first = (below < share - 1e-9).sum(axis=-1).clip(max=n - 1)  # (..., n_knots)
    if levels:
        return np.asarray(first * (2 / max(n - 1, 1)) - 1)
    mass = np.take_along_axis(distribution, first, axis=-1)
    before = np.take_along_axis(below[..., 0, :], first, axis=-1) - mass
    within = (share[:, 0] - before) / np.where(mass > 0, mass, 1)
    return np.asarray((first + within.clip(0, 1)) * (2 / n) - 1)


def stretched(ratings: Any, factor: float, present: Any = None) -> Any:
    """Ratings whose distances from the mean of their item are multiplied by a factor.

    Args:
        ratings: (..., n_annotators, n_questions).
        present: (..., n_annotators), False for padding.
    """
    xp = namespace(ratings)
    here = xp.ones_like(ratings[..., :1])
    if present is not None:
        here = xp.where((present > 0)[..., None], here, 0)
        ratings = xp.where(here > 0, ratings, 0)
    mean = (ratings * here).sum(-2)[..., None, :] / here.sum(-2)[..., None, :].clip(1, None)
    return mean + factor * (ratings - mean)


def noisy(ratings: Any, deviations: Any, noise: float, shared: float, correlation: float) -> Any:
    """Sets of ratings with noise: (..., n_points, n_annotators, n_questions).

    Args:
        ratings: (..., n_annotators, n_questions).
        deviations: (..., n_annotators, n_questions, n_knots), how far each quantile of an
            annotator's rating is from the predicted one.
        noise: the factor of the deviations.
        shared: the correlation of the noise of two annotators of the item.
        correlation: that of the noise of two questions.
    """
    n_annotators, n_questions = ratings.shape[-2:]
    weights = table(ratings, _knot_weights, n_annotators, n_questions, shared, correlation)
    noises = namespace(ratings).einsum("paqk,...aqk->...paq", weights, deviations)
    return ratings[..., None, :, :] + noise * noises


def _knot_weights(
    n_annotators: int, n_questions: int, shared: float, correlation: float
) -> np.ndarray:
    """The share of each knot in the noise of each point: (n_points, n_annotators, n_questions,
    n_knots)."""
    own = _normals(n_annotators * n_questions, first=n_questions)
    own = own.reshape(N_POINTS, n_annotators, n_questions)
    common = _normals(n_questions)[:, None]  # (n_points, 1, n_questions)
    normals = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    if n_questions == 2:
        second = correlation * normals[..., 0] + np.sqrt(1 - correlation**2) * normals[..., 1]
        normals = np.stack([normals[..., 0], second], axis=-1)
    steps = np.abs(normals.clip(KNOTS[0], KNOTS[-1])[..., None] - KNOTS) / (KNOTS[1] - KNOTS[0])
    return np.asarray((1 - steps).clip(min=0))


def _normals(n_dimensions: int, first: int = 0) -> np.ndarray:
    """Points that cover a normal distribution, each with its opposite: (n_points, n_dimensions).

    A coordinate does not depend on how many there are.
    """
    from scipy.special import ndtri

    roots = np.sqrt(first_primes(first + n_dimensions)[first:])
    half = ndtri((np.arange(N_POINTS // 2)[:, None] + 0.5) * roots % 1)
    half /= np.sqrt((half**2).mean(axis=0))  # few points: the variance is 1 nevertheless
    return np.concatenate([half, -half])
