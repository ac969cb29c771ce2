"""Few ratings of an item as many observations: means of subsets of its annotators, with noise.

Tavernor et al. (2024), arXiv:2408.11956: a subset size from 1 to the number of annotators, all
equally probable; a random subset of that size, the same for all dimensions; its mean; uniform noise
of half the standard deviation of the item's ratings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.densities.grid import Grid, check_observations, floats, is_tensor, namespace, numbers

JITTER = 0.5  # half-width of the noise, in standard deviations (with n - 1) of the ratings
LEAST_JITTER = 1e-12  # is added to it


def n_uniforms(n_annotators: int, n_dimensions: int) -> int:
    """How many random numbers `draw_observations` needs for one observation."""
    return 1 + n_dimensions + n_annotators


def draw_observations(ratings: Any, uniforms: Any, grid: Grid, mask: Any = None) -> Any:
    """Observations drawn as Tavernor et al. do: (..., n_observations, n_dimensions).

    They have a gradient with respect to the ratings. One annotator alone, and annotators who agree,
    have a standard deviation of 0. Without any annotator, observations are 0.

    Args:
        ratings: (..., n_annotators, n_dimensions); numpy or torch, as are the others.
        uniforms: random numbers in [0, 1), (..., n_observations, n_uniforms). In this order: one
            chooses the size of the subset, one for each dimension is noise, one for each annotator
            chooses the subset. So padding does not change what is drawn.
        grid: observations are clamped to its limits.
        mask: (..., n_annotators), False for padding; its ratings may be anything, also nan.

    Example:
        >>> ratings = np.array([[0.2, 0.0], [0.4, -0.2], [0.9, -0.1]])
        >>> uniforms = np.random.default_rng(0).random((200, n_uniforms(3, 2)))
        >>> observations = draw_observations(ratings, uniforms, Grid((64, 64)))
        >>> observations.shape, observations.mean(axis=0).round(1).tolist()
        ((200, 2), [0.5, -0.1])
    """
    ratings, present = _masked(ratings, mask, grid)
    n_dimensions, xp = grid.n_dimensions, namespace(ratings)
    n_present = present.sum(-1)  # (...)
    size = (uniforms[..., 0] * n_present[..., None]).clip(0, None)  # (..., n_observations)
    place = xp.floor(size)
    last = n_present[..., None] - 1
    place = xp.where(place < last, place, last).clip(0, None)
    keys = uniforms[..., 1 + n_dimensions :]  # (..., n_observations, n_annotators)
    keys = xp.where(present[..., None, :] > 0, keys, 2)
    if is_tensor(ratings):
        largest = xp.take_along_dim(keys.sort(-1).values, place[..., None].long(), -1)
    else:
        largest = np.take_along_axis(np.sort(keys, -1), place[..., None].astype(int), -1)
    chosen = xp.where(keys <= largest, present[..., None, :], 0)
    means = (chosen @ ratings) / chosen.sum(-1)[..., None].clip(1, None)
    noise = 2 * uniforms[..., 1 : 1 + n_dimensions] - 1
    spread = JITTER * _deviations(ratings, present) + LEAST_JITTER
    observed = means + noise * spread
    return observed.clip(numbers(observed, grid.low), numbers(observed, grid.high))


def _masked(ratings: Any, mask: Any, grid: Grid) -> tuple[Any, Any]:
    """Ratings with 0 for padding, and 1 for each annotator who is present, (..., n_annotators)."""
    ratings = floats(ratings)
    check_observations(ratings, grid)
    xp = namespace(ratings)
    if mask is None:
        return ratings, xp.ones_like(ratings[..., 0])
    known = (mask > 0)[..., None]
    return xp.where(known, ratings, 0), xp.where(known[..., 0], xp.ones_like(ratings[..., 0]), 0)


def _deviations(ratings: Any, present: Any) -> Any:
    """Standard deviations (with n - 1) of the ratings: (..., 1, n_dimensions)."""
    xp = namespace(ratings)
    n = present.sum(-1)[..., None, None]
    here = present[..., None]
    mean = (ratings * here).sum(-2)[..., None, :] / n.clip(1, None)
    variance = ((ratings - mean) ** 2 * here).sum(-2)[..., None, :] / (n - 1).clip(1, None)
    some = variance > 0
    return xp.where(some, xp.sqrt(xp.where(some, variance, 1)), 0)  # a gradient of 0 at 0
