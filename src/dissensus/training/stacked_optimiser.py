"""The optimiser of networks side by side: one table of weights, a row for each member.

Each member is clipped and stepped as torch's own optimisers would, at its own rate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dissensus.training.settings import BETAS, EPSILON, MOMENTUM, Training


class StackedOptimiser(ABC):
    """Steps a table of weights, (n_members, n_weights), in place.

    Args:
        trainings: of each member; they share the kind of optimiser.
        ends: where each group of a member's weights ends, one with a rate of its own.
    """

    def __init__(self, weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        self.weights = weights
        self.trainings = trainings
        self.edges = list(zip([0, *ends[:-1]], ends, strict=True))
        self.moments = [torch.zeros_like(weights) for _ in range(2)]
        self.clip = weights.new_tensor([training.clip for training in trainings])

    @abstractmethod
    def step(self, gradients: Sequence[Tensor], alive: Tensor, rates: Tensor) -> None:
        """One step of every member that is alive.

        Args:
            gradients: of each parameter, (n_members, n_of_its_weights); together as wide as the
                weights.
            rates: of each group of weights, (n_groups, n_members).
        """

    @abstractmethod
    def state(self) -> list[Tensor]:
        """Everything beside the weights that a step changes."""

    def _shares(self, gradient: Tensor) -> Tensor:
        """What is left of each member's gradient after clipping, (n_members, 1)."""
        return (self.clip / (gradient.norm(dim=1) + 1e-6)).clamp(max=1)[:, None]


def stacked_optimiser(
    weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]
) -> StackedOptimiser:
    """Torch's fused steps on a CPU; on a GPU one that can be captured in a graph."""
    kind = ByRow if weights.device.type == "cpu" else AllAtOnce
    return kind(weights, trainings, ends)


class ByRow(StackedOptimiser):
    """Torch's own fused steps: weights are read and written once, which is what counts on a CPU."""

    def __init__(self, weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        super().__init__(weights, trainings, ends)
        self.gradient = torch.empty_like(weights)
        self._parts = [part for part, (first, last) in enumerate(self.edges) if first < last]
        tables = (weights, self.gradient, *self.moments)
        self._rows = [[[t[m, first:last] for t in tables] for m in range(len(weights))]
                      for first, last in self.edges]  # fmt: skip
        self._counts = [[torch.zeros(()) for _ in trainings] for _ in self.edges]

    def state(self) -> list[Tensor]:
        return [*self.moments, *(count for counts in self._counts for count in counts)]

    def step(self, gradients: Sequence[Tensor], alive: Tensor, rates: Tensor) -> None:
        torch.cat(list(gradients), dim=1, out=self.gradient)
        self.gradient *= self._shares(self.gradient)
        going = alive.tolist()
        for part in self._parts:
            together: dict[tuple[float, float], list[int]] = {}  # members that step alike
            for member, rate in enumerate(rates[part].tolist()):
                if going[member]:
                    decay = self.trainings[member].weight_decay
                    together.setdefault((rate, decay), []).append(member)
            for (rate, decay), members in together.items():
                self._step_rows(part, members, rate, decay)

    def _step_rows(self, part: int, members: list[int], rate: float, decay: float) -> None:
        rows = zip(*(self._rows[part][member] for member in members), strict=True)
        weights, gradients, first, second = map(list, rows)
        counts = [self._counts[part][member] for member in members]
        common: dict[str, Any] = {"lr": rate, "weight_decay": decay, "maximize": False}
        if self.trainings[0].optimiser == "sgd":
            torch._fused_sgd_(
                weights,
                gradients,
                first,
                momentum=MOMENTUM,
                dampening=0.0,
                nesterov=False,
                is_first_step=False,  # a momentum of zeros is the same
                **common,
            )
            return
        kinds = {"adamw": torch._fused_adamw_, "adam": torch._fused_adam_}
        torch._foreach_add_(counts, 1)
        kinds[self.trainings[0].optimiser](
            weights,
            gradients,
            first,
            second,
            [],
            counts,
            beta1=BETAS[0],
            beta2=BETAS[1],
            eps=EPSILON,
            amsgrad=False,
            **common,
        )


class AllAtOnce(StackedOptimiser):
    """The whole table in a few operations that ask the host nothing."""

    def __init__(self, weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        super().__init__(weights, trainings, ends)
        self.decay = weights.new_tensor([training.weight_decay for training in trainings])[:, None]
        self.count = torch.zeros(len(weights), device=weights.device, dtype=torch.float64)

    def state(self) -> list[Tensor]:
        return [*self.moments, self.count]

    def step(self, gradients: Sequence[Tensor], alive: Tensor, rates: Tensor) -> None:
        gradient = torch.cat(list(gradients), dim=1)
        gradient = gradient * self._shares(gradient)
        self.count += alive
        rates = rates.to(gradient.dtype)
        for (first, last), rate in zip(self.edges, rates, strict=True):
            if first < last:
                part = slice(first, last)
                self._step_part(part, gradient[:, part], alive[:, None], rate[:, None])

    def _step_part(self, part: slice, gradient: Tensor, alive: Tensor, rate: Tensor) -> None:
        weights, optimiser = self.weights[:, part], self.trainings[0].optimiser
        if optimiser == "adamw":
            stepped = weights * (1 - rate * self.decay)
        else:
            stepped, gradient = weights, gradient + self.decay * weights
        moments = [moment[:, part] for moment in self.moments]
        if optimiser == "sgd":
            new = [moments[0] * MOMENTUM + gradient]
            stepped = stepped - rate * new[0]
        else:
            new = [
                torch.lerp(moments[0], gradient, 1 - BETAS[0]),
                moments[1] * BETAS[1] + (1 - BETAS[1]) * gradient * gradient,
            ]
            count = self.count.to(gradient.dtype).clamp(min=1)[:, None]
            missing, missing_square = (1 - beta**count for beta in BETAS)
            spread = new[1].sqrt() / missing_square.sqrt() + EPSILON
            stepped = stepped - rate / missing * new[0] / spread
        for held, found in zip([weights, *moments], [stepped, *new], strict=False):
            held.copy_(torch.where(alive, found, held))
