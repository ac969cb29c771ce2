"""The soft histogram in two dimensions with its gradient, in little memory.

The shares of observations in cells are many times as large as the observations and the histogram.
On a CPU they are computed for a few items at a time, which stay in its cache, and once more for the
gradient.
This module loads torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

CHUNK = 16  # items that are computed together on a CPU
Edges = tuple[Tensor, ...]  # of the cells of each dimension


class SoftHistogram(torch.autograd.Function):
    """(..., O, Q) positions in each dimension and (..., O) weights -> (..., n, m) masses.

    An observation stands for Q positions, whose mean share it has.
    """

    @staticmethod
    def forward(
        first: Tensor, second: Tensor, weights: Tensor, edges: Edges, temperature: float
    ) -> Tensor:
        pair, weight, batch = _flat(first, second, weights)
        result = first.new_empty(len(weight), *(len(edge) - 1 for edge in edges))
        for rows in _chunks(weight):
            left, right = (
                torch.mul(*_sides(each[rows], edge, temperature)).mean(dim=-2)
                for each, edge in zip(pair, edges, strict=True)
            )
            torch.bmm(left.mul_(weight[rows, :, None]).mT, right, out=result[rows])
        result *= _factors(edges, temperature)
        return result.reshape(*batch, *result.shape[1:])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        first, second, weights, ctx.edges, ctx.temperature = inputs
        ctx.save_for_backward(first, second, weights)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        of_weights = ctx.needs_input_grad[2]
        inputs = (*ctx.saved_tensors, gradient, ctx.edges, ctx.temperature, of_weights)
        return *_Gradient.apply(*inputs), None, None  # type: ignore[no-untyped-call]

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> tuple[Tensor, int]:
        moved = _batched(info, in_dims, inputs, 3)
        return SoftHistogram.apply(*moved), 0  # type: ignore[no-untyped-call]


class _Gradient(torch.autograd.Function):
    """The gradients of positions and, if wanted, of weights."""

    @staticmethod
    def forward(
        first: Tensor,
        second: Tensor,
        weights: Tensor,
        gradient: Tensor,
        edges: Edges,
        temperature: float,
        of_weights: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        pair, weight, _ = _flat(first, second, weights)
        upstream = gradient.reshape(-1, *gradient.shape[-2:]) * _factors(edges, temperature)
        results = [torch.zeros_like(each) for each in (*pair, weight)]
        for rows in _chunks(weight):
            both = zip(pair, edges, strict=True)
            sides = [_sides(each[rows], edge, temperature) for each, edge in both]
            products = [above * below for above, below in sides]  # (items, O, Q, n)
            left, right = (each.mean(dim=-2) for each in products)
            to_left = torch.bmm(right, upstream[rows].mT)  # (items, O, n)
            to_right = torch.bmm(left, upstream[rows])
            if of_weights:
                results[2][rows] = left.mul_(to_left).sum(dim=-1)
            scale = (weight[rows] * (temperature / first.shape[-1])).unsqueeze(-1)
            for at, to in enumerate((to_left, to_right)):
                above, below = sides[at]
                slopes = below.sub_(above).mul_(products[at])  # (s(u) s(-v))' if v - u is constant
                results[at][rows] = slopes.mul_(to.unsqueeze(-2)).sum(dim=-1).mul_(scale)
        shapes = (first.shape, second.shape, weights.shape)
        gradients = [each.reshape(shape) for each, shape in zip(results, shapes, strict=True)]
        return gradients[0], gradients[1], gradients[2]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        raise NotImplementedError("a density has no second derivatives")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> tuple[Any, tuple[int, ...]]:
        moved = _batched(info, in_dims, inputs, 4)
        return _Gradient.apply(*moved), (0, 0, 0)  # type: ignore[no-untyped-call]


def _sides(positions: Tensor, edges: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The share of each position above the lower edge of each cell, and that below the upper one:
    (..., O, Q) -> (..., O, Q, n) each.

    Their product is the share in the cell but for a factor of the cell, s(u) - s(v) =
    s(u) s(-v) (1 - exp(v - u)): a difference of what is nearly 1 would be rounding error alone.
    """
    scaled = (positions * temperature).unsqueeze(-1)
    lower, upper = edges[:-1] * temperature, edges[1:] * temperature
    return (scaled - lower).sigmoid_(), (upper - scaled).sigmoid_()


def _factors(edges: Edges, temperature: float) -> Tensor:
    """What the products of `_sides` lack, (n, m)."""
    first, second = (-(temperature * (edge[:-1] - edge[1:])).expm1() for edge in edges)
    return first[:, None] * second


def _flat(
    first: Tensor, second: Tensor, weights: Tensor
) -> tuple[tuple[Tensor, Tensor], Tensor, torch.Size]:
    """Inputs with one batch axis, and the batch axes they had."""
    shape = first.shape[-2:]
    pair = first.reshape(-1, *shape), second.reshape(-1, *shape)
    return pair, weights.reshape(-1, shape[0]), first.shape[:-2]


def _chunks(items: Tensor) -> Iterator[slice]:
    """All items on a GPU, a few after another on a CPU."""
    step = CHUNK if items.device.type == "cpu" else max(1, len(items))
    return (slice(start, start + step) for start in range(0, len(items), step))


def _batched(info: Any, in_dims: tuple[Any, ...], inputs: tuple[Any, ...], n: int) -> list[Any]:
    """Inputs with the axis of a vmap as their first batch axis; the first n are tensors."""
    moved = [
        each.unsqueeze(0).expand(info.batch_size, *each.shape)
        if axis is None
        else each.movedim(axis, 0)
        for each, axis in zip(inputs[:n], in_dims[:n], strict=True)
    ]
    return [*moved, *inputs[n:]]
