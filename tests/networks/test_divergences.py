"""Divergences against scipy, their slopes, and what happens where masses are 0."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from dissensus.networks.divergences import DIVERGENCES, FLOOR

P = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.4, 0.6]], dtype=torch.float64)


def _raw() -> torch.Tensor:
    return torch.tensor([[0.3, -1.0, 2.0], [4.0, 0.0, 1.0], [0.0, 0.0, -3.0]], dtype=torch.float64)


@pytest.fixture(params=DIVERGENCES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_values_are_scipys() -> None:
    log_q = _raw().log_softmax(dim=-1)
    p, q = P.numpy(), log_q.exp().numpy()
    expected = {
        "ce": entropy(p, q, axis=1) + entropy(p, axis=1),
        "kl": entropy(p, q, axis=1),
        "inverse-kl": (q * np.log(q / np.maximum(p, FLOOR))).sum(axis=1),
        "jsd": jensenshannon(p, q, axis=1) ** 2,
    }
    assert expected.keys() == DIVERGENCES.keys()
    for kind, values in expected.items():
        np.testing.assert_allclose(DIVERGENCES[kind](P, log_q), values, err_msg=kind)
    even = torch.full((1, 3), 1 / 3, dtype=torch.float64)  # no mass is 0: plainly scipy's
    result = DIVERGENCES["inverse-kl"](even, log_q[:1])
    np.testing.assert_allclose(result, entropy(q[:1], even, axis=1))


def test_slopes_are_those_of_finite_differences(kind: str) -> None:
    raw = _raw().requires_grad_()
    assert torch.autograd.gradcheck(lambda r: DIVERGENCES[kind](P, r.log_softmax(dim=-1)), raw)


def test_kl_is_cross_entropy_but_for_a_constant() -> None:
    slopes = []
    for kind in ("ce", "kl"):
        raw = _raw().requires_grad_()
        DIVERGENCES[kind](P, raw.log_softmax(dim=-1)).sum().backward()  # type: ignore[no-untyped-call]
        assert raw.grad is not None
        slopes.append(raw.grad.numpy())
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-15)
    gap = DIVERGENCES["ce"](P, _raw().log_softmax(-1)) - DIVERGENCES["kl"](
        P, _raw().log_softmax(-1)
    )
    np.testing.assert_allclose(gap, entropy(P.numpy(), axis=1))


def test_the_right_prediction_costs_nothing_and_any_other_something(kind: str) -> None:
    inside = P[:1]
    right = DIVERGENCES[kind](inside, inside.log()).item()
    assert right == pytest.approx(entropy(inside[0].numpy()) if kind == "ce" else 0, abs=1e-12)
    assert (DIVERGENCES[kind](inside, _raw().log_softmax(dim=-1)) > right + 0.01).all()


def test_jsd_is_symmetric_and_at_most_ln_2() -> None:
    q = _raw().softmax(dim=-1)
    np.testing.assert_allclose(
        DIVERGENCES["jsd"](q[:1], P[:1].log()), DIVERGENCES["jsd"](P[:1], q[:1].log())
    )
    sure = torch.tensor([[0.0, 200.0]]).log_softmax(dim=-1)
    assert DIVERGENCES["jsd"](torch.tensor([[1.0, 0.0]]), sure).item() == pytest.approx(np.log(2))


def test_masses_that_are_0_in_floating_point(kind: str) -> None:
    raw = torch.tensor([[0.0, -500.0, 300.0]], requires_grad=True)
    loss = DIVERGENCES[kind](torch.tensor([[1.0, 0.0, 0.0]]), raw.log_softmax(dim=-1))
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss).all()
    assert raw.grad is not None and torch.isfinite(raw.grad).all()
