"""The mass of a standard normal below a point, for one network and for a stack of them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def log_normal_mass(points: Tensor) -> Tensor:
    """The logarithm of the mass of a standard normal below each point.

    `torch.special.log_ndtr`, but also for a stack: vmap would compute that one network after
    another, and warn.

    Example:
        >>> log_normal_mass(torch.zeros(1)).exp().tolist()
        [0.5]
    """
    mass: Tensor = _LogMass.apply(points)  # type: ignore[no-untyped-call]
    return mass


class _LogMass(torch.autograd.Function):
    @staticmethod
    def forward(points: Tensor) -> Tensor:
        return torch.special.log_ndtr(points)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        (points,) = ctx.saved_tensors
        of_points: Tensor = _Slope.apply(points)  # type: ignore[no-untyped-call]
        return slope * of_points

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None], points: Tensor) -> tuple[Tensor, int | None]:
        return log_normal_mass(points), in_dims[0]


class _Slope(torch.autograd.Function):
    """The derivative of `log_normal_mass`: density / mass."""

    @staticmethod
    def forward(points: Tensor) -> Tensor:
        return math.sqrt(2 / math.pi) / torch.special.erfcx(points * -math.sqrt(0.5))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        points, ratio = ctx.saved_tensors
        return -slope * ratio * (points + ratio)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None], points: Tensor) -> tuple[Tensor, int | None]:
        ratio: Tensor = _Slope.apply(points)  # type: ignore[no-untyped-call]
        return ratio, in_dims[0]
