"""One vector for a content: the mean of its vectors, weighted by attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

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
    """The tensors, with the axis of members first."""
    return [
        tensor.expand(n, *tensor.shape) if axis is None else tensor.movedim(axis, 0)
        for tensor, axis in zip(tensors, in_dims, strict=True)
    ]
