"""The attention block of Fornaciari et al. (2021): a transformer encoder over a single vector."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dissensus.errors import ModelError
from dissensus.networks.noise import Dropout


class Norm(nn.Module):
    """Layer normalisation with the sample standard deviation (n - 1 in the denominator)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, vectors: Tensor) -> Tensor:
        centred = vectors - vectors.mean(dim=-1, keepdim=True)
        return self.scale * centred / (vectors.std(dim=-1, keepdim=True) + 1e-6) + self.shift

    def reset_parameters(self) -> None:
        nn.init.ones_(self.scale)
        nn.init.zeros_(self.shift)


class _Layer(nn.Module):
    """Self-attention, then two linear layers, each with a residual connection (pre-norm)."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_inner = Norm(width), Norm(width)
        self.value, self.joined = nn.Linear(width, width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        self.attention_dropout, self.inner_dropout = Dropout(dropout), Dropout(dropout)
        self.after_attention, self.after_inner = Dropout(dropout), Dropout(dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        seen = self.attended(self.before_attention(vectors))
        vectors = vectors + self.after_attention(self.joined(seen))
        inner = self.inner_dropout(self.inner(self.before_inner(vectors)).relu())
        vectors = vectors + self.after_inner(self.outer(inner))
        return vectors

    def attended(self, vectors: Tensor) -> Tensor:
        value: Tensor = self.value(vectors)  # (n, width)
        weight = self.attention_dropout(value.new_ones(len(value), self.heads))
        by_head = value.view(len(value), self.heads, -1)
        return (by_head * weight.unsqueeze(2)).view_as(value)


class AttentionBlock(nn.Module):
    """A transformer encoder over sequences of one position: vectors (n, width) in and out.

    A vector is multiplied by the root of its width, and the sinusoids of position 0 are added;
    after the layers it is normalised. Over one position the softmax is always 1, so that queries
    and keys would get no gradient: there are none here. What remains of attention are its values
    and its dropout, which is drawn once for each item and head.

    Args:
        layers: how many; each has `heads` heads and an inner width of `inner`.
    """

    start: Tensor

    def __init__(
        self, width: int, layers: int = 2, heads: int = 2, inner: int = 2048, dropout: float = 0.1
    ) -> None:
        super().__init__()
        if width % heads or width < 2:
            raise ModelError(
                f"an attention block with {heads} heads needs vectors whose width is a multiple of "
                f"{heads}, found {width}"
            )
        first = torch.zeros(width)
        first[1::2] = 1  # sin(0), cos(0), sin(0), ...
        self.register_buffer("start", first, persistent=False)
        self.layers = nn.Sequential(
            *(_Layer(width, heads, inner, dropout) for _ in range(layers)), Norm(width)
        )

    def forward(self, vectors: Tensor) -> Tensor:
        placed = vectors * math.sqrt(vectors.shape[-1]) + self.start
        attended: Tensor = self.layers(placed)
        return attended
