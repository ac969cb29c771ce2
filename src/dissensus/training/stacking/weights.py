"""The weights of all members of a stack, as tensors with one axis more than those of a network."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from operator import attrgetter

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.training.batch import Network
from dissensus.training.loop import Trainer
from dissensus.training.settings import Training
from dissensus.training.stacking.gradients import Tensors
from dissensus.training.stacking.optimiser import ByParameter, StackedOptimiser, stacked_optimiser


class StackedWeights:
    """Weights that learn, (n_members, ...) each by name, with the optimiser that steps them; and
    what does not learn: `shared` by all members, or each member's `own`.

    Weights are in groups: those of one learning rate (`trainer_group` has their number in
    the trainer) that the same losses reach (`reached_by`).

    Args:
        transposed: names of weights whose gradients lie transposed in memory.
        reached: the names of the weights that each loss reaches, if some losses are minimised in a
            part of the training only.
    """

    @torch.no_grad()
    def __init__(
        self, trainers: Sequence[Trainer], transposed: set[str], reached: Sequence[set[str]] = ()
    ) -> None:
        self.trainers = trainers
        networks = [trainer.network for trainer in trainers]
        group_of = {p: n for n, group in enumerate(trainers[0].groups) for p in group["params"]}
        members: dict[tuple[int, tuple[bool, ...]], list[tuple[str, nn.Parameter]]] = {
            (number, (True,) * len(reached)): [] for number in range(len(trainers[0].groups))
        }
        for name, weights in networks[0].named_parameters():
            if weights.requires_grad:
                by = tuple(name in names for names in reached)
                members.setdefault((group_of[weights], by), []).append((name, weights))
        self.trainer_group = [number for number, _ in members]
        self.reached_by = np.array([by for _, by in members]).reshape(len(members), len(reached))
        groups = [[weights for _, weights in group] for group in members.values()]
        named = [entry for group in members.values() for entry in group]
        self.names = [name for name, _ in named]
        settings = [trainer.training for trainer in trainers]
        self.halves: Tensors = {}  # copies in bf16 of some weights, for compiled code
        if settings[0].compile:
            self.ends = np.cumsum([len(group) for group in groups]).tolist()
            self.optimiser: StackedOptimiser = self._by_parameter(networks, settings, transposed)
        else:  # one table, (n_members, n_weights), of which `learning` are views
            n = len(networks)
            columns = [torch.stack(_each(networks, name)).reshape(n, -1) for name in self.names]
            table = torch.cat(columns, dim=1)
            self.learning: Tensors = _views(table, [(n, weights.shape) for n, weights in named])
            self.ends = np.cumsum([sum(p.numel() for p in group) for group in groups]).tolist()
            self.optimiser = stacked_optimiser(table, settings, self.ends)
        self._gather_fixed(networks)
        averaged = any(training.averaged for training in settings)
        self.means = {n: w.clone() for n, w in self.learning.items()} if averaged else None

    def _by_parameter(
        self, networks: list[Network], settings: list[Training], transposed: set[str]
    ) -> ByParameter:
        """Weights that compiled code steps: matrices, which lie in memory as their gradients will,
        and all vectors of a group in one table."""
        tables: dict[tuple[str, ...], Tensor] = {}
        group: list[int] = []
        self.learning = {}
        for number, (first, last) in enumerate(itertools.pairwise([0, *self.ends])):
            names = self.names[first:last]
            stacked = {  # in memory as the gradient will lie
                name: torch.stack([each.mT for each in _each(networks, name)]).mT
                if name in transposed
                else torch.stack(_each(networks, name))
                for name in names
            }
            vectors = [(n, each.shape[1:]) for n, each in stacked.items() if each.dim() == 2]
            self.learning |= stacked
            if vectors:
                table = torch.cat([stacked.pop(name) for name, _ in vectors], dim=1)
                self.learning |= _views(table, vectors)
                tables[tuple(name for name, _ in vectors)] = table
            tables |= {(name,): weights for name, weights in stacked.items()}
            group += [number] * (len(tables) - len(group))
        if settings[0].precision == "bf16":
            self.halves = {n: w.bfloat16() for n, w in self.learning.items() if n in transposed}
        return ByParameter(tables, group, settings, self.halves)

    def _gather_fixed(self, networks: list[Network]) -> None:
        self.shared: Tensors = {}
        self.own: Tensors = {}
        learning = set(self.names)
        for name in [name for name in networks[0].state_dict() if name not in learning]:
            first, *others = _each(networks, name)
            if all(torch.equal(first, other) for other in others):
                self.shared[name] = first.detach()
            else:
                self.own[name] = torch.stack([first, *others])

    def step(self, gradients: Tensors, alive: Tensor, rates: Tensor, mean_shares: Tensor) -> None:
        """Update the groups of weights that are alive, and the average of all, if any.

        Args:
            alive: (n_groups, n_members), as rates.
        """
        self.optimiser.step(gradients, alive, rates)
        for name, mean in (self.means or {}).items():
            share = mean_shares.to(mean.dtype).view(-1, *[1] * (mean.dim() - 1))
            mean.lerp_(self.learning[name], share)

    @torch.no_grad()
    def scatter(self, members: Iterable[int]) -> None:
        """Write the weights of these members back into their networks."""
        for member in members:
            trainer = self.trainers[member]
            averaged = self.means is not None and trainer.average_share(trainer.step - 1)
            stacked = self.means if averaged and self.means is not None else self.learning
            weights = [_each([trainer.network], name)[0] for name in stacked]
            torch._foreach_copy_(weights, [of_all[member] for of_all in stacked.values()])


def _each(networks: Sequence[nn.Module], name: str) -> list[Tensor]:
    """The weights, or the buffer, of this name, of each network. (Modules can list all of theirs by
    name, which takes long where networks are many.)"""
    get = attrgetter(name)
    return [get(network) for network in networks]


def _views(table: Tensor, shapes: Sequence[tuple[str, torch.Size]]) -> Tensors:
    """A table of weights as named ones, (n_members, ...) each."""
    views, start = {}, 0
    for name, shape in shapes:
        size = math.prod(shape)
        views[name] = table[:, start : start + size].view(len(table), *shape)
        start += size
    return views
