"""Attention over positions of a content, and the attention block of Fornaciari et al. (2021)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.errors import ModelError
from dissensus.networks.noise import Dropout

Dims = tuple[int | None, int | None]  # the axis of the members of a stack in each argument


class AttentionPool(nn.Module):
    """The mean over positions, weighted by the softmax of products with a learned query.

    Vectors are normalised before they are multiplied with the query, so that it starts equally
    selective with every encoder. Two queries start with different weights.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(width))
        self.draw()

    def draw(self) -> None:
        """Draw a new query, from torch's generator of the CPU."""
        with torch.no_grad():
            self.query.copy_(torch.randn(len(self.query)))

    def forward(self, vectors: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """The pooled vectors (n, width), zeros where no position is chosen, and the weights
        (n, length).

        Args:
            vectors: (n, length, width).
            chosen: the positions that count, booleans (n, length).
        """
        with torch.autocast(vectors.device.type, enabled=False):  # a Function has no rule for it
            vectors = vectors.to(self.query.dtype)
            even = F.layer_norm(vectors, vectors.shape[-1:])
            fit = even.flatten(0, 1) @ self.query / math.sqrt(len(self.query))
            score = fit.view(chosen.shape)
            lowest = torch.finfo(score.dtype).min
            weight = score.masked_fill(~chosen, lowest).softmax(dim=-1) * chosen
            pooled: Tensor = _WeightedSum.apply(weight, vectors)  # type: ignore[no-untyped-call]
        return pooled, weight


class _WeightedSum(torch.autograd.Function):
    """Sums of vectors (n, length, width) by weights (n, length): (n, width).

    Written out for a stack whose members share their vectors: vmap itself would copy these for each
    member, which took five times as long.
    """

    @staticmethod
    def forward(weight: Tensor, vectors: Tensor) -> Tensor:
        return torch.bmm(weight.unsqueeze(1), vectors).squeeze(1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor | None]:
        weight, vectors = ctx.saved_tensors
        of_vectors = None
        if ctx.needs_input_grad[1]:
            of_vectors = weight.unsqueeze(2) * slope.unsqueeze(1)
        of_weight: Tensor = _Products.apply(slope, vectors)  # type: ignore[no-untyped-call]
        return of_weight, of_vectors

    @staticmethod
    def vmap(info: Any, in_dims: Dims, weight: Tensor, vectors: Tensor) -> tuple[Tensor, int]:
        if in_dims[1] is None:
            assert in_dims[0] is not None
            return torch.bmm(weight.movedim(in_dims[0], 1), vectors), 1
        weight, vectors = _batched(info.batch_size, in_dims, weight, vectors)
        return torch.einsum("mnl,mnlw->mnw", weight, vectors), 0


class _Products(torch.autograd.Function):
    """Products of (n, width) with each of vectors (n, length, width): (n, length)."""

    @staticmethod
    def forward(slope: Tensor, vectors: Tensor) -> Tensor:
        return torch.bmm(vectors, slope.unsqueeze(2)).squeeze(2)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, again: Tensor) -> tuple[Tensor, Tensor]:
        slope, vectors = ctx.saved_tensors
        of_slope: Tensor = _WeightedSum.apply(again, vectors)  # type: ignore[no-untyped-call]
        return of_slope, again.unsqueeze(2) * slope.unsqueeze(1)

    @staticmethod
    def vmap(info: Any, in_dims: Dims, slope: Tensor, vectors: Tensor) -> tuple[Tensor, int]:
        if in_dims[1] is None:
            assert in_dims[0] is not None
            return torch.bmm(slope.movedim(in_dims[0], 1), vectors.transpose(1, 2)), 1
        slope, vectors = _batched(info.batch_size, in_dims, slope, vectors)
        return torch.einsum("mnw,mnlw->mnl", slope, vectors), 0


def _batched(n: int, in_dims: Dims, *tensors: Tensor) -> list[Tensor]:
    return [
        tensor.expand(n, *tensor.shape) if axis is None else tensor.movedim(axis, 0)
        for tensor, axis in zip(tensors, in_dims, strict=True)
    ]


# ---- the attention block ----


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
