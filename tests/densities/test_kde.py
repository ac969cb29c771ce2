"""Density estimates: known numbers, other estimators, gradients, batches, vmap, difficult input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import gaussian_kde
from torch import Tensor

from dissensus.densities import Grid, diffusion_kde, histogram, pool
from tests.densities.examples import DEGENERATE, crowds, published, tvd

SQUARE = Grid((64, 64))
HARD = [[0, 0, 0, 0], [0.0029, 0.1965, 0.1273, 0], [0.0031, 0.2040, 0.1343, 0],
        [0.0031, 0.2015, 0.1272, 0]]  # fmt: skip
SOFT = [[0.0070, 0.0272, 0.0198, 0.0024], [0.0334, 0.1291, 0.0941, 0.0111],
        [0.0468, 0.1804, 0.1313, 0.0155], [0.0380, 0.1457, 0.1056, 0.0124]]  # fmt: skip

SLOW = pytest.mark.slow


def observations(n_items: int, n: int = 200, n_dimensions: int = 2, seed: int = 0) -> np.ndarray:
    return crowds(n_items, n, n_dimensions, seed)


@pytest.mark.parametrize("kind", ["numpy", "float64", "float32"])
@pytest.mark.parametrize(
    ("n", "temperature", "bandwidth", "masses"),
    [(512, None, (0.07246, 0.06775), HARD), (64, 8.0, (0.2283, 0.1623), SOFT)],
    ids=["hard", "soft"],
)
def test_known_densities(
    kind: str, n: int, temperature: float | None, bandwidth: tuple[float, ...], masses: Any
) -> None:
    """Of the authors' estimator (Tavernor et al. 2024), computed independently."""
    values: Any = published()
    if kind != "numpy":
        values = torch.from_numpy(values).to(getattr(torch, kind))
    grid = Grid((n, n))
    estimate = diffusion_kde(values, grid, temperature=temperature)
    assert bool(estimate.has_root)
    np.testing.assert_allclose(estimate.bandwidth, bandwidth, atol=5e-5)
    np.testing.assert_allclose(pool(estimate.density, grid, (4, 4)), masses, atol=6e-5)


def test_known_distances_between_hard_and_soft_densities() -> None:
    values, fine, four = torch.from_numpy(published()), Grid((512, 512)), Grid((4, 4))
    hard = pool(diffusion_kde(values, fine).density, fine, 4)
    soft = pool(diffusion_kde(values, SQUARE, temperature=8.0).density, SQUARE, 4)
    sharp = pool(diffusion_kde(values, fine, temperature=256.0).density, fine, 4)
    assert float(tvd(hard, soft, four)) == pytest.approx(0.205, abs=5e-4)
    assert float(tvd(hard, sharp, four)) == pytest.approx(0.0007, abs=5e-5)


def first_root(error: Callable[[float], float], n_times: int) -> float | None:
    """The first change of sign on a dense grid of times, and Brent's method there."""
    from scipy.optimize import brentq

    times = np.geomspace(1e-9, 0.1, n_times)
    above = np.array([error(time) for time in times]) > 0
    changes = np.flatnonzero(above[1:] & ~above[:-1])
    if not len(changes):
        return None
    return float(brentq(error, times[changes[0]], times[changes[0] + 1], xtol=1e-16))


def times_of_botev(shares: np.ndarray, n: int) -> list[float] | None:
    """In one dimension, as Botev's kde.m has it, written out for one histogram."""
    from scipy.fft import dct

    squares, power = np.arange(len(shares)) ** 2.0, (dct(shares) / 2) ** 2

    def error(time: float) -> float:
        f = 2 * np.pi**14 * (squares**7 * power * np.exp(-squares * np.pi**2 * time)).sum()
        for s in range(6, 1, -1):
            odd = np.prod(np.arange(1, 2 * s, 2.0)) / np.sqrt(2 * np.pi)
            later = (2 * (1 + 0.5 ** (s + 0.5)) / 3 * odd / n / f) ** (2 / (3 + 2 * s))
            damped = squares**s * power * np.exp(-squares * np.pi**2 * later)
            f = 2 * np.pi ** (2 * s) * damped.sum()
        return float(time - (2 * n * np.sqrt(np.pi) * max(f, 1e-30)) ** -0.4)

    root = first_root(error, 400)
    return None if root is None else [root]


def times_of_tavernor(shares: np.ndarray, n: int) -> list[float] | None:
    """In two dimensions, with a psi that calls itself."""
    from scipy.fft import dctn

    cosines, squares = dctn(shares), np.arange(len(shares)) ** 2.0
    cosines[0] /= 2
    cosines[:, 0] /= 2
    half = np.where(squares > 0, 0.5, 1)

    def psi(i: int, j: int, time: float) -> float:
        if i + j <= 4:
            total = abs(psi(i + 1, j, time) + psi(i, j + 1, time))
            odd = math.prod(range(1, 2 * i, 2)) * math.prod(range(1, 2 * j, 2))
            share = (1 + 0.5 ** (i + j + 1)) / 3
            time = (share * odd / (np.pi * n * total)) ** (1 / (2 + i + j))
        weights = half * np.exp(-(np.pi**2) * squares * time)
        value = (weights * squares**j) @ cosines**2 @ (weights * squares**i)
        return float((-1) ** (i + j) * np.pi ** (2 * (i + j)) * value)

    def error(time: float) -> float:
        total = psi(0, 2, time) + psi(2, 0, time) + 2 * psi(1, 1, time)
        gamma = (2 * np.pi * n * total) ** (-1 / 3)
        return float((time - gamma) / gamma - time)

    root = first_root(error, 60)
    if root is None:
        return None
    ratio = (psi(2, 0, root) / psi(0, 2, root)) ** 0.75
    mixed = psi(1, 1, root) + math.sqrt(psi(0, 2, root) * psi(2, 0, root))
    return [(r / (4 * np.pi * n * mixed)) ** (1 / 3) for r in (ratio, 1 / ratio)]


def samples(n_dimensions: int) -> list[np.ndarray]:
    """Samples of several sizes with one mode or more, evenly spread ones, and whole levels."""
    generator = np.random.default_rng(0)

    def modes(places: list[float], width: float, n: int) -> np.ndarray:
        noise = width * generator.normal(size=(n, n_dimensions))
        return generator.choice(places, (n, n_dimensions)) + noise

    drawn = []
    for n in (4, 10, 30, 100):
        drawn += [modes([0.1], 0.2, n), modes([-0.5, 0.5], 0.1, n), modes([-0.5, 0.5], 0.2, n)]
        drawn += [
            modes([-0.6, -0.4, 0.4, 0.6], 0.02, n),
            generator.uniform(-1, 1, (n, n_dimensions)),
        ]
        drawn += [generator.choice(np.linspace(-1, 1, 5), (n, n_dimensions))]
    return [each.clip(-1, 1) for each in drawn]


@pytest.mark.parametrize(
    ("n_dimensions", "temperature"),
    [
        (1, None),
        (2, 8.0),
        *(pytest.param(n, t, marks=SLOW) for n, t in ((1, 8.0), (1, 40.0), (2, None), (2, 40.0))),
    ],
)
def test_the_root_is_the_smallest(n_dimensions: int, temperature: float | None) -> None:
    """Also where there are more of them below the limit, and where there is none."""
    grid = Grid((32,) * n_dimensions)
    n_roots = 0
    for values in samples(n_dimensions):
        shares = histogram(values, grid, temperature=temperature)
        times = (times_of_botev if n_dimensions == 1 else times_of_tavernor)(shares, len(values))
        for kind in (values, torch.from_numpy(values)):
            _, bandwidth, has_root = diffusion_kde(
                kind, grid, temperature=temperature, iterations=16
            )
            assert bool(has_root) == (times is not None)
            if times is not None:
                expected = 2 * np.sqrt(np.minimum(times, 1))
                np.testing.assert_allclose(bandwidth, expected, rtol=1e-5)
                n_roots += 1
    assert 10 < n_roots < 48


@pytest.mark.parametrize("n_dimensions", [1, 2])
@pytest.mark.parametrize("temperature", [None, 4.0, 8.0, 64.0])
def test_many_at_once_agree_with_scipy(n_dimensions: int, temperature: float | None) -> None:
    values = observations(40, n_dimensions=n_dimensions)
    grid = Grid((32,) * n_dimensions)
    one = diffusion_kde(values, grid, temperature=temperature)
    many = diffusion_kde(torch.from_numpy(values), grid, temperature=temperature)
    single = diffusion_kde(torch.from_numpy(values).float(), grid, temperature=temperature)
    np.testing.assert_array_equal(many.has_root, one.has_root)
    np.testing.assert_allclose(many.bandwidth, one.bandwidth, rtol=1e-6)
    np.testing.assert_allclose(many.density, one.density, atol=1e-8)
    np.testing.assert_allclose(single.density, one.density, atol=2e-5)
    np.testing.assert_allclose(many.density.sum(grid.axes), 1)


@pytest.mark.parametrize(
    "temperature", [8.0, *(pytest.param(t, marks=SLOW) for t in (None, 2.0, 30.0, 100.0))]
)
def test_the_search_for_a_root_ends_in_time(temperature: float | None) -> None:
    values = torch.from_numpy(np.concatenate([observations(60, 20), observations(60)[:, 5:25]]))
    grid = Grid((64, 64))
    short = diffusion_kde(values, grid, temperature=temperature)
    long = diffusion_kde(values, grid, temperature=temperature, iterations=60)
    torch.testing.assert_close(short.bandwidth, long.bandwidth, rtol=1e-6, atol=0)


def test_the_limits_reflect_the_kernel() -> None:
    """The sum of Gaussian kernels and of their mirror images, where the bandwidth is the same."""
    grid = Grid((48, 48), limits=[(-1, 1), (0, 5)])
    generator = np.random.default_rng(1)
    cells = generator.integers(0, 12, (30, 2))  # near two limits
    values = np.stack([grid.centres[axis][cells[:, axis]] for axis in (0, 1)], axis=1)
    density, bandwidth, _ = diffusion_kde(values, grid)
    factors = []
    for axis in (0, 1):
        low, high = grid.limits[axis]
        images = [2 * k * (high - low) + sign * (values[:, axis] - low) + low
                  for k in range(-3, 4) for sign in (1, -1)]  # fmt: skip
        distances = grid.centres[axis][:, None, None] - np.array(images)
        factors.append(np.exp(-((distances / bandwidth[axis]) ** 2) / 2).sum(axis=1))
    kernels = factors[0] @ factors[1].T
    np.testing.assert_allclose(density, kernels / kernels.sum(), atol=1e-7)


def loss(density: Tensor, bandwidth: Tensor) -> Tensor:
    weights = torch.linspace(-1, 2, density[0].numel(), dtype=density.dtype).sin()
    return (density.flatten(1) @ weights * 7).sum() + (bandwidth * 3).sin().sum()


@pytest.mark.parametrize(
    ("n_dimensions", "temperature"),
    [(1, 30.0), *(pytest.param(n, t, marks=SLOW) for n, t in ((1, 4.0), (2, 4.0), (2, 30.0)))],
)
def test_gradients_are_finite_differences(n_dimensions: int, temperature: float) -> None:
    """Of observations, temperature and factor, through the bandwidth too."""
    grid = Grid((16, 20)[:n_dimensions])
    values = torch.from_numpy(observations(2, 60, n_dimensions, seed=2)) * 0.9
    softness = torch.tensor(temperature, dtype=torch.float64)
    factor = torch.tensor(1.2, dtype=torch.float64)

    def of(*inputs: Tensor) -> Tensor:
        values, softness, factor = inputs
        estimate = diffusion_kde(values, grid, temperature=softness, factor=factor, iterations=20)
        assert bool(estimate.has_root.all())
        return loss(estimate.density, estimate.bandwidth)

    inputs = [each.requires_grad_() for each in (values, softness, factor)]
    torch.autograd.gradcheck(of, inputs, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_gradients_without_a_search_are_finite_differences() -> None:
    """Of the normal reference rule where there is no root."""
    values = torch.from_numpy(observations(2, 5, 2)).requires_grad_()
    grid = Grid((12, 12))

    def without_root(values: Tensor) -> Tensor:
        estimate = diffusion_kde(values, grid, temperature=1.0)
        assert not bool(estimate.has_root.any())
        return loss(estimate.density, estimate.bandwidth)

    torch.autograd.gradcheck(without_root, [values], eps=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_dimensions", [1, 2])
def test_trainings_can_be_stacked(n_dimensions: int) -> None:
    """vmap over members, with random operations forbidden, of values and of gradients."""
    grid = Grid((16,) * n_dimensions)
    values = torch.from_numpy(observations(12, 30, n_dimensions)).reshape(3, 4, 30, n_dimensions)

    def of(values: Tensor) -> Tensor:
        estimate = diffusion_kde(values, grid, temperature=8.0)
        return loss(estimate.density, estimate.bandwidth)

    stacked = torch.func.vmap(torch.func.grad(of), randomness="error")(values)
    together = values.clone().requires_grad_()
    total = torch.func.vmap(of, randomness="error")(together).sum()
    (mapped,) = torch.autograd.grad(total, together)
    for member in range(3):
        alone = values[member].clone().requires_grad_()
        (gradient,) = torch.autograd.grad(of(alone), alone)
        torch.testing.assert_close(stacked[member], gradient, atol=1e-9, rtol=1e-6)
        torch.testing.assert_close(mapped[member], gradient, atol=1e-9, rtol=1e-6)


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("temperature", [None, 0.1, 8.0, 1000.0])
@pytest.mark.parametrize("n_dimensions", [1, 2])
def test_difficult_observations_have_a_density(
    case: str, temperature: float | None, n_dimensions: int
) -> None:
    grid = Grid((32,) * n_dimensions)
    values = DEGENERATE[case][:, :n_dimensions]
    for dtype in (torch.float32, torch.float64):
        tensor = torch.from_numpy(values).to(dtype).requires_grad_()
        estimate = diffusion_kde(tensor, grid, temperature=temperature)
        assert bool(torch.isfinite(estimate.density).all()) and bool((estimate.density >= 0).all())
        assert float(estimate.density.detach().sum()) == pytest.approx(1, abs=1e-5)
        assert bool(((estimate.bandwidth > 0) & (estimate.bandwidth <= 2)).all())
        if temperature is not None:
            loss(estimate.density[None], estimate.bandwidth[None]).backward()  # type: ignore[no-untyped-call]
            assert tensor.grad is not None and bool(torch.isfinite(tensor.grad).all())
    reference = diffusion_kde(values, grid, temperature=temperature)
    np.testing.assert_allclose(estimate.density.detach(), reference.density, atol=1e-7)
    assert bool(reference.has_root) == bool(estimate.has_root)


@pytest.mark.parametrize("n_dimensions", [1, 2])
def test_without_a_root_the_normal_reference_rule_takes_its_place(n_dimensions: int) -> None:
    """scipy calls it Silverman's. A cell stands for ratings that are even within it."""
    values, grid = DEGENERATE["even"][:, :n_dimensions] * 32 / 33, Grid((33,) * n_dimensions)
    deviation = np.sqrt(values.var(axis=0) + (2 / 33) ** 2 / 12)
    for kind in (values, torch.from_numpy(values)):
        _, bandwidth, has_root = diffusion_kde(kind, grid)
        assert not bool(has_root)
        factor = gaussian_kde(values.T, bw_method="silverman").factor
        np.testing.assert_allclose(bandwidth, deviation * factor, rtol=1e-6)


def test_units_of_the_ratings_do_not_matter() -> None:
    values = torch.from_numpy(observations(5))
    unit = diffusion_kde(values, SQUARE, temperature=8.0)
    scaled = diffusion_kde(3 + 2 * values, Grid((64, 64), limits=(1, 5)), temperature=4.0)
    torch.testing.assert_close(scaled.density, unit.density)
    torch.testing.assert_close(scaled.bandwidth, 2 * unit.bandwidth)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("temperature", [8.0, 20.0, 60.0])
def test_soft_shares_are_exact_in_single_precision(temperature: float, learned: bool) -> None:
    """Far below and far above a position, where differences of shares would be rounding error."""
    drawn = np.random.default_rng(0).uniform(-1, 1, (64, 6, 2)).astype(np.float32)

    def soft(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        values = torch.from_numpy(drawn).to(dtype).clone().requires_grad_()
        sharp: Any = torch.tensor(temperature, dtype=dtype) if learned else temperature
        masses = histogram(values, Grid((4, 4)), temperature=sharp)
        masses.clamp_min(1e-25).log().sum().backward()
        assert values.grad is not None
        return masses.detach().double(), values.grad.double()

    masses, gradients = soft(torch.float32)
    exact, exact_gradients = soft(torch.float64)
    np.testing.assert_allclose(masses, exact, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(gradients, exact_gradients, rtol=1e-4, atol=1e-4)
    double = histogram(drawn.astype(float), Grid((4, 4)), temperature=temperature)
    np.testing.assert_allclose(exact, double, rtol=1e-10)
