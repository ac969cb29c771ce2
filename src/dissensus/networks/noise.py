"""Dropout whose masks are a function of (seed, step, layer, position), and of nothing else.

So a training can be taken up anywhere, networks can be trained side by side as they would be one
by one, and members of an ensemble share their masks or do not, as is wished.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import torch
from torch import Tensor, nn

_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)  # of splitmix64, as signed 64-bit numbers
_MIXING = 0xBF58476D1CE4E5B9 - (1 << 64)
_STEPS = (_GOLDEN, 0xD1B54A32D192ED03 - (1 << 64), 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D)
Module = TypeVar("Module", bound=nn.Module)
_key: ContextVar[Tensor | None] = ContextVar("noise", default=None)


def noise_key(seed: int | Tensor, step: int | Tensor) -> Tensor:
    """The key of a step's noise; of many steps or members at once from tensors of int64."""
    seeds, steps = torch.as_tensor(seed), torch.as_tensor(step)
    return _mixed(_mixed(seeds + 1) + steps)


def _mixed(number: Tensor) -> Tensor:
    """Another 64-bit number that looks like none of its neighbours."""
    number = number * _GOLDEN
    number = (number ^ (number >> 32)) * _MIXING
    return number ^ (number >> 29)


@contextmanager
def drawing(key: Tensor) -> Iterator[None]:
    """Within the block, dropout draws its masks from this key."""
    before = _key.set(key)
    try:
        yield
    finally:
        _key.reset(before)


def dropped(values: Tensor, share: float, number: int) -> Tensor:
    """Values with a share of them at zero, the rest scaled up; as dropout does.

    Args:
        number: which dropout of the network it is.
    """
    key = _key.get()
    if key is None:
        raise RuntimeError("dropout needs a key; call the network within noise.drawing(key)")
    drawn = _places(values) + _mixed(key + number)
    drawn = (drawn ^ (drawn >> 32)) * _MIXING
    kept = drawn >= int(share * (1 << 64)) - (1 << 63)
    return values * kept * (1 / (1 - share))


def _places(values: Tensor) -> Tensor:
    """A number for each place, the same whatever stands behind it: padding changes no mask."""
    places: Tensor | None = None
    for axis, step in zip(reversed(range(values.dim())), _STEPS, strict=False):
        along = torch.arange(values.shape[axis], device=values.device) * step
        along = along.view(-1, *[1] * (values.dim() - 1 - axis))
        places = along if places is None else places + along
    assert places is not None
    return places


class Dropout(nn.Module):
    """As torch's, but its mask depends on the key of the step alone; see `numbered`."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.p = share  # as transformers' models ask for it
        self.number = 0

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.p:
            return values
        return dropped(values, self.p, self.number)


def counted(network: Module) -> Module:
    """The network with our dropout in the place of torch's own."""
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Dropout:
                setattr(parent, name, Dropout(child.p))
    return network


def numbered(network: Module) -> Module:
    """The network with a number for each of its dropouts, so that no two draw alike."""
    drawing_ones = [part for part in network.modules() if hasattr(part, "number")]
    for number, part in enumerate(drawing_ones, start=1):
        part.number = number  # type: ignore[assignment]
    return network
