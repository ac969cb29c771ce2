"""Likelihoods against scipy and scikit-learn, and what they promise for every scale."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import norm
from sklearn.metrics import log_loss

from dissensus.networks.likelihoods import Grouped, likelihood
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
    found = likelihood(scale).distribution(_raw(scale)).numpy()
    assert found.shape == (N, scale.n_columns)
    assert (found >= 0).all() and (found <= 1).all()
    if not isinstance(scale, MultiLabel):
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_the_value_is_the_scales_consensus(scale: Scale) -> None:
    reading = likelihood(scale)
    raw = _raw(scale)
    value = reading.value(raw).numpy()
    if isinstance(scale, Interval):
        np.testing.assert_array_equal(value, raw[:, 0].clamp(-1, 1).numpy())
    else:
        np.testing.assert_array_equal(value, scale.consensus(reading.distribution(raw).numpy()))


def test_the_gradient_of_the_loss_is_its_slope(scale: Scale) -> None:
    reading = likelihood(scale)
    raw = _raw(scale).requires_grad_()
    answer = torch.from_numpy(reading.target(_answers(scale)))
    answer = answer.double() if answer.is_floating_point() else answer
    assert torch.autograd.gradcheck(lambda r: reading.loss(r, answer), raw)


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


def test_starts_of_groups_are_drawn_towards_everyone(scale: Scale) -> None:
    reading, answers = likelihood(scale), _answers(scale)
    group = np.arange(N) % 3  # and a fourth without answers
    ones = np.ones(N)
    own = reading.starts(Grouped(answers, ones, group, 4, smoothing=0.5))
    far = reading.starts(Grouped(answers, ones, group, 4, smoothing=1e6))
    everyone = reading.start(answers, ones)
    assert own.shape == (4, reading.n_outputs + reading.n_constants)
    np.testing.assert_allclose(far, np.tile(everyone, (4, 1)), atol=0.1)
    np.testing.assert_allclose(own[3], everyone, atol=0.1)
    assert np.abs(own[:3] - everyone).max() > np.abs(far[:3] - everyone).max()


def test_starts_of_ratings_by_hand() -> None:
    scale = Interval(0, 10)
    answers, group = np.array([0.0, 10.0, 5.0, 5.0]), np.array([0, 0, 1, 1])
    given = Grouped(answers, np.ones(4), group, 2, smoothing=2.0)
    found = likelihood(scale).starts(given)
    assert found[:, 0].tolist() == [0, 0]
    np.testing.assert_allclose(np.exp(found[:, 1]) ** 2, [(2 + 2 * 0.5) / 4, 2 * 0.5 / 4])
