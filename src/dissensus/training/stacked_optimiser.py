"""The optimiser of networks side by side: one table of weights, a row for each member.

Each member is clipped and stepped as torch's own optimisers would, at its own rate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dissensus.training.settings import BETAS, EPSILON, MOMENTUM, Training

State = dict[str, Any]  # tensors, and lists of them


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
        how = Step(self.trainings[0].optimiser, self.decay, self.count)
        for (first, last), rate in zip(self.edges, rates, strict=True):
            if first < last:
                part = slice(first, last)
                held = [self.weights[:, part], *(moment[:, part] for moment in self.moments)]
                how.make(held, gradient[:, part], alive[:, None], rate[:, None])


@dataclass(eq=False)
class Step:
    """A step as torch's optimisers make it, of weights (n_members, n_weights).

    Args:
        decay: of each member's weights, (n_members, 1).
        count: steps that each member has made with this one, (n_members,).
    """

    optimiser: str
    decay: Tensor
    count: Tensor

    def make(self, held: list[Tensor], gradient: Tensor, alive: Tensor, rate: Tensor) -> None:
        """Change weights and two moments in place, of the members that are alive."""
        for old, new in zip(held, self._new(held, gradient, rate), strict=False):
            old.copy_(torch.where(alive, new, old))

    def _new(self, held: list[Tensor], gradient: Tensor, rate: Tensor) -> list[Tensor]:
        weights, first, second = held
        if self.optimiser == "adamw":
            weights = weights * (1 - rate * self.decay)
        else:
            gradient = gradient + self.decay * weights
        if self.optimiser == "sgd":
            first = first * MOMENTUM + gradient
            return [weights - rate * first, first]
        first = torch.lerp(first, gradient, 1 - BETAS[0])
        second = second * BETAS[1] + (1 - BETAS[1]) * gradient * gradient
        count = self.count.to(gradient.dtype).clamp(min=1)[:, None]
        missing, missing_square = (1 - beta**count for beta in BETAS)
        spread = second.sqrt() / missing_square.sqrt() + EPSILON
        return [weights - rate / missing * first / spread, first, second]


class Apart:
    """Steps parameters that are tensors of their own, (n_members, ...) each, as a pure function of
    what it is given, to be compiled.

    Args:
        ends: how many of the parameters stand before the end of each group.
    """

    def __init__(self, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        self.optimiser = trainings[0].optimiser
        self.clipped = any(math.isfinite(training.clip) for training in trainings)
        self.group = [next(g for g, end in enumerate(ends) if n < end) for n in range(ends[-1])]
        self.trainings = trainings

    def begin(self, weights: Sequence[Tensor]) -> State:
        one = weights[0]
        return {
            "first": [torch.zeros_like(held) for held in weights],
            "second": [torch.zeros_like(held) for held in weights],
            "count": torch.zeros(len(one), device=one.device, dtype=torch.float64),
            "decay": one.new_tensor([training.weight_decay for training in self.trainings]),
            "clip": one.new_tensor([training.clip for training in self.trainings]),
        }

    def step(
        self,
        weights: Sequence[Tensor],
        gradients: Sequence[Tensor],
        state: State,
        alive: Tensor,
        rates: Tensor,
    ) -> None:
        """One step of every member that is alive; changes weights and state in place."""
        state["count"].copy_(state["count"] + alive)
        how = Step(self.optimiser, state["decay"][:, None], state["count"])
        shares = self._shares(gradients, state["clip"]) if self.clipped else None
        for number, held in enumerate(weights):
            gradient = gradients[number].flatten(1).to(held.dtype)
            if shares is not None:
                gradient = gradient * shares
            parts = [held, state["first"][number], state["second"][number]]
            rate = rates[self.group[number]].to(held.dtype)
            how.make([part.flatten(1) for part in parts], gradient, alive[:, None], rate[:, None])

    def _shares(self, gradients: Sequence[Tensor], clip: Tensor) -> Tensor:
        squares = [g.flatten(1).to(clip.dtype).square().sum(dim=1) for g in gradients]
        return (clip / (torch.stack(squares).sum(dim=0).sqrt() + 1e-6)).clamp(max=1)[:, None]
