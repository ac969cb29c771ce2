"""Grids, distances, and what is read from densities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance
from torch import Tensor

from dissensus.densities import (
    Grid,
    cross_entropy,
    expectation,
    jsd,
    marginal,
    pool,
    region_levels,
    sample,
    tvd,
    wasserstein,
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
        tvd(np.ones((3, 4)), np.ones((3, 4)), Grid((4, 4)))
    assert str(caught.value) == "densities on this grid have the shape (..., 4, 4), not (3, 4)"


def test_distances_of_tensors_are_those_of_arrays() -> None:
    p, q, grid = densities(5, 6, 8), densities(5, 6, 8, seed=1), Grid((6, 8))
    for distance in (tvd, jsd, cross_entropy, wasserstein):
        expected = distance(p, q, grid)
        assert expected.shape == (5,)
        tensors = distance(torch.from_numpy(p), torch.from_numpy(q), grid)
        np.testing.assert_allclose(tensors, expected, atol=1e-12)


def test_distances_have_gradients() -> None:
    p = torch.from_numpy(densities(2, 4, 4))
    q = torch.from_numpy(densities(2, 4, 4, seed=1)).requires_grad_()
    for distance in (tvd, jsd, cross_entropy, wasserstein):

        def of(q: Tensor, distance=distance) -> Tensor:  # type: ignore[no-untyped-def]
            return distance(p, q, Grid((4, 4)))

        torch.autograd.gradcheck(of, [q], eps=1e-7, atol=1e-5)


def test_wasserstein_in_one_dimension_agrees_with_scipy() -> None:
    grid = Grid(12, limits=(0, 6))
    p, q = densities(12, n_dimensions=1), densities(12, n_dimensions=1, seed=1)
    expected = wasserstein_distance(grid.centres[0], grid.centres[0], p, q)
    assert float(wasserstein(p, q, grid)) == pytest.approx(expected)


def test_sliced_wasserstein_is_below_the_distance_of_mass_moved_in_the_plane() -> None:
    """Of two points it is 2 / pi of their distance; of others at most the exact distance."""
    grid = Grid((6, 6))
    one, other = np.zeros((6, 6)), np.zeros((6, 6))
    one[0, 0], other[3, 4] = 1, 1
    distance = np.hypot(3, 4) * 2 / 6
    sliced = wasserstein(one, other, grid, n_directions=512)
    assert float(sliced) == pytest.approx(distance * 2 / np.pi, rel=1e-3)
    p, q = densities(6, 6), densities(6, 6, seed=1)
    points = np.stack(np.meshgrid(*grid.centres, indexing="ij"), axis=-1).reshape(-1, 2)
    costs = np.linalg.norm(points[:, None] - points, axis=-1)
    sums = np.concatenate([np.kron(np.eye(36), np.ones(36)), np.kron(np.ones(36), np.eye(36))])
    exact = linprog(costs.ravel(), A_eq=sums, b_eq=np.concatenate([p.ravel(), q.ravel()])).fun
    assert 0.4 * exact < float(wasserstein(p, q, grid)) < exact


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


def test_samples_have_the_density_they_are_drawn_from() -> None:
    p, grid = densities(2, 4, 3), Grid((4, 3), limits=[(-1, 1), (0, 3)])
    ratings = sample(p, grid, 40000, seed=1)
    assert ratings.shape == (2, 40000, 2)
    for drawn, density in zip(ratings, p, strict=True):
        counts, *_ = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=list(grid.edges))
        np.testing.assert_allclose(counts / 40000, density, atol=0.01)
    np.testing.assert_array_equal(sample(p, grid, 40000, seed=1), ratings)


def test_regions_are_the_smallest_with_their_share() -> None:
    p, grid = densities(3, 6, 6), Grid((6, 6))
    levels = region_levels(p, grid, [0.5, 0.9])
    for density, (half, most) in zip(p, levels, strict=True):
        for level, share in ((half, 0.5), (most, 0.9)):
            assert density[density >= level].sum() >= share > density[density > level].sum()
