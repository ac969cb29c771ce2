"""Likelihoods against scipy and scikit-learn, and what they promise for every scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import log_ndtr
from scipy.stats import entropy, norm
from sklearn.metrics import log_loss
from torch.distributions import Categorical, MixtureSameFamily, Normal
from torch.func import grad, vmap

from dissensus.networks.likelihoods import DIVERGENCES, FLOOR, Grouped, likelihood, log_normal_mass
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale
from tests.crowds import SCALES

N = 40


@pytest.fixture(params=SCALES)
def scale(request: pytest.FixtureRequest) -> Scale:
    return SCALES[request.param]


def _raw(scale: Scale) -> torch.Tensor:
    reading = likelihood(scale)
    torch.manual_seed(0)
    return torch.randn(N, reading.n_outputs + reading.n_constants, dtype=torch.float64)


def _answers(scale: Scale) -> np.ndarray:
    generator = np.random.default_rng(1)
    if isinstance(scale, Interval):
        return generator.uniform(scale.low, scale.high, N)
    high = 1 << len(scale) if isinstance(scale, MultiLabel) else len(scale)  # type: ignore[arg-type]
    return generator.integers(0, high, N)


def test_distributions_are_distributions(scale: Scale) -> None:
    result = likelihood(scale).distribution(_raw(scale)).numpy()
    assert result.shape == (N, scale.n_columns)
    assert (result >= 0).all() and (result <= 1).all()
    if not isinstance(scale, MultiLabel):
        np.testing.assert_allclose(result.sum(axis=1), 1)


def test_the_value_is_the_scales_consensus(scale: Scale) -> None:
    reading = likelihood(scale)
    raw = _raw(scale)
    value = reading.value(raw).numpy()
    if isinstance(scale, Interval):
        np.testing.assert_array_equal(value, raw[:, 0].clamp(-1, 1).numpy())
    else:
        np.testing.assert_array_equal(value, scale.consensus(reading.distribution(raw).numpy()))


def test_choices_cost_what_scikit_learn_says() -> None:
    for scale in (Nominal(("a", "b", "c")), Ordinal(("1", "2", "3"))):
        reading, answers = likelihood(scale), _answers(scale)
        loss = reading.loss(_raw(scale), torch.from_numpy(reading.target(answers)))
        shares = reading.distribution(_raw(scale)).numpy()
        assert loss.mean().item() == pytest.approx(log_loss(answers, shares, labels=[0, 1, 2]))


def test_ratings_cost_what_scipy_says() -> None:
    scale = Interval(0, 10, n_bins=5)
    reading, raw = likelihood(scale), _raw(scale) / 2
    place, spread = raw[:, 0].numpy(), np.exp(raw[:, 1].numpy())
    unit = scale.to_unit(_answers(scale))
    loss = reading.loss(raw, torch.from_numpy(unit))
    np.testing.assert_allclose(loss, -norm.logpdf(unit, place, spread))
    edges = np.r_[-np.inf, -0.6, -0.2, 0.2, 0.6, np.inf]
    expected = np.diff(norm.cdf(edges, place[:, None], spread[:, None]), axis=1)
    np.testing.assert_allclose(reading.distribution(raw), expected, atol=1e-12)


def test_multi_label_answers_cost_what_scikit_learn_says() -> None:
    scale = SCALES["multi-label"]
    reading, answers = likelihood(scale), _answers(scale)
    raw, chosen = _raw(scale), scale.one_hot(answers)
    loss = reading.loss(raw, torch.from_numpy(chosen)).mean().item()
    each = [log_loss(chosen[:, v], raw[:, v].sigmoid().numpy()) for v in range(3)]
    assert loss == pytest.approx(np.mean(each))


def test_the_start_is_what_one_would_answer_unseen(scale: Scale) -> None:
    reading, answers = likelihood(scale), _answers(scale)
    raw = torch.from_numpy(reading.start(answers, np.ones(N)))[None]
    unseen = reading.distribution(raw)[0].numpy()
    if isinstance(scale, Interval):
        assert scale.from_unit(raw[0, 0].numpy()) == pytest.approx(answers.mean())
        spread = scale.to_unit(answers).std()
        assert raw[0, 1].exp().item() == pytest.approx(spread)
    else:
        np.testing.assert_allclose(unseen, scale.one_hot(answers).mean(axis=0), atol=0.05)


def test_starts_of_ratings_by_hand() -> None:
    scale = Interval(0, 10)
    answers, group = np.array([0.0, 10.0, 5.0, 5.0]), np.array([0, 0, 1, 1])
    given = Grouped(answers, np.ones(4), group, 2, smoothing=2.0)
    result = likelihood(scale).starts(given)
    assert result[:, 0].tolist() == [0, 0]
    np.testing.assert_allclose(np.exp(result[:, 1]) ** 2, [(2 + 2 * 0.5) / 4, 2 * 0.5 / 4])


# ---- whole distributions as targets ----


@pytest.fixture(params=DIVERGENCES)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def _shares(scale: Scale) -> torch.Tensor:
    """What three people answered each item, some values never chosen."""
    answers = _answers(scale)
    shares = np.mean([scale.one_hot(np.roll(answers, n)) for n in range(3)], axis=0)
    return torch.from_numpy(shares)


def test_log_masses_are_logarithms_of_the_distribution(scale: Scale) -> None:
    raw = _raw(scale)
    result, masses = likelihood(scale).log_masses(raw).exp(), likelihood(scale).distribution(raw)
    expected = torch.stack([1 - masses, masses], -1) if isinstance(scale, MultiLabel) else masses
    np.testing.assert_allclose(result, expected, atol=1e-14)


def test_the_gradient_of_the_soft_loss_is_its_slope(scale: Scale, kind: Any) -> None:
    raw = _raw(scale).requires_grad_()
    shares, reading = _shares(scale), likelihood(scale)
    assert torch.autograd.gradcheck(lambda r: reading.soft_loss(r, shares, kind), raw)


def test_the_cross_entropy_to_one_answer_is_its_loss(scale: Scale) -> None:
    reading, raw, answers = likelihood(scale), _raw(scale), _answers(scale)
    soft = reading.soft_loss(raw, torch.from_numpy(scale.one_hot(answers)))
    if isinstance(scale, Interval):  # the mass of the answer's bin, not a density
        masses = reading.distribution(raw)[np.arange(N), scale.bins(answers)]
        np.testing.assert_allclose(soft, -masses.log())
    else:
        answer = torch.from_numpy(reading.target(answers))
        answer = answer.double() if answer.is_floating_point() else answer
        np.testing.assert_allclose(soft, reading.loss(raw, answer))


def test_ratings_far_from_what_was_predicted_still_pull(kind: Any) -> None:
    reading = likelihood(Interval(0, 10))
    raw = torch.tensor([[-1.0, -4.0], [1.0, -4.0]], requires_grad=True)  # spread .018
    far = torch.eye(20)[[19, 0]]
    loss = reading.soft_loss(raw, far, kind)
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss).all() and raw.grad is not None and torch.isfinite(raw.grad).all()
    if kind in ("ce", "kl"):  # those that look at the answer's own mass, e^-5450 here
        expected = -norm.logsf(1.9 / np.exp(-4))
        np.testing.assert_allclose(loss.detach(), expected, rtol=1e-5)
        assert raw.grad[0, 0] < 0 < raw.grad[1, 0]


def test_the_loss_of_a_mixture_is_that_of_its_mean(scale: Scale) -> None:
    """Probabilities and marginals against scikit-learn's way, densities against torch's own."""
    reading, answer = likelihood(scale), _answers(scale)
    torch.manual_seed(2)
    raw = torch.randn(N, 7, reading.width, dtype=torch.float64)
    target = torch.from_numpy(reading.target(answer))
    target = target.double() if target.is_floating_point() else target
    result = reading.mixed_loss(raw, target).numpy()
    if isinstance(scale, Interval):
        parts = Normal(raw[..., 0], raw[..., 1].clamp(-4, 2).exp())
        even = Categorical(torch.ones(N, 7, dtype=torch.float64))
        density: Any = MixtureSameFamily(even, parts)
        expected = -density.log_prob(target).numpy()
    else:
        each = [reading.distribution(raw[:, number]).numpy() for number in range(7)]
        mean = np.mean(each, axis=0)
        if isinstance(scale, MultiLabel):
            on = scale.one_hot(answer)
            expected = -(on * np.log(mean) + (1 - on) * np.log(1 - mean)).mean(axis=1)
        else:
            expected = -np.log(mean[np.arange(N), answer])
    np.testing.assert_allclose(result, expected)
    alone = reading.mixed_loss(raw[:, :1], target)
    torch.testing.assert_close(alone, reading.loss(raw[:, 0], target))


# ---- divergences, their slopes, and what happens where masses are 0 ----

P = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.4, 0.6]], dtype=torch.float64)


def _logits() -> torch.Tensor:
    return torch.tensor([[0.3, -1.0, 2.0], [4.0, 0.0, 1.0], [0.0, 0.0, -3.0]], dtype=torch.float64)


def test_values_are_scipys() -> None:
    log_q = _logits().log_softmax(dim=-1)
    p, q = P.numpy(), log_q.exp().numpy()
    expected = {
        "ce": entropy(p, q, axis=1) + entropy(p, axis=1),
        "kl": entropy(p, q, axis=1),
        "inverse-kl": (q * np.log(q / np.maximum(p, FLOOR))).sum(axis=1),
    }
    assert expected.keys() == DIVERGENCES.keys()
    for kind, values in expected.items():
        np.testing.assert_allclose(DIVERGENCES[kind](P, log_q), values, err_msg=kind)
    even = torch.full((1, 3), 1 / 3, dtype=torch.float64)  # no mass is 0: plainly scipy's
    result = DIVERGENCES["inverse-kl"](even, log_q[:1])
    np.testing.assert_allclose(result, entropy(q[:1], even, axis=1))


def test_slopes_are_those_of_finite_differences(kind: str) -> None:
    raw = _logits().requires_grad_()
    assert torch.autograd.gradcheck(lambda r: DIVERGENCES[kind](P, r.log_softmax(dim=-1)), raw)


def test_the_right_prediction_costs_nothing_and_any_other_something(kind: str) -> None:
    inside = P[:1]
    right = DIVERGENCES[kind](inside, inside.log()).item()
    assert right == pytest.approx(entropy(inside[0].numpy()) if kind == "ce" else 0, abs=1e-12)
    assert (DIVERGENCES[kind](inside, _logits().log_softmax(dim=-1)) > right + 0.01).all()


def test_masses_that_are_0_in_floating_point(kind: str) -> None:
    raw = torch.tensor([[0.0, -500.0, 300.0]], requires_grad=True)
    loss = DIVERGENCES[kind](torch.tensor([[1.0, 0.0, 0.0]]), raw.log_softmax(dim=-1))
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss).all()
    assert raw.grad is not None and torch.isfinite(raw.grad).all()


# ---- the mass of a standard normal ----

POINTS = np.concatenate([np.linspace(-40, 8, 97), [-1e4, 1e4]])


def test_masses_are_those_of_scipy_and_slopes_those_of_torch() -> None:
    points = torch.tensor(POINTS, requires_grad=True)
    mass = log_normal_mass(points)
    np.testing.assert_allclose(mass.detach().numpy(), log_ndtr(POINTS), rtol=1e-12)
    (slope,) = torch.autograd.grad(mass.sum(), points)
    (reference,) = torch.autograd.grad(torch.special.log_ndtr(points).sum(), points)
    torch.testing.assert_close(slope, reference)
    few = torch.linspace(-6, 3, 10, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(log_normal_mass, few)


def test_a_stack_is_computed_at_once_without_a_warning() -> None:
    """Warnings are errors: torch's own function warns here that it is slow."""
    points = torch.tensor(POINTS[:96]).view(4, 24)
    mass = vmap(log_normal_mass, in_dims=1)(points)
    torch.testing.assert_close(mass, torch.special.log_ndtr(points).T)
    slopes = vmap(grad(lambda row: log_normal_mass(row).sum()))(points)
    alone = [grad(lambda row: log_normal_mass(row).sum())(row) for row in points]
    torch.testing.assert_close(slopes, torch.stack(alone))
