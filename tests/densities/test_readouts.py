"""Grids, and what is read from densities."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dissensus.densities import (
    Grid,
    expectation,
    marginal,
    pool,
    region_levels,
)
from dissensus.errors import DataError


def densities(*shape: int, n_dimensions: int = 2, seed: int = 0) -> np.ndarray:
    masses = np.random.default_rng(seed).random(shape) ** 3
    return masses / masses.sum(axis=tuple(range(-n_dimensions, 0)), keepdims=True)


def test_grids_that_cannot_be() -> None:
    cases = {
        "a grid has 1 or 2 dimensions, not 3": ((4, 4, 4), (-1, 1)),
        "a grid has at least 2 cells in each dimension, not 1": (1, (-1, 1)),
        "the limits of a grid are a lower and a higher number, not 1 and -1": (4, (1, -1)),
        "a grid of 1 dimensions needs one pair of limits, or one for each dimension, not 2": (
            4,
            [(-1, 1), (0, 1)],
        ),
    }
    for message, (shape, limits) in cases.items():
        with pytest.raises(DataError) as caught:
            Grid(shape, limits)  # type: ignore[arg-type]
        assert str(caught.value) == message


def test_densities_of_another_grid_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        marginal(np.ones((3, 4)), Grid((4, 4)), 0)
    assert str(caught.value) == "densities on this grid have the shape (..., 4, 4), not (3, 4)"


@pytest.mark.parametrize("shape", [(3, 2), (4, 4), (5, 7), (12, 8)])
def test_pooling_keeps_mass_and_agrees_with_integrals(shape: tuple[int, int]) -> None:
    grid, p = Grid((12, 8)), densities(3, 12, 8)
    pooled = pool(p, grid, shape)
    np.testing.assert_allclose(pooled.sum(axis=(1, 2)), 1)
    fine = np.repeat(np.repeat(p, 35, axis=1), 35, axis=2)  # (3, 420, 280)
    blocks = fine.reshape(3, shape[0], 420 // shape[0], shape[1], 280 // shape[1])
    np.testing.assert_allclose(pooled, blocks.sum(axis=(2, 4)) / 35**2, atol=1e-12)
    np.testing.assert_allclose(pool(torch.from_numpy(p), grid, shape), pooled)


def test_expectations_and_marginals() -> None:
    p, grid = densities(3, 4, 5), Grid((4, 5), limits=[(-1, 1), (0, 10)])
    np.testing.assert_allclose(marginal(p, grid, 0), p.sum(axis=2))
    np.testing.assert_allclose(marginal(p, grid, 1), p.sum(axis=1))
    means = expectation(p, grid)
    np.testing.assert_allclose(means[:, 1], p.sum(axis=1) @ [1, 3, 5, 7, 9])
    ends = expectation(torch.from_numpy(p), grid, positions="ends")
    np.testing.assert_allclose(ends[:, 0], p.sum(axis=2) @ [-1, -1 / 3, 1 / 3, 1])


def test_regions_are_the_smallest_with_their_share() -> None:
    p, grid = densities(3, 6, 6), Grid((6, 6))
    levels = region_levels(p, grid, [0.5, 0.9])
    for density, (half, most) in zip(p, levels, strict=True):
        for level, share in ((half, 0.5), (most, 0.9)):
            assert density[density >= level].sum() >= share > density[density > level].sum()
