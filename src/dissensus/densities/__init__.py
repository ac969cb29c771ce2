"""How do ratings spread? `observations -> density`: mass on a grid over one question or two.

Functions take numpy arrays, or torch tensors, with any batch axes `...`. With tensors they have
gradients, and can be vmapped and captured in a CUDA graph. Arrays are computed in float64.

- ratings: (..., n_annotators, n_dimensions), with a mask (..., n_annotators) where some are missing
- observations: (..., n_observations, n_dimensions)
- density: (..., *grid.shape), the mass in each cell, which sums to 1

`draw_observations` makes observations of ratings; `histogram`
and `diffusion_kde` make densities of observations; `pool` makes them coarser.

Example:
    >>> import numpy as np
    >>> grid = Grid((64, 64), limits=(-1, 1))
    >>> ratings = np.array([[0.2, 0.0], [0.4, -0.2], [0.9, -0.1]])  # of three annotators
    >>> uniforms = np.random.default_rng(0).random((200, n_uniforms(3, 2)))
    >>> observations = draw_observations(ratings, uniforms, grid)
    >>> density, bandwidth, has_root = diffusion_kde(observations, grid, temperature=8)
    >>> pool(density, grid, (2, 2)).round(2).tolist()
    [[0.04, 0.02], [0.62, 0.32]]
"""

from __future__ import annotations

from dissensus.densities.grid import Grid
from dissensus.densities.histogram import histogram
from dissensus.densities.kde import Estimate, diffusion_kde
from dissensus.densities.observations import draw_observations, n_uniforms
from dissensus.densities.rating_kde import RatingKde, rating_densities, unit_positions
from dissensus.densities.readouts import expectation, marginal, pool, region_levels

__all__ = [
    "Estimate",
    "Grid",
    "RatingKde",
    "diffusion_kde",
    "draw_observations",
    "expectation",
    "histogram",
    "marginal",
    "n_uniforms",
    "pool",
    "rating_densities",
    "region_levels",
    "unit_positions",
]
