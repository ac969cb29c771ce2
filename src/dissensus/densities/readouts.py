"""What is read from densities: coarser ones, marginals, a consensus, samples, regions, distances.

All functions take masses of cells, (..., *grid.shape), which sum to 1. All but `sample` and
`region_levels` take torch tensors too, and have a gradient. The distance of two densities is (...).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dissensus.densities.grid import Grid, check_densities, namespace, numbers, table

SMALLEST = 1e-8  # of a mass whose logarithm is taken, as in Tavernor et al. (2024)
N_DIRECTIONS = 32


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


def sample(density: np.ndarray, grid: Grid, n: int, seed: int = 0) -> np.ndarray:
    """Ratings drawn from each density, (..., n, n_dimensions): uniform within a cell.

    Example:
        >>> ratings = sample(np.array([0.0, 0.0, 0.25, 0.75]), Grid(4), 1000)
        >>> ratings.shape, bool((ratings > 0).all()), round(float((ratings > 0.5).mean()), 1)
        ((1000, 1), True, 0.8)
    """
    check_densities(grid, density)
    batch = density.shape[: -grid.n_dimensions]
    generator = np.random.default_rng(seed)
    sums = density.reshape(-1, grid.n_cells).cumsum(axis=1)  # (n_densities, n_cells)
    uniforms = generator.random((len(sums), n)) * sums[:, -1:]
    cells = np.array(
        [np.searchsorted(each, drawn, "right") for each, drawn in zip(sums, uniforms, strict=True)]
    ).reshape(len(sums), n)
    places = np.unravel_index(cells.clip(max=grid.n_cells - 1), grid.shape)
    at = np.stack(places, axis=-1) + generator.random((len(sums), n, grid.n_dimensions))
    ratings = grid.low + at / np.array(grid.shape) * grid.range
    return ratings.reshape(*batch, n, grid.n_dimensions)


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


# ---- distances ----


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
