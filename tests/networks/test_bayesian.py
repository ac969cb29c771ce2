"""Weights that are distributions: how they begin, what they cost, and what learns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, MixtureSameFamily, Normal, kl_divergence
from torch.nn import functional as F

from dissensus.networks.bayesian import (
    BayesianLayer,
    BayesianLayers,
    BayesianLinear,
    NormalTensor,
    Prior,
)
from dissensus.networks.noise import draw_by_key, drawing, noise_key, normals

PRIORS = get_args(Prior)


def prior_of(name: str) -> Any:
    if name == "normal":
        return Normal(0.0, 1.0)
    spreads = torch.tensor([1.0, math.exp(-6)], dtype=torch.float64)
    parts = Normal(torch.zeros(2, dtype=torch.float64), spreads)
    return MixtureSameFamily(Categorical(torch.tensor([0.5, 0.5])), parts)


def _layers(prior: Prior = "normal") -> BayesianLayers:
    torch.manual_seed(0)
    return draw_by_key(
        BayesianLayers(BayesianLayer(5, 4, prior), BayesianLayer(4, 3, prior),
                       BayesianLinear(3, 3, prior))
    ).double()  # fmt: skip


def test_first_values_lie_in_the_papers_ranges() -> None:
    torch.manual_seed(0)
    stored = NormalTensor((300, 200), "normal")
    for values, low, high in ((stored.mean, -0.1, 0.1), (stored.rho, -3.0, -2.0)):
        result, rounding = values.detach(), 1e-7
        assert low - rounding <= float(result.min()) < low + 1e-3
        assert high - 1e-3 < float(result.max()) <= high + rounding
        assert float(result.mean()) == pytest.approx((low + high) / 2, abs=(high - low) / 200)
    layer = BayesianLayer(5, 4, "normal")
    assert (layer.slope == 0.25).all() and layer.slope.shape == (4,)
    shapes = {name: tuple(value.shape) for name, value in layer.named_parameters()}
    assert shapes == {
        "slope": (4,),
        **{f"linear.weight.{part}": (4, 5) for part in ("mean", "rho")},
        **{f"linear.bias.{part}": (4,) for part in ("mean", "rho")},
    }


@pytest.mark.parametrize("prior", PRIORS)
def test_the_cost_is_that_of_torchs_distributions(prior: Prior) -> None:
    """The mean over passes of log q(w) - log p(w), of the very weights that were drawn."""
    torch.manual_seed(1)
    stored = NormalTensor((7, 6), prior).double()
    with drawing(noise_key(3, 4)):
        weights, cost = stored(30)
        noise = normals((30, 7, 6), 0, stored.mean)
    own: Any = Normal(stored.mean, F.softplus(stored.rho))
    torch.testing.assert_close(weights, own.mean + own.stddev * noise)
    expected = own.log_prob(weights) - prior_of(prior).log_prob(weights)
    torch.testing.assert_close(cost, expected.sum(dim=(1, 2)).mean())


def test_on_average_the_cost_is_the_divergence_from_the_prior() -> None:
    torch.manual_seed(1)
    stored = NormalTensor((20, 10), "normal").double()
    with torch.no_grad(), drawing(noise_key(0, 0)):
        own = Normal(stored.mean, F.softplus(stored.rho))
        closed = float(kl_divergence(own, Normal(0.0, 1.0)).sum())
        drawn = torch.stack([stored(1).cost for stored.number in range(400)])
    error = float(drawn.std()) / math.sqrt(len(drawn))
    assert float(drawn.mean()) == pytest.approx(closed, abs=4 * error)
    assert error < 0.003 * closed


def test_only_training_pays() -> None:
    layers = _layers()
    with torch.no_grad(), drawing(1):
        values, cost = layers(torch.ones(3, 2, 5).double())
        again, none = layers.eval()(torch.ones(3, 2, 5).double())
    assert cost > 0 and none == 0
    torch.testing.assert_close(values, again)


@pytest.mark.parametrize("prior", PRIORS)
def test_gradients_are_those_of_finite_differences(prior: Prior) -> None:
    layers = _layers(prior)
    features = torch.randn(2, 5, dtype=torch.float64).expand(3, -1, -1)

    def loss() -> Tensor:
        with drawing(noise_key(0, 1)):
            values, cost = layers(features)
        return values.square().sum() + cost / 100

    assert prior == "normal" or not _near_the_spike(layers)
    result = torch.autograd.grad(loss(), list(layers.parameters()))
    with torch.no_grad():
        for parameter, gradient in zip(layers.parameters(), result, strict=True):
            for at in range(parameter.numel()):
                expected = _difference(loss, parameter.view(-1), at)
                assert float(gradient.reshape(-1)[at]) == pytest.approx(
                    expected, rel=1e-5, abs=1e-7
                )


def _difference(loss: Callable[[], Tensor], values: Tensor, at: int, step: float = 1e-6) -> float:
    before = values[at].clone()
    ends = []
    for way in (1, -1):
        values[at] = before + way * step
        ends.append(float(loss()))
    values[at] = before
    return (ends[0] - ends[1]) / (2 * step)


def _near_the_spike(layers: BayesianLayers) -> bool:
    """Whether a weight is so close to 0 that the mixture bends within the step."""
    tensors = [part for part in layers.modules() if isinstance(part, NormalTensor)]
    with torch.no_grad(), drawing(noise_key(0, 1)):
        return any(float(part(3).values.abs().min()) < 1e-5 for part in tensors)


def test_a_pass_is_a_plain_network_of_the_weights_drawn() -> None:
    layers = _layers()
    features = torch.randn(6, 5, dtype=torch.float64)
    with torch.no_grad(), drawing(noise_key(0, 2)):
        built = layers(features.expand(4, -1, -1)).values
        drawn = [part(4).values for part in layers.modules() if isinstance(part, NormalTensor)]
    for number in range(4):
        values = features
        for layer, (weight, bias) in enumerate(zip(drawn[::2], drawn[1::2], strict=True)):
            values = F.linear(values, weight[number], bias[number])
            if layer < 2:
                values = F.prelu(values, torch.full((values.shape[1],), 0.25).double())
        torch.testing.assert_close(built[number], values)
    assert not torch.allclose(built[0], built[1])
