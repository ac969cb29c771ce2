"""The share of observations in each cell of a grid: hard, or soft and with a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.densities.grid import Grid, check_observations, in_torch, table

if TYPE_CHECKING:
    from torch import Tensor


@in_torch
def histogram(observations: Any, grid: Grid, *, temperature: float | Tensor | None = None) -> Any:
    """The share of observations in each cell: (..., n_observations, n_dimensions) -> (..., *shape).

    A numpy array gives a numpy array, computed in float64; a torch tensor gives a tensor, with a
    gradient where the histogram is soft.

    Args:
        observations: ratings in the units of the grid. A hard histogram counts those outside of its
            limits in the first or last cell; a soft one loses their mass, and some of those near a
            limit.
        temperature: None is the hard histogram. Otherwise each observation is spread over cells: a
            cell with edges a and b has the share s(T (x - a)) - s(T (x - b)) of it, where s is the
            logistic function. The higher T, the sharper. T is per unit of the ratings.

    Example:
        >>> grid = Grid((2, 2))
        >>> observations = np.array([[-0.5, 0.1], [0.5, 0.3], [0.5, 0.4], [0.5, -0.7]])
        >>> histogram(observations, grid).tolist()
        [[0.0, 0.25], [0.25, 0.5]]
        >>> histogram(observations, grid, temperature=8.0).round(2).tolist()
        [[0.08, 0.17], [0.25, 0.45]]

    Reference: Tavernor et al. (2024), arXiv:2408.11956, for the soft histogram.
    """
    check_observations(observations, grid)
    shares = []  # of each observation in each cell of a dimension, (..., n_observations, n)
    for axis in range(grid.n_dimensions):
        shares.append(_shares(observations[..., axis], grid, axis, temperature))
    first = shares[0] / observations.shape[-2]
    if grid.n_dimensions == 1:
        return first.sum(-2)
    return first.swapaxes(-1, -2) @ shares[1]


def _shares(positions: Any, grid: Grid, axis: int, temperature: Any) -> Any:
    """(...) -> (..., n): the share of each position in each cell."""
    n, (low, high) = grid.shape[axis], grid.limits[axis]
    if temperature is None:
        at = (positions - low) / (high - low) * n + 1e-9  # 0.29 * 100 is below 29
        cells = table(positions, np.arange, n)
        return (at.detach().floor().clip(0, n - 1)[..., None] == cells).to(positions.dtype)
    # s(a) - s(b) = s(a) s(-b) (1 - exp(b - a)): where both are near 1, their difference would be
    # rounding error alone
    edges = table(positions, _edges, grid, axis)
    scaled = temperature * (positions[..., None] - edges)
    both = scaled[..., :-1].sigmoid() * (-scaled[..., 1:]).sigmoid()
    return both * -(temperature * (edges[:-1] - edges[1:])).expm1()


def _edges(grid: Grid, axis: int) -> np.ndarray:
    return grid.edges[axis]
