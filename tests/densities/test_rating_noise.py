"""Several possible ratings for each predicted one."""

from __future__ import annotations

import numpy as np
import torch

from dissensus.densities.observations import KNOTS, noisy, quantiles, stretched


def test_quantiles_are_those_of_a_normal_density() -> None:
    from scipy.stats import norm

    edges = np.linspace(-1, 1, 401)
    masses = np.diff(norm.cdf(edges, 0.1, 0.2))
    np.testing.assert_allclose(quantiles(masses), 0.1 + 0.2 * KNOTS, atol=2e-3)


def test_quantiles_of_levels_are_levels() -> None:
    masses = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    at_knots = quantiles(masses, levels=True)
    assert at_knots[0].tolist() == [-1] * 5 + [1] * 4
    assert (at_knots[1] == 0).all() and (at_knots[2] == 1).all()


def test_noise_has_the_given_spread_and_correlations() -> None:
    ratings = np.array([[0.1, -0.2], [0.3, 0.0], [0.2, 0.4]])
    deviations = 0.1 * np.ones((3, 2, 1)) * KNOTS
    sets = noisy(ratings, deviations, 1.0, 0.0, 0.0)
    np.testing.assert_allclose(sets.mean(axis=0), ratings, atol=1e-12)
    np.testing.assert_allclose(sets.std(axis=0), 0.1, atol=0.01)
    together = noisy(ratings, deviations, 2.0, 1.0, 0.0) - ratings
    np.testing.assert_allclose(together, together[:, :1].repeat(3, axis=1), atol=1e-12)
    np.testing.assert_allclose(together.std(axis=0), 0.2, atol=0.02)
    coupled = noisy(ratings, deviations, 1.0, 0.5, 1.0) - ratings
    np.testing.assert_allclose(coupled[..., 0], coupled[..., 1], atol=1e-12)


def test_the_noise_of_an_annotator_does_not_depend_on_padding() -> None:
    ratings, deviations = np.zeros((5, 2)), np.ones((5, 2, 1)) * KNOTS
    every = noisy(ratings, deviations, 0.3, 0.4, 0.2)
    first = noisy(ratings[:2], deviations[:2], 0.3, 0.4, 0.2)
    np.testing.assert_allclose(every[:, :2], first)


def test_ratings_are_stretched_around_the_mean_of_their_item() -> None:
    ratings = np.array([[0.0], [0.2], [np.nan]])
    present = np.array([True, True, False])
    assert np.round(stretched(ratings, 2.0, present), 6)[:2, 0].tolist() == [-0.1, 0.3]
    assert stretched(np.array([[0.4]]), 3.0).tolist() == [[0.4]]


def test_the_gradients_are_those_of_finite_differences() -> None:
    generator = torch.Generator().manual_seed(0)
    ratings = torch.rand(2, 3, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    spread = torch.rand(2, 3, 2, 1, generator=generator, dtype=torch.float64, requires_grad=True)
    knots = torch.from_numpy(KNOTS)
    present = torch.tensor([[True, True, True], [True, True, False]])

    def sets(values: torch.Tensor, spreads: torch.Tensor) -> torch.Tensor:
        return noisy(stretched(values, 1.5, present), spreads * knots, 0.7, 0.4, 0.2) ** 2

    assert torch.autograd.gradcheck(sets, (ratings, spread))
