"""What is read from densities: coarser ones, marginals, a consensus, regions.

All functions take masses of cells, (..., *grid.shape), which sum to 1. All but `region_levels` take
torch tensors too, and have a gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dissensus.densities.grid import Grid, check_densities, namespace, numbers, table


def pool(density: Any, grid: Grid, shape: int | Sequence[int]) -> Any:
    """Densities on a coarser grid: the mass in each of its cells, (..., *shape).

    A cell that lies across an edge of the coarser grid is divided in proportion.

    Args:
        shape: number of cells in each dimension; one number stands for all of them.

    Example:
        >>> pool(np.full((4, 6), 1 / 24), Grid((4, 6)), (2, 3)).round(3).tolist()
        [[0.167, 0.167, 0.167], [0.167, 0.167, 0.167]]
    """
    check_densities(grid, density)
    if isinstance(shape, int):
        shape = (shape,) * grid.n_dimensions
    coarser = grid.pooled(shape).shape
    last = density @ table(density, _overlaps, grid.shape[-1], coarser[-1])
    if grid.n_dimensions == 2:
        last = table(density, _overlaps, grid.shape[0], coarser[0]).T @ last
    return last / last.sum(grid.axes, keepdims=True)


def marginal(density: Any, grid: Grid, dimension: int) -> Any:
    """The densities of one dimension alone: (..., n). Their grid is `grid.marginal(dimension)`."""
    check_densities(grid, density)
    return density if grid.n_dimensions == 1 else density.sum(-1 if dimension == 0 else -2)


def expectation(
    density: Any, grid: Grid, *, positions: Literal["centres", "ends"] = "centres"
) -> Any:
    """The mean rating of each dimension, (..., n_dimensions): the consensus.

    Args:
        positions: "centres": a cell stands for its centre. "ends": the first cell stands for the
            lower limit, the last for the upper one (Tavernor et al. 2024).

    Example:
        >>> expectation(np.array([0.5, 0.5, 0.0, 0.0]), Grid(4, limits=(0, 4))).tolist()
        [1.0]
    """
    means = []
    for dimension, centres in enumerate(grid.centres):
        values = centres
        if positions == "ends":
            values = np.linspace(*grid.limits[dimension], len(centres))
        means.append((marginal(density, grid, dimension) * numbers(density, values)).sum(-1))
    return namespace(density).stack(means, -1)


def region_levels(density: np.ndarray, grid: Grid, shares: Sequence[float]) -> np.ndarray:
    """The levels of the smallest regions that have these shares of the mass: (..., n_shares).

    A cell belongs to the region of a share if its mass is at least the level.

    Example:
        >>> region_levels(np.array([0.1, 0.6, 0.2, 0.1]), Grid(4), [0.5, 0.8]).tolist()
        [0.6, 0.2]
    """
    check_densities(grid, density)
    batch = density.shape[: -grid.n_dimensions]
    falling = -np.sort(-density.reshape(*batch, grid.n_cells), axis=-1)
    sums = falling.cumsum(axis=-1)
    wanted = np.asarray(shares, dtype=float) * sums[..., -1:] * (1 - 1e-12)  # (..., n_shares)
    last = (sums[..., None, :] < wanted[..., None]).sum(axis=-1).clip(max=grid.n_cells - 1)
    return np.take_along_axis(falling, last, axis=-1)


def _overlaps(n: int, n_coarser: int) -> np.ndarray:
    """The share of each cell that lies in each coarser one: (n, n_coarser)."""
    edges, coarser = np.arange(n + 1) / n, np.arange(n_coarser + 1) / n_coarser
    low = np.maximum(edges[:-1, None], coarser[:-1])
    high = np.minimum(edges[1:, None], coarser[1:])
    shares = (high - low).clip(min=0) * n
    return np.where(shares < 1e-9, 0.0, shares)
