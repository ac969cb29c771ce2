"""Layers whose weights are not numbers but normal distributions (Bayes by backprop).

A pass draws all weights once, for every item; the first axis is that of passes. Each layer returns
its values and the cost of its draws: the logarithm of how much more likely they are under its own
distributions than under the prior, summed over weights, the mean over passes. It is 0 outside of
training.

Reference: Blundell, Cornebise, Kavukcuoglu & Wierstra (2015), Weight Uncertainty in Neural
Networks, arXiv 1505.05424; widths, first values and priors as in the code of Raj Prabhu et al.
(2022), arXiv 2110.03299.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.networks.noise import normals

Prior = Literal["normal", "mixture"]
WIDE, NARROW = 0.0, -6.0  # log-spreads of the two halves of the mixture
FIRST_SLOPE = 0.25  # of a PReLU, below 0


class Drawn(NamedTuple):
    """Values of several passes, and the cost of drawing their weights."""

    values: Tensor  # (n_passes, ...)
    cost: Tensor  # ()


class NormalTensor(nn.Module):
    """A tensor of weights, each with its own normal distribution, of spread softplus(rho)."""

    def __init__(self, shape: tuple[int, ...], prior: Prior) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.empty(shape).uniform_(-0.1, 0.1))
        self.rho = nn.Parameter(torch.empty(shape).uniform_(-3.0, -2.0))
        self.prior = prior
        self.number = 0  # see noise.draw_by_key

    def extra_repr(self) -> str:
        return f"{tuple(self.mean.shape)}, prior={self.prior}"

    def forward(self, n_passes: int) -> Drawn:
        """Draws, (n_passes, *shape), and their cost."""
        noise = normals((n_passes, *self.mean.shape), self.number, self.mean)
        spread = F.softplus(self.rho)
        weights = torch.addcmul(self.mean, spread, noise)
        if not self.training:
            return Drawn(weights, weights.new_zeros(()))
        own = -noise.square().sum() / (2 * n_passes) - spread.log().sum()
        return Drawn(weights, own - PRIORS[self.prior](weights).sum() / n_passes)


def log_normal(weights: Tensor) -> Tensor:
    """The log-density of the prior N(0, 1), without the constant, which cancels out."""
    return -weights.square() / 2


def log_mixture(weights: Tensor) -> Tensor:
    """The log-density of a mixture of N(0, 1) and N(0, e^-12), a spike at 0, in equal parts."""
    both = [-(weights * math.exp(-s)).square() / 2 - s for s in (WIDE, NARROW)]
    return torch.logaddexp(both[0], both[1]) - math.log(2)


PRIORS: Mapping[Prior, Callable[[Tensor], Tensor]] = {"normal": log_normal, "mixture": log_mixture}


class BayesianLinear(nn.Module):
    """A linear layer with other weights and biases in each pass."""

    def __init__(self, n_inputs: int, n_outputs: int, prior: Prior) -> None:
        super().__init__()
        self.weight = NormalTensor((n_outputs, n_inputs), prior)
        self.bias = NormalTensor((n_outputs,), prior)

    def forward(self, values: Tensor) -> Drawn:
        """Values (n_passes, n_items, n_inputs) to (n_passes, n_items, n_outputs)."""
        weight, bias = self.weight(len(values)), self.bias(len(values))
        outputs = torch.baddbmm(bias.values.unsqueeze(1), values, weight.values.mT)
        return Drawn(outputs, weight.cost + bias.cost)


class BayesianLayer(nn.Module):
    """A Bayesian linear layer, and a PReLU with a plain slope for each channel."""

    def __init__(self, n_inputs: int, n_outputs: int, prior: Prior) -> None:
        super().__init__()
        self.linear = BayesianLinear(n_inputs, n_outputs, prior)
        self.slope = nn.Parameter(torch.full((n_outputs,), FIRST_SLOPE))

    def forward(self, values: Tensor) -> Drawn:
        outputs, cost = self.linear(values)
        return Drawn(outputs.clamp(min=0) + self.slope * outputs.clamp(max=0), cost)


class BayesianLayers(nn.Module):
    """Layers in sequence; their costs add up."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, values: Tensor) -> Drawn:
        total = values.new_zeros(())
        for layer in self.layers:
            values, cost = layer(values)
            total = total + cost
        return Drawn(values, total)
