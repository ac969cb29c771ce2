"""Optimisers of a stack: each member is clipped and stepped as by torch's own, at its own rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.optim.radam import radam

from dissensus.training.settings import BETAS, CHOICES, EPSILON, MOMENTUM, Training
from dissensus.training.stacking.compilation import Compiled


class StackedOptimiser(Protocol):
    """Steps the weights of all members of a stack, in place."""

    def step(self, gradients: Mapping[str, Tensor], alive: Tensor, rates: Tensor) -> None:
        """One step of each group of weights of every member that is alive.

        Args:
            gradients: of each parameter by name, (n_members, ...).
            alive: whether a group is stepped, (n_groups, n_members).
            rates: of each group of weights, (n_groups, n_members).
        """


class InOneTable:
    """Steps a table of weights, (n_members, n_weights).

    Args:
        trainings: of each member; they share the kind of optimiser.
        ends: where each group of a member's weights ends, one with a rate of its own.
    """

    def __init__(self, weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        self.weights = weights
        self.optimiser = trainings[0].optimiser
        self.edges = list(zip([0, *ends[:-1]], ends, strict=True))
        self.moments = [torch.zeros_like(weights) for _ in range(2)]
        self.clip = weights.new_tensor([training.clip for training in trainings])
        self.decay = weights.new_tensor([training.weight_decay for training in trainings])

    def _clipped(self, gradients: Mapping[str, Tensor], out: Tensor | None = None) -> Tensor:
        """The gradients as a table, each member's clipped; written to `out`, if it is given."""
        columns = [gradient.reshape(len(gradient), -1) for gradient in gradients.values()]
        table = torch.cat(columns, dim=1, out=out)
        return table.mul_(_shares(table.norm(dim=1), self.clip))


def _shares(norm: Tensor, clip: Tensor) -> Tensor:
    """The factor that clips gradients of these norms, (n_members, 1)."""
    return (clip / (norm + 1e-6)).clamp(max=1)[:, None]


def stacked_optimiser(
    weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]
) -> StackedOptimiser:
    """Torch's fused steps on a CPU; on a GPU an optimiser that can be captured in a graph."""
    kind = ByRow if weights.device.type == "cpu" else AllAtOnce
    return kind(weights, trainings, ends)


class ByRow(InOneTable):
    """Torch's own fused steps: weights are read and written once, which matters on a CPU."""

    def __init__(self, weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        super().__init__(weights, trainings, ends)
        self.gradient = torch.empty_like(weights)
        self.decays = [training.weight_decay for training in trainings]
        tables = (weights, self.gradient, *self.moments)
        self._rows = [
            [list(table[:, first:last]) for table in tables] for first, last in self.edges
        ]
        self._counts = [[torch.zeros(()) for _ in trainings] for _ in self.edges]

    def step(self, gradients: Mapping[str, Tensor], alive: Tensor, rates: Tensor) -> None:
        self._clipped(gradients, self.gradient)
        stepped = alive.tolist()
        for part, (first, last) in enumerate(self.edges):
            members_of: dict[tuple[float, float], list[int]] = {}  # by rate and decay
            for member, rate in enumerate(rates[part].tolist()):
                if stepped[part][member] and first < last:
                    members_of.setdefault((rate, self.decays[member]), []).append(member)
            for (rate, decay), members in members_of.items():
                rows = [[table[member] for member in members] for table in self._rows[part]]
                counts = [self._counts[part][member] for member in members]
                _step_rows(self.optimiser, rows, counts, {"lr": rate, "weight_decay": decay})


def _step_rows(
    optimiser: str, rows: list[list[Tensor]], counts: list[Tensor], settings: dict[str, Any]
) -> None:
    """One step of torch's optimisers.

    Args:
        rows: of weights, gradients and both moments.
        counts: the steps of each row so far.
    """
    weights, gradients, first, second = rows
    settings |= {"maximize": False}
    if optimiser == "sgd":  # a momentum of zeros is the same as none in the first step
        own: dict[str, Any] = {"dampening": 0.0, "nesterov": False, "is_first_step": False}
        torch._fused_sgd_(weights, gradients, first, momentum=MOMENTUM, **own, **settings)
        return
    settings |= {"beta1": BETAS[0], "beta2": BETAS[1], "eps": EPSILON}
    if optimiser == "radam":
        radam(weights, gradients, first, second, counts, foreach=True, **settings)
        return
    torch._foreach_add_(counts, 1)
    fused = torch._fused_adamw_ if optimiser == "adamw" else torch._fused_adam_
    fused(weights, gradients, first, second, [], counts, amsgrad=False, **settings)


class AllAtOnce(InOneTable):
    """The whole table in a few operations, without a synchronisation with the host."""

    def __init__(self, weights: Tensor, trainings: Sequence[Training], ends: Sequence[int]) -> None:
        super().__init__(weights, trainings, ends)
        counts = (len(self.edges), len(weights))
        self.count = torch.zeros(counts, device=weights.device, dtype=torch.float64)

    def step(self, gradients: Mapping[str, Tensor], alive: Tensor, rates: Tensor) -> None:
        gradient = self._clipped(gradients)
        self.count += alive
        rates = rates.to(gradient.dtype)
        of_groups = zip(self.edges, alive, rates, self.count, strict=True)
        for (first, last), stepped, rate, count in of_groups:
            if first < last:
                how = Step(self.optimiser, self.decay[:, None], count[:, None])
                part = slice(first, last)
                tensors = [self.weights[:, part], *(moment[:, part] for moment in self.moments)]
                how.make(tensors, gradient[:, part], stepped[:, None], rate[:, None])


@dataclass(eq=False)
class Step:
    """One step of torch's optimisers, for weights (n_members, ...).

    Args:
        decay: of each member's weights, (n_members, 1, ...).
        count: the steps of each member including this one, (n_members, 1, ...).
    """

    optimiser: str
    decay: Tensor
    count: Tensor

    def make(self, tensors: list[Tensor], gradient: Tensor, alive: Tensor, rate: Tensor) -> None:
        """Update weights and two moments in place, of the members that are alive."""
        for old, new in zip(tensors, self._new(tensors, gradient, rate), strict=False):
            old.copy_(torch.where(alive, new, old))

    def _new(self, tensors: list[Tensor], gradient: Tensor, rate: Tensor) -> list[Tensor]:
        weights, first, second = tensors
        if self.optimiser == "adamw":
            weights = weights * (1 - rate * self.decay)
        else:
            gradient = gradient + self.decay * weights
        if self.optimiser == "sgd":
            first = first * MOMENTUM + gradient
            return [weights - rate * first, first]
        first = torch.lerp(first, gradient, 1 - BETAS[0])
        second = second * BETAS[1] + (1 - BETAS[1]) * gradient * gradient
        count = self.count.to(gradient.dtype).clamp(min=1)
        missing, missing_square = (1 - beta**count for beta in BETAS)
        if self.optimiser == "radam":
            direction = first / missing * self._rectified(second, missing_square)
            return [weights - rate * direction, first, second]
        spread = second.sqrt() / missing_square.sqrt() + EPSILON
        return [weights - rate / missing * first / spread, first, second]

    def _rectified(self, second: Tensor, missing_square: Tensor) -> Tensor:
        """What RAdam multiplies a step by: 1 in the first steps, whose variance is unknown."""
        longest = 2 / (1 - BETAS[1]) - 1
        count = self.count.clamp(min=1)  # in double precision: small differences count
        share = BETAS[1] ** count
        length = longest - 2 * count * share / (1 - share)
        known = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        factor = known.clamp(min=0).sqrt().to(second.dtype) * missing_square.sqrt()
        return torch.where(length > 5, factor / (second.sqrt() + EPSILON), 1.0)


class ByParameter:
    """Steps each parameter, (n_members, ...), by compiled code, which reads and writes memory once.

    Args:
        weights: by the names of the parameters in it: a matrix, or many vectors as one table.
        group: the group of each of them, which has its own learning rate.
        halves: copies in bf16 of some parameters, by name, which are updated too.
    """

    def __init__(
        self,
        weights: Mapping[tuple[str, ...], Tensor],
        group: Sequence[int],
        trainings: Sequence[Training],
        halves: Mapping[str, Tensor],
    ) -> None:
        self.optimiser = trainings[0].optimiser
        self.names = list(weights)
        self.group = group
        self.tensors = [
            [values, torch.zeros_like(values), torch.zeros_like(values)]
            for values in weights.values()
        ]
        self.halves = [[halves[name] for name in names if name in halves] for names in weights]
        one = self.tensors[0][0]
        self.decay = one.new_tensor([training.weight_decay for training in trainings])
        self.clip = one.new_tensor([training.clip for training in trainings])
        self.clipped = any(math.isfinite(training.clip) for training in trainings)
        counts = (max(group) + 1, len(trainings))
        self.count = torch.zeros(counts, device=one.device, dtype=torch.float64)

    def step(self, gradients: Mapping[str, Tensor], alive: Tensor, rates: Tensor) -> None:
        self.count += alive
        rates = rates.to(self.decay.dtype)
        shares = torch.ones_like(self.clip)
        if self.clipped:
            norm = partial(torch.linalg.vector_norm, dim=1, dtype=self.clip.dtype)
            norms = [norm(gradient.reshape(len(gradient), -1)) for gradient in gradients.values()]
            shares = _shares(torch.stack(norms).norm(dim=0), self.clip)[:, 0]
        every = zip(self.names, self.tensors, self.group, self.halves, strict=True)
        for names, tensors, group, half in every:
            parts = [gradients[name] for name in names]
            gradient = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
            counts = self.count[group]
            of_members = (rates[group], alive[group], shares, self.decay, counts)
            CODE[self.optimiser](*tensors, gradient, *of_members, *half)


def _make_step(optimiser: str, *arguments: Tensor) -> None:
    """Step weights and two moments by a gradient; of members rate, alive, share, decay and count,
    (n_members,) each, follow, and then the copy in bf16, if there is one."""
    weights, first, second, gradient, *of_members = arguments
    rate, alive, share, decay, count = (
        values.view(-1, *[1] * (weights.dim() - 1)) for values in of_members[:5]
    )
    Step(optimiser, decay, count).make([weights, first, second], gradient * share, alive, rate)
    for half in of_members[5:]:
        half.copy_(weights)


CODE = {kind: Compiled(partial(_make_step, kind)) for kind in CHOICES["optimiser"]}
