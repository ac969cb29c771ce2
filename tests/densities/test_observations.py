"""Observations of ratings: how they are drawn, padding, gradients."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dissensus.densities import Grid, diffusion_kde, draw_observations, n_uniforms, pool
from tests.densities.examples import crowds, tvd

SQUARE = Grid((64, 64))


def uniforms(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape)


def test_a_draw_by_hand() -> None:
    """Two of three annotators; their mean; noise of half the standard deviation."""
    ratings = np.array([[0.0, 0.1], [0.2, 0.3], [0.4, 0.8]])
    drawn = np.array([[0.5, 0.75, 0.0, 0.3, 0.9, 0.1]])  # size, noise, noise, keys
    first = 0.2 + 0.5 * 0.5 * 0.2
    second = 0.45 - 0.5 * float(np.std([0.1, 0.3, 0.8], ddof=1))
    observations = draw_observations(ratings, drawn, SQUARE)
    np.testing.assert_allclose(observations, [[first, second]], atol=1e-9)
    tensor = draw_observations(torch.from_numpy(ratings), torch.from_numpy(drawn), SQUARE)
    np.testing.assert_allclose(tensor, observations, atol=1e-12)


def test_subsets_of_every_size_are_equally_probable() -> None:
    ratings = np.array([[0.1], [0.2], [0.4], [0.8]])  # all subsets have different means
    drawn = uniforms(60000, n_uniforms(4, 1))
    drawn[:, 1] = 0.5  # no noise
    means = draw_observations(ratings, drawn, Grid(64))[:, 0]
    for size in range(1, 5):
        for subset in itertools.combinations(ratings[:, 0], size):
            share = np.isclose(means, np.mean(subset)).mean()
            assert share == pytest.approx(1 / 4 / math.comb(4, size), abs=0.006)


def test_observations_stay_within_the_limits() -> None:
    ratings = np.array([[1.0, 5.0], [5.0, 5.0]])
    observations = draw_observations(ratings, uniforms(500, 5), Grid((8, 8), limits=(1, 5)))
    assert observations.min() >= 1 and observations.max() == 5


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_padding_changes_nothing(kind: str) -> None:
    ratings, drawn = crowds(4, 7, 2), uniforms(4, 50, n_uniforms(7, 2))
    mask = np.arange(7) < np.array([1, 2, 5, 7])[:, None]
    ratings[~mask] = np.nan
    inputs: Any = [ratings, drawn, mask]
    if kind == "torch":
        inputs = [torch.from_numpy(each) for each in inputs]
    together = draw_observations(inputs[0], inputs[1], SQUARE, inputs[2])
    for item, n in enumerate((1, 2, 5, 7)):
        alone = draw_observations(inputs[0][item, :n], inputs[1][item, :, : n + 3], SQUARE)
        np.testing.assert_allclose(together[item], alone, atol=1e-12)


def test_items_without_annotators_and_annotators_who_agree() -> None:
    ratings = torch.full((3, 4, 2), 0.5, requires_grad=True)
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=torch.bool)
    drawn = torch.from_numpy(uniforms(3, 20, n_uniforms(4, 2))).float()
    observations = draw_observations(ratings, drawn, SQUARE, mask)
    expected = torch.tensor([0.5, 0.5, 0.0])[:, None, None].expand(3, 20, 2)
    torch.testing.assert_close(observations.detach(), expected)
    estimate = diffusion_kde(observations, SQUARE, temperature=8.0)
    torch.testing.assert_close(estimate.density.sum(dim=(-1, -2)).detach(), torch.ones(3))
    (gradient,) = torch.autograd.grad((estimate.density[:, :9] ** 2).sum(), ratings)
    assert bool(torch.isfinite(gradient).all())


def test_gradients_are_finite_differences() -> None:
    ratings = torch.from_numpy(crowds(2, 4, 2) * 0.7).requires_grad_()
    mask = torch.arange(4) < torch.tensor([2, 4])[:, None]
    drawn = torch.from_numpy(uniforms(2, 10, n_uniforms(4, 2)))
    grid = Grid((12, 12))

    def drawing(ratings: Tensor) -> Tensor:
        observations = draw_observations(ratings, drawn, grid, mask)
        density = diffusion_kde(observations, grid, temperature=8.0, iterations=20).density
        return pool(density, grid, 2)

    torch.autograd.gradcheck(drawing, [ratings], eps=1e-6, atol=1e-6)


def test_draws_and_densities_can_be_vmapped() -> None:
    ratings = torch.from_numpy(crowds(6, 5, 2)).reshape(2, 3, 5, 2)
    drawn = torch.from_numpy(uniforms(2, 3, 30, n_uniforms(5, 2)))
    mask = torch.arange(5) < torch.tensor([[2, 4, 5], [1, 3, 5]])[..., None]
    target = torch.full((3, 4, 4), 1 / 16, dtype=torch.float64)

    def drawing(ratings: Tensor, drawn: Tensor, mask: Tensor) -> Tensor:
        observations = draw_observations(ratings, drawn, SQUARE, mask)
        pooled = pool(diffusion_kde(observations, SQUARE, temperature=8.0).density, SQUARE, 4)
        return tvd(pooled, target, Grid((4, 4))).sum()

    vmap, grad = torch.func.vmap, torch.func.grad
    stacked = vmap(grad(drawing), randomness="error")(ratings, drawn, mask)
    shared = vmap(grad(drawing), (0, None, 0), randomness="error")(ratings, drawn[0], mask)
    for member in range(2):
        inputs = ratings[member], drawn[member], mask[member]
        torch.testing.assert_close(stacked[member], grad(drawing)(*inputs))
        inputs = ratings[member], drawn[0], mask[member]
        torch.testing.assert_close(shared[member], grad(drawing)(*inputs))
