"""Weights that are distributions: how they begin, what they cost, and what learns."""

from __future__ import annotations

import math
from typing import Any, get_args

import pytest
import torch
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
