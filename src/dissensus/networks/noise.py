"""Dropout and normal random numbers that depend only on seed, step, layer and position.

Therefore a training can be resumed at any step, a network is trained in a stack as alone, and
members of an ensemble share their dropout if they share its seed.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import lru_cache
from typing import TypeVar

import torch
from torch import Tensor, nn

from dissensus.within import set_within

_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)  # of splitmix64, as signed 64-bit numbers
_MIXING = 0xBF58476D1CE4E5B9 - (1 << 64)
_STEPS = (_GOLDEN, 0xD1B54A32D192ED03 - (1 << 64), 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D)
Module = TypeVar("Module", bound=nn.Module)
Key = int | Tensor  # an integer, or the integers of several members
_key: ContextVar[Key | None] = ContextVar("noise", default=None)
_at: ContextVar[Tensor | None] = ContextVar("at", default=None)
_steps: ContextVar[tuple[int, ...] | Tensor] = ContextVar("steps", default=_STEPS)


def noise_key(seed: Key, step: Key) -> Key:
    """The key of the noise of a step; with tensors of int64, of many steps or members at once."""
    return _mixed(_mixed(seed + 1) + step)


def _mixed(number: Key) -> Key:
    """A 64-bit hash of a number."""
    number = _wrapped(number * _GOLDEN)
    number = _wrapped((number ^ (number >> 32)) * _MIXING)
    return number ^ (number >> 29)


def _wrapped(number: Key) -> Key:
    """An integer as a signed 64-bit integer; tensors overflow by themselves."""
    if isinstance(number, Tensor):
        return number
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def drawing(key: Key) -> AbstractContextManager[None]:
    """Within the block, dropout draws its masks from this key."""
    return set_within(_key, key)


def positions_in_batch(at: Tensor | None) -> AbstractContextManager[None]:
    """Within the block, the entries that dropout is applied to have these positions in the whole
    batch, of which other processes have the rest; None: this is the whole batch."""
    return set_within(_at, at)


@lru_cache(maxsize=16)  # a copy is not possible while a CUDA graph is captured
def step_table(device: torch.device) -> Tensor:
    """The strides of position numbers along each axis, as a tensor; see `stepping`."""
    return torch.tensor(_STEPS, device=device)


def stepping(table: Tensor) -> AbstractContextManager[None]:
    """Within the block, positions are numbered by this tensor of `step_table`: the same numbers,
    but a compiler does not see them as constants, which it would multiply in 32 bits."""
    return set_within(_steps, table)


def dropped(values: Tensor, share: float, number: int) -> Tensor:
    """Dropout: a share of the values is 0, the rest is scaled up.

    Args:
        number: of the dropout layer within its network.
    """
    key = present_key("dropout")
    places = _places(values.shape, values.device, _at.get())
    drawn = places + _mixed(_wrapped(key + number))
    drawn ^= drawn >> 32  # in place: these tensors are large, and to allocate memory is slow
    drawn *= _MIXING
    kept = drawn >= int(share * (1 << 64)) - (1 << 63)
    return values * kept.to(values.dtype).mul_(1 / (1 - share))


def normals(shape: tuple[int, ...], number: int, like: Tensor) -> Tensor:
    """Independent standard normal numbers for weights: the same in every part of a batch.

    Args:
        shape: at most three axes.
        number: of the part that draws within its network.
        like: a tensor with the device and the dtype of the result.
    """
    half = torch.Size((*shape[:-1], -(-shape[-1] // 2)))
    drawn = _places(half, like.device) + _mixed(_wrapped(present_key("a draw") + number))
    drawn ^= drawn >> 32  # in place, as above
    drawn *= _MIXING
    drawn ^= drawn >> 29
    drawn *= _STEPS[1]
    high = drawn >> 32
    share = ((drawn ^ high) & 0xFFFFFFFF).to(like.dtype).add_(0.5).mul_(2.0**-32)  # never 0
    radius = share.log_().mul_(-2).sqrt_()
    angle = high.to(like.dtype).mul_(2 * math.pi * 2.0**-32)
    both = torch.cat([radius * angle.cos(), radius * angle.sin()], dim=-1)
    return both[..., : shape[-1]]


def uniforms(shape: tuple[int, ...], number: int, like: Tensor) -> Tensor:
    """Independent numbers, uniform on [0, 1); those of a thing (the first axis) depend on its
    position in the whole batch, see `positions_in_batch`.

    Args:
        shape: at most four axes.
        number: of the part that draws.
        like: a tensor with the device and the dtype of the result.
    """
    drawn = _places(torch.Size(shape), like.device, _at.get())
    drawn = drawn + _mixed(_wrapped(present_key("a draw") + number))
    drawn = (drawn ^ (drawn >> 32)) * _MIXING
    drawn = (drawn ^ (drawn >> 29)) * _STEPS[1]
    return ((drawn >> 40) & 0xFFFFFF).to(like.dtype) * 2.0**-24  # as many digits as float32 has


def present_key(what: str) -> Key:
    """The key to draw from.

    Args:
        what: needs the key, for the error message.
    """
    key = _key.get()
    if key is None:
        raise RuntimeError(f"{what} needs a key; call the network within noise.drawing(key)")
    return key


def _places(shape: torch.Size, device: torch.device, at: Tensor | None = None) -> Tensor:
    """A number for each position that does not depend on the shape: padding changes no mask."""
    places: Tensor | None = None
    steps = _steps.get()
    for axis, step in zip(reversed(range(len(shape))), steps, strict=False):
        along = torch.arange(shape[axis], device=device)
        if at is not None and axis == 0:
            along = _stood(at, shape[0])
        along = (along * step).view(-1, *[1] * (len(shape) - 1 - axis))
        places = along if places is None else places + along
    assert places is not None
    return places


def _stood(at: Tensor, n: int) -> Tensor:
    """The positions of n entries, an equal number of which belongs to each of `at`."""
    each = n // max(1, len(at))
    if each * len(at) != n:
        raise RuntimeError(
            f"dropout of {n} entries in a part of a batch with {len(at)}; give their positions in "
            "the whole batch with noise.positions_in_batch"
        )
    if each == 1:
        return at
    return (at[:, None] * each + torch.arange(each, device=at.device)).reshape(-1)


class Dropout(nn.Module):
    """As torch's, but its mask depends on the key of the step and on its number alone.

    Called twice in one step, it drops the same positions twice: use a new one for each call.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.p = share  # transformers' models read it
        self.number = 0

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.p:
            return values
        return dropped(values, self.p, self.number)


def draw_by_key(network: Module) -> Module:
    """Let a network draw from the key of the step: every `nn.Dropout` inside becomes a `Dropout`
    of this module, and each part that draws gets its own number, so that no two draw alike.

    Every network that is trained goes through here. A second time changes nothing.
    """
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Dropout:
                setattr(parent, name, Dropout(child.p))
    random_parts = [part for part in network.modules() if hasattr(part, "number")]
    for number, part in enumerate(random_parts, start=1):
        part.number = number  # type: ignore[assignment]
    return network
