"""LoRA: weights of linear layers stay as they are, and products of two small matrices are added."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from dissensus.errors import ModelError

SCALE = 2.0  # of what is added


class LowRank(nn.Module):
    """Adds a matrix of low rank to a weight, at first 0.

    Reference: Hu et al. (2021), LoRA, arXiv 2106.09685.
    """

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        n_outputs, n_inputs = weight.shape
        self.down = nn.Parameter(torch.randn(rank, n_inputs) / math.sqrt(n_inputs))
        self.up = nn.Parameter(torch.zeros(n_outputs, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + SCALE * self.up @ self.down


def add_low_rank(network: nn.Module, blocks: Iterable[nn.Module], rank: int) -> None:
    """Train only what is added to the linear layers of these blocks of a network."""
    network.requires_grad_(False)
    layers = [part for block in blocks for part in block.modules() if isinstance(part, nn.Linear)]
    if not layers:
        raise ModelError("the encoder has no linear layers for tune=lora; set tune=all")
    for layer in layers:
        added = LowRank(layer.weight, rank).to(layer.weight.device)
        parametrize.register_parametrization(layer, "weight", added)
