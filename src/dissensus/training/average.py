"""Weights averaged over the last steps of a training: they vary less than those of any one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


def share_of_step(averaged: float, n_steps: int, step: int) -> float:
    """The share of the weights after a step (from 0) in the mean of all up to it.

    Args:
        averaged: the share of the steps, the last ones, that are averaged.

    Example:
        >>> [round(share_of_step(0.5, 6, step), 2) for step in range(6)]
        [0.0, 0.0, 0.0, 1.0, 0.5, 0.33]
    """
    if not averaged:
        return 0.0
    first = n_steps - max(1, round(averaged * n_steps))
    return 1 / (step - first + 1) if step >= first else 0.0


@dataclass(eq=False)
class Average:
    """The mean of the weights over steps; empty before the first of them."""

    parameters: Sequence[nn.Parameter]
    means: list[Tensor] = field(default_factory=list)

    def update(self, share: float) -> None:
        """Add the weights after a step, with this share in the mean."""
        if not share:
            return
        now = [parameter.detach() for parameter in self.parameters]
        if not self.means:
            self.means = [weights.clone() for weights in now]
        else:
            torch._foreach_lerp_(self.means, now, share)

    def apply(self) -> None:
        """Copy the mean into the network."""
        for parameter, mean in zip(self.parameters, self.means, strict=False):
            parameter.detach().copy_(mean)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within the block, the weights of the network are the mean."""
        before = [parameter.detach().clone() for parameter in self.parameters if self.means]
        self.apply()
        try:
            yield
        finally:
            for parameter, weights in zip(self.parameters, before, strict=False):
                parameter.detach().copy_(weights)

    # ---- its state ----

    def state(self) -> dict[str, Tensor]:
        return {str(number): mean for number, mean in enumerate(self.means)}

    def restore(self, state: dict[str, Tensor]) -> None:
        devices = [parameter.device for parameter in self.parameters]
        self.means = [state[str(number)].to(devices[number]) for number in range(len(state))]
