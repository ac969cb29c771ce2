"""Grids, and what is read from densities."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dissensus.densities import Grid, expectation, marginal, pool, region_levels


def densities(*shape: int, n_dimensions: int = 2, seed: int = 0) -> np.ndarray:
    masses = np.random.default_rng(seed).random(shape) ** 3
    return masses / masses.sum(axis=tuple(range(-n_dimensions, 0)), keepdims=True)


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
