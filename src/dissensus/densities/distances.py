"""How far apart two densities on one grid are. All functions take numpy arrays or torch tensors.

`p` and `q` are masses of cells, (..., *grid.shape), which sum to 1. The result is (...).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.densities.arrays import check_densities, namespace, table
from dissensus.densities.grid import Grid

SMALLEST = 1e-8  # of a mass whose logarithm is taken, as in Tavernor et al. (2024)
N_DIRECTIONS = 32


def tvd(p: Any, q: Any, grid: Grid) -> Any:
    """Total variation distance: half of sum |p - q|, 0 to 1.

    Example:
        >>> round(float(tvd(np.array([0.5, 0.5]), np.array([0.8, 0.2]), Grid(2))), 4)
        0.3
    """
    check_densities(grid, p, q)
    return abs(p - q).sum(grid.axes) / 2


def jsd(p: Any, q: Any, grid: Grid, *, smallest: float = SMALLEST) -> Any:
    """The Jensen-Shannon divergence, in nats: 0 to ln 2.

    Args:
        smallest: replaces smaller masses.

    Example:
        >>> round(float(jsd(np.array([0.5, 0.5]), np.array([1.0, 0.0]), Grid(2))), 4)
        0.2158
    """
    check_densities(grid, p, q)
    xp = namespace(p)
    p, q = p.clip(smallest, None), q.clip(smallest, None)
    log_middle = xp.log((p + q) / 2)
    both = p * (xp.log(p) - log_middle) + q * (xp.log(q) - log_middle)
    return both.sum(grid.axes) / 2


def cross_entropy(p: Any, q: Any, grid: Grid, *, smallest: float = SMALLEST) -> Any:
    """-sum p ln(q + smallest), in nats: the loss of a predicted density q.

    Example:
        >>> round(float(cross_entropy(np.array([0.5, 0.5]), np.array([0.5, 0.5]), Grid(2))), 4)
        0.6931
    """
    check_densities(grid, p, q)
    return -(p * namespace(q).log(q + smallest)).sum(grid.axes)


def wasserstein(p: Any, q: Any, grid: Grid, *, n_directions: int = N_DIRECTIONS) -> Any:
    """How far mass must be moved on average to turn p into q, in units of the ratings.

    Exact in one dimension. In two, the sliced distance: the mean of the distances between both
    densities as seen along directions in the plane. Of two points it is 2 / pi of their distance.

    Args:
        n_directions: in two dimensions; equally spaced over half a circle.

    Example:
        >>> p, q = np.array([0.5, 0.5, 0, 0]), np.array([0, 0.5, 0.5, 0])
        >>> float(wasserstein(p, q, Grid(4, limits=(0, 4))))
        1.0
    """
    check_densities(grid, p, q)
    difference = p - q
    if grid.n_dimensions == 1:
        return abs(difference.cumsum(-1)).sum(-1) * grid.cell_size
    flat = difference.reshape(*difference.shape[:-2], -1)
    order = table(flat, _orders, grid, n_directions)  # (n_directions, n_cells)
    gaps = table(flat, _gaps, grid, n_directions)
    sums = flat[..., order].cumsum(-1)[..., :-1]  # (..., n_directions, n_cells - 1)
    return (abs(sums) * gaps).sum(-1).mean(-1)


def _projections(grid: Grid, n_directions: int) -> np.ndarray:
    """Where the centre of each cell is along each direction: (n_directions, n_cells)."""
    angles = np.pi * np.arange(n_directions) / n_directions
    first, second = np.meshgrid(*grid.centres, indexing="ij")
    return np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second)


def _orders(grid: Grid, n_directions: int) -> np.ndarray:
    return np.argsort(_projections(grid, n_directions), axis=1, kind="stable")


def _gaps(grid: Grid, n_directions: int) -> np.ndarray:
    return np.diff(np.sort(_projections(grid, n_directions), axis=1), axis=1)
