"""Few ratings of an item as many observations: means of subsets of its annotators, with noise.

Tavernor et al. (2024), arXiv:2408.11956: a subset size from 1 to the number of annotators, all
equally probable; a random subset of that size, the same for all dimensions; its mean; uniform noise
of half the standard deviation of the item's ratings.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dissensus.densities.grid import (
    Grid,
    check_observations,
    floats,
    is_tensor,
    namespace,
    numbers,
    table,
)

JITTER = 0.5  # half-width of the noise, in standard deviations (with n - 1) of the ratings
LEAST_JITTER = 1e-12  # is added to it
MOST_ENUMERATED = 8  # annotators of whom all subsets are taken: 255
MOST_ORDERS, FEWEST_ORDERS = 32, 4
MOST_BEGINNINGS = 1024  # of all orders together


class Observations(NamedTuple):
    """Observations with weights, as `histogram` and `diffusion_kde` take them."""

    values: Any  # (..., n_observations, n_dimensions)
    weights: Any  # (..., n_observations), sum to 1
    spread: Any  # (..., 1, n_dimensions): half-width of the uniform noise


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
    return _clamped(means + noise * spread, grid)


def weighted_observations(ratings: Any, grid: Grid, mask: Any = None) -> Observations:
    """What `draw_observations` gives on average, without random numbers.

    Up to 8 annotators, the means of all subsets are weighted by the probability of drawing each.
    For more of them, 32 fixed orders of the annotators are used, and fewer for more than 32
    annotators: the first, the first two, the first three and so on are its subsets. Noise is passed
    on as `spread`. Padding does not change the result if there are at most 32 annotators with it,
    all or none of them above 8.

    The arguments are those of `draw_observations`.

    Example:
        >>> observations = weighted_observations(np.array([[0.2], [0.4]]), Grid(64))
        >>> observations.values.round(2).ravel().tolist(), observations.weights.tolist()
        ([0.2, 0.4, 0.3], [0.25, 0.25, 0.5])
        >>> observations.spread.round(3).tolist()
        [[0.071]]
    """
    ratings, present = _masked(ratings, mask, grid)
    xp = namespace(ratings)
    n_annotators = ratings.shape[-2]
    n_present = present.sum(-1)[..., None]  # (..., 1)
    if n_annotators <= MOST_ENUMERATED:
        members = table(ratings, _subsets, n_annotators)
        numbers_present = table(ratings, np.arange, n_annotators + 1)
        known = xp.where(n_present == numbers_present, xp.ones_like(n_present), 0)
        weights = known @ table(ratings, _probabilities, n_annotators)  # (..., n_subsets)
        weights = xp.where(present @ members.T == members.sum(-1), weights, 0)
        chosen = members * present[..., None, :]
        means = (chosen @ ratings) / chosen.sum(-1)[..., None].clip(1, None)
    else:
        n_orders = min(max(MOST_BEGINNINGS // n_annotators, FEWEST_ORDERS), MOST_ORDERS)
        order = table(ratings, _orders, n_annotators, n_orders)
        here = present[..., order]  # (..., n_orders, n_annotators)
        sums = ratings[..., order, :].cumsum(-2)  # of each beginning; padding is 0
        means = sums / here.cumsum(-1)[..., None].clip(1, None)
        means = means.reshape(*present.shape[:-1], -1, ratings.shape[-1])
        weights = here.reshape(*present.shape[:-1], -1) / (n_present.clip(1, None) * n_orders)
    spread = JITTER * _deviations(ratings, present) + LEAST_JITTER
    return Observations(_clamped(means, grid), weights, spread)


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


def _clamped(values: Any, grid: Grid) -> Any:
    return values.clip(numbers(values, grid.low), numbers(values, grid.high))


def _subsets(n_annotators: int) -> np.ndarray:
    """All subsets but the empty one: (2**n - 1, n), 1 for a member."""
    numbers = np.arange(1, 2**n_annotators)
    return (numbers[:, None] >> np.arange(n_annotators) & 1).astype(float)


def _probabilities(n_annotators: int) -> np.ndarray:
    """How probable each subset of those who are present is, by their number: (n + 1, 2**n - 1)."""
    sizes, shares = _subsets(n_annotators).sum(axis=1).astype(int), []
    for n in range(n_annotators + 1):
        shares.append([1 / (n * math.comb(n, s)) if 0 < s <= n else 0.0 for s in sizes])
    return np.array(shares)


def _orders(n_annotators: int, n_orders: int) -> np.ndarray:
    """Fixed orders of annotators, (n_orders, n_annotators), by numbers that do not depend on how
    many there are; every second one is the reverse of the one before."""
    roots = np.sqrt(first_primes(n_annotators))
    keys = (np.arange((n_orders + 1) // 2)[:, None] + 0.5) * roots % 1  # even for each annotator
    keys = np.stack([keys, 1 - keys], axis=1).reshape(-1, n_annotators)[:n_orders]
    return np.argsort(keys, axis=1)


def first_primes(n: int) -> np.ndarray:
    """The first n prime numbers."""
    top = max(20, int(2 * n * math.log(n + 2)))
    sieve = np.ones(top, dtype=bool)
    sieve[:2] = False
    for number in range(2, int(math.sqrt(top)) + 1):
        sieve[number * number :: number] = False
    return np.flatnonzero(sieve)[:n]
