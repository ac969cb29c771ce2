"""Kernel density estimates on a grid, with the bandwidth of a diffusion estimator.

A histogram is smoothed by damping its cosine coefficients. This is a Gaussian kernel that is
reflected at the limits of the grid, so that no mass is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dissensus.densities.diffusion import (
    cosines,
    decay,
    diffusion_times,
    inverse_cosines,
    transformed,
)
from dissensus.densities.grid import Grid, in_torch, numbers, table
from dissensus.densities.histogram import histogram
from dissensus.densities.readouts import marginal

if TYPE_CHECKING:
    from torch import Tensor

LIMIT = 0.1  # of the diffusion time; that is a bandwidth of 0.32 of the range
GENTLE = 20.0  # temperature over the whole range up to which few iterations suffice
FEW, MANY = 5, 16  # steps of the search for the root


class Estimate(NamedTuple):
    """Densities and how they were smoothed, as numpy arrays or torch tensors."""

    density: Any  # (..., *grid.shape): the mass of each cell; sums to 1
    bandwidth: Any  # (..., n_dimensions): standard deviation of the kernel, in units of the ratings
    has_root: Any  # (...), bool: False where the bandwidth is that of the normal reference rule


@in_torch
def diffusion_kde(
    observations: Any,
    grid: Grid,
    *,
    temperature: float | Tensor | None = None,
    factor: float | Tensor = 1.0,
    iterations: int | None = None,
) -> Estimate:
    """Densities of observations, with the bandwidth that Botev's diffusion estimator chooses.

    All densities are computed together. A numpy array gives numpy arrays, in float64. A torch
    tensor gives tensors, on its device, with gradients of density and bandwidth where the histogram
    is soft. It can be vmapped, and captured in a CUDA graph.

    The bandwidth is the smallest root of the estimator's equation. Few observations, or evenly
    spread ones, may have no root below a diffusion time (the square of the bandwidth over the
    range) of 0.1: then the bandwidth is that of the normal reference rule, which is the best one if
    the density is normal with the variance of the histogram, or that of 0.1 if it is less. (Botev's
    own program minimises the error of the equation, Tavernor et al. draw other observations.) A
    bandwidth is at most the range of the grid. One observation alone, and equal observations, have
    a root.

    Args:
        observations: (..., n_observations, n_dimensions), in the units of the grid.
        temperature: of the soft histogram; None: a hard one. Tavernor et al. train with 8.
        factor: the bandwidth is multiplied by it.
        iterations: steps of the search for the root. If left out, as many as end within
            1e-6 of it: 5 if `temperature` times the range is at most 20, otherwise 16.

    Example:
        >>> ratings = np.random.default_rng(0).normal(size=(200, 2)) * [0.3, 0.2]
        >>> estimate = diffusion_kde(ratings, Grid((64, 64)))
        >>> estimate.density.shape, estimate.bandwidth.round(2).tolist()
        ((64, 64), [0.13, 0.1])

    Reference: Botev, Grotowski and Kroese (2010), doi:10.1214/10-AOS799; Tavernor et al. (2024),
    arXiv:2408.11956, for ratings.
    """
    shares = histogram(observations, grid, temperature=temperature)
    n = observations.shape[-2]
    kept = transformed(shares, grid.n_dimensions, cosines)
    if iterations is None:
        gentle = isinstance(temperature, (int, float))
        gentle = gentle and temperature * grid.range.max() <= GENTLE
        iterations = FEW if gentle else MANY
    times, has_root = diffusion_times(kept, grid.n_dimensions, n, LIMIT, iterations)
    normal = _normal_times(shares, grid, n).clip(None, LIMIT)
    bandwidth = times.where(has_root[..., None], normal).sqrt() * factor
    density = _valid(_smoothed(kept, bandwidth, grid), grid)
    return Estimate(density, bandwidth * numbers(observations, grid.range), has_root)


def _smoothed(kept: Tensor, bandwidth: Tensor, grid: Grid) -> Any:
    """Masses from cosine coefficients, smoothed by a bandwidth relative to the range."""
    first = -grid.n_dimensions
    for axis in range(grid.n_dimensions):
        width = bandwidth[..., axis, None]
        damping = decay(-0.5 * (table(kept, _frequencies, kept.shape[first + axis]) * width) ** 2)
        if grid.n_dimensions == 2:
            damping = damping.unsqueeze(-2 if axis else -1)
        kept = kept * damping
    return transformed(kept, grid.n_dimensions, inverse_cosines)


def _frequencies(n: int) -> np.ndarray:
    return np.pi * np.arange(n)


def _normal_times(shares: Any, grid: Grid, n: int) -> Any:
    """Times of the normal reference rule, from the variances of histograms: (..., n_dimensions)."""
    import torch

    total = shares.sum(grid.axes)[..., None]
    total = total.where(total > 0, 1)
    variances = []
    for dimension, length in enumerate(grid.shape):
        mass = marginal(shares, grid, dimension) / total
        places = table(shares, _places, length)
        mean = (mass * places).sum(-1)[..., None]
        variances.append((mass * (places - mean) ** 2).sum(-1) + 1 / (12 * length**2))
    factor = (4 / ((grid.n_dimensions + 2) * n)) ** (2 / (grid.n_dimensions + 4))
    return torch.stack(variances, -1) * factor


def _places(n: int) -> np.ndarray:
    """The centres of cells, relative to the range."""
    return (np.arange(n) + 0.5) / n


def _valid(density: Any, grid: Grid) -> Any:
    """Without negative masses, which rounding causes, and with the sum 1; even if all are 0."""
    import torch

    least = torch.finfo(density.dtype).eps
    density = density.clip(least * grid.cell_size, None)
    return density / density.sum(grid.axes, keepdims=True)
