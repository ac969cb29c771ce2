"""Many trainings of one architecture as one: networks side by side under vmap.

Each member has its own data, order, first weights, optimiser state, learning rate, clip and stop;
together they end where each would end by itself. Members that see the same batches with the same
dropout share them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import _pytree

from dissensus.encoders import Inputs
from dissensus.encoders import Sequence as Vectors
from dissensus.errors import ModelError
from dissensus.networks.noise import noise_key
from dissensus.progress import progress
from dissensus.training.batch import Batch, Network, Rows
from dissensus.training.batches import EpochPlan, plan_epoch
from dissensus.training.loop import Trainer, explained, gpus
from dissensus.training.settings import Training
from dissensus.training.stacking.cuda_graph import captured
from dissensus.training.stacking.gradients import (
    CompiledGradients,
    Gradients,
    Tensors,
    layer_error,
)
from dissensus.training.stacking.optimiser import Apart, StackedOptimiser, stacked_optimiser
from dissensus.training.stacking.stacked_examples import Cuts, Resident, at_step

PYTREES = (Batch, Rows, Inputs, Vectors)


@dataclass(eq=False)
class Stack:
    """Trainings that are alike, under way together.

    A member that diverges stops; its error is kept in `errors`, and the others go on.

    Args:
        graph: capture a step as a CUDA graph; by itself on a GPU, where the step is the same
            throughout.
    """

    runs: list[Trainer]
    graph: bool | None = None
    errors: dict[int, ModelError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in PYTREES:
            _as_pytree(kind)
        self.network = self.runs[0].network
        self.losses = self.runs[0].losses
        self.training = self.runs[0].training
        self.same_batches = _same_batches(self.runs)
        first = self.runs[:1] if self.same_batches else self.runs
        self.resident = Resident([run.examples for run in first], even=self.training.compile)
        self.device = self.resident.device
        of_blocks = CompiledGradients if self.training.compile else Gradients
        self.gradients = of_blocks(self.network, self.losses, self.training, self.same_batches)
        self._gather()
        averaged = any(run.training.averaged for run in self.runs)
        self.means = {n: held.clone() for n, held in self.weights.items()} if averaged else None
        if self.graph is None:
            same_length = self.training.compile or not self.resident.inputs
            self.graph = self.device.type == "cuda" and same_length

    @torch.no_grad()
    def _gather(self) -> None:
        """All members' weights, by their learning rates: in one table, (n_members, n_weights), of
        which `weights` are views; to be compiled, each parameter by itself."""
        networks = [run.network for run in self.runs]
        groups = [group["params"] for group in self.runs[0].groups]
        group_of = {held: number for number, group in enumerate(groups) for held in group}
        named = [(n, p) for n, p in self.network.named_parameters() if p.requires_grad]
        named = sorted(named, key=lambda entry: group_of[entry[1]])
        self.names = [name for name, _ in named]
        trainings = [run.training for run in self.runs]
        self.halves: Tensors = {}
        if self.training.compile:
            self.ends = np.cumsum([len(group) for group in groups]).tolist()
            self.optimiser: StackedOptimiser = self._apart(networks, trainings)
        else:
            columns = [torch.stack(_each(networks, name)).flatten(1) for name in self.names]
            self.flat = torch.cat(columns, dim=1)
            self.weights = _views(self.flat, [(name, held.shape) for name, held in named])
            self.ends = np.cumsum([sum(p.numel() for p in group) for group in groups]).tolist()
            self.optimiser = stacked_optimiser(self.flat, trainings, self.ends)
        self._gather_fixed(networks)

    def _apart(self, networks: list[Network], trainings: list[Training]) -> Apart:
        """Weights that compiled code steps: matrices, which lie as their gradients will, and all
        vectors of a group in one table."""
        lying = self.gradients.transposed
        at_once: dict[tuple[str, ...], Tensor] = {}
        group: list[int] = []
        self.weights = {}
        for number, (first, last) in enumerate(itertools.pairwise([0, *self.ends])):
            stacked = {n: _stacked(_each(networks, n), n in lying) for n in self.names[first:last]}
            vectors = [(n, held.shape[1:]) for n, held in stacked.items() if held.dim() == 2]
            self.weights |= stacked
            if vectors:
                table = torch.cat([stacked.pop(name) for name, _ in vectors], dim=1)
                self.weights |= _views(table, vectors)
                at_once[tuple(name for name, _ in vectors)] = table
            at_once |= {(name,): held for name, held in stacked.items()}
            group += [number] * (len(at_once) - len(group))
        if self.training.precision == "bf16":
            self.halves = {n: held.bfloat16() for n, held in self.weights.items() if n in lying}
        return Apart(at_once, group, trainings, self.halves)

    def _gather_fixed(self, networks: list[Network]) -> None:
        """What does not learn: of all, where it is the same, and of each."""
        self.shared: Tensors = {}
        self.own: Tensors = {}
        learned = set(self.names)
        for name in [name for name in networks[0].state_dict() if name not in learned]:
            first, *others = _each(networks, name)
            if all(torch.equal(first, other) for other in others):
                self.shared[name] = first.detach()
            else:
                self.own[name] = torch.stack([first, *others])

    # ---- the loop ----

    def train(self) -> None:
        """All members to their ends."""
        with torch.random.fork_rng(devices=gpus(self.device)):
            torch.manual_seed(self.training.seed)
            try:
                self._all_epochs()
            except RuntimeError as error:
                refused = layer_error(error, self.network)
                raise refused or explained(error, self.training) from error
        self._scatter(range(len(self.runs)))
        for run in self.runs:
            run.finish()

    def _all_epochs(self) -> None:
        self.network.train()
        longest = max(run.training.epochs for run in self.runs)
        with progress(f"training {len(self.runs)} networks", longest) as advance:
            while any(self._going(member) for member in range(len(self.runs))):
                self._one_epoch()
                advance(1)

    def _going(self, member: int) -> bool:
        return member not in self.errors and not self.runs[member].finished

    def _one_epoch(self) -> None:
        going = [self._going(member) for member in range(len(self.runs))]
        epochs = [
            plan_epoch(run.examples, run.learned, run.training, run.order) if on else None
            for run, on in zip(self.runs, going, strict=True)
        ]
        self.network.train()
        sums = self._steps(epochs).tolist()
        for run, found in zip(self.runs, epochs, strict=True):
            run.step += 0 if found is None else len(found)
        judged = [m for m, on in enumerate(going) if on and self.runs[m].validation is not None]
        self._scatter(judged)
        for member, found in enumerate(epochs):
            if found is not None:
                self._end_epoch(member, len(found), sums[member])

    def _end_epoch(self, member: int, n_steps: int, total: float) -> None:
        run = self.runs[member]
        try:
            run.end_epoch(total / max(n_steps, 1), self._rate(run, run.step - 1))
        except ModelError as error:
            self.errors[member] = error

    def _rate(self, run: Trainer, step: int) -> float:
        return run.max_rates[0] * run.schedule.rate(step)

    def _steps(self, epochs: list[EpochPlan | None]) -> Tensor:
        """Make the steps of an epoch; the sum of each member's losses."""
        going = [found for found in epochs if found is not None]
        cuts = self.resident.cuts(going[:1] if self.same_batches else epochs)
        plan = self._plan(epochs, len(cuts.items))
        sums = torch.zeros(len(self.runs), device=self.device, dtype=torch.float64)
        if self.graph:
            self._replay(cuts, plan, sums)
        else:
            lengths = self.resident.lengths(cuts)
            if self.training.compile:  # of one length, or each would be compiled
                lengths = [self.resident.longest] * len(lengths)
            for step in range(len(cuts.items)):
                sums += self._step(cuts, plan, step, lengths[step])
        return sums

    def _plan(self, epochs: list[EpochPlan | None], n_steps: int) -> dict[str, Tensor]:
        """What each member's steps have of their own, (n_steps, n_members) each."""
        alive = np.zeros((n_steps, len(self.runs)), bool)
        rates = np.zeros((n_steps, len(self.ends), len(self.runs)))
        means = np.zeros((n_steps, len(self.runs)))
        for member, (run, found) in enumerate(zip(self.runs, epochs, strict=True)):
            n = 0 if found is None else len(found)
            alive[:n, member] = True
            shares = np.array([run.schedule.rate(run.step + step) for step in range(n)])
            rates[:n, :, member] = shares[:, None] * run.max_rates
            means[:n, member] = [run.average_share(run.step + step) for step in range(n)]
        seeds = torch.tensor([run.training.noise_seed for run in self.runs])
        first = torch.tensor([run.step for run in self.runs])
        noise = torch.as_tensor(noise_key(seeds, first + torch.arange(n_steps)[:, None]))
        plan = {"alive": torch.from_numpy(alive), "rates": torch.from_numpy(rates), "noise": noise}
        plan["means"] = torch.from_numpy(means)
        return {name: held.to(self.device) for name, held in plan.items()}

    def _step(
        self, cuts: Cuts, plan: dict[str, Tensor], step: int | Tensor, longest: dict[str, int]
    ) -> Tensor:
        """One step of every member that is alive; their losses, 0 of the others."""
        batch = self.resident.batch(cuts, step, at_step(plan["noise"], step), longest)
        if self.same_batches:
            batch = _pytree.tree_map(lambda held: held[0], batch)
        alive, rates = at_step(plan["alive"], step), at_step(plan["rates"], step)
        fixed = (self.own, self.shared)
        gradients, losses = self.gradients(self.weights | self.halves, fixed, batch)
        self.optimiser.step(gradients, alive, rates)
        if self.means is not None:
            share = at_step(plan["means"], step)
            for name, mean in self.means.items():
                mean.lerp_(
                    self.weights[name], share.to(mean.dtype).view(-1, *[1] * (mean.dim() - 1))
                )
        return torch.where(alive, losses, 0).double()

    # ---- back into the networks ----

    def _scatter(self, members: Sequence[int] | range) -> None:
        with torch.no_grad():
            for member in members:
                run = self.runs[member]
                averaged = self.means is not None and run.average_share(run.step - 1)
                held = self.means if averaged and self.means is not None else self.weights
                mine = [_each([run.network], name)[0] for name in held]
                torch._foreach_copy_(mine, [stacked[member] for stacked in held.values()])

    # ---- a CUDA graph ----

    def _replay(self, cuts: Cuts, plan: dict[str, Tensor], sums: Tensor) -> None:
        """The steps of an epoch from a captured one; captured again where shapes have changed."""
        shapes = _shapes(cuts, plan)
        if getattr(self, "_of_shapes", None) != shapes:
            self._capture(cuts, plan)
            self._of_shapes = shapes
        else:
            for held, new in zip(self._cuts.tensors(), cuts.tensors(), strict=True):
                held.copy_(new)
            for name, held in self._planned.items():
                held.copy_(plan[name])
        self._at.zero_()
        self._sums.zero_()
        for _ in range(len(cuts.items)):
            self._captured.replay()
        sums += self._sums

    def _capture(self, cuts: Cuts, plan: dict[str, Tensor]) -> None:
        self._cuts, self._planned = cuts, plan
        self._at = torch.zeros((), dtype=torch.int64, device=self.device)
        self._sums = torch.zeros(len(self.runs), device=self.device, dtype=torch.float64)
        self._try(plan)
        self._at.zero_()
        self._captured = captured(self._captured_step, self.device)

    def _try(self, plan: dict[str, Tensor]) -> None:
        """Make a step that changes nobody's weights: what is made at first use is made before."""
        own = {name: plan[name].clone() for name in ("alive", "means")}
        for name in own:
            plan[name].zero_()
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._captured_step()
        torch.cuda.current_stream().wait_stream(side)
        for name, held in own.items():
            plan[name].copy_(held)

    def _captured_step(self) -> None:
        self._sums += self._step(self._cuts, self._planned, self._at, self.resident.longest)
        self._at += 1


def _shapes(cuts: Cuts, plan: dict[str, Tensor]) -> list[tuple[int, ...]]:
    return [tuple(held.shape) for held in (*cuts.tensors(), *plan.values())]


def _each(networks: Sequence[nn.Module], name: str) -> list[Tensor]:
    """The weights, or the buffer, of this name, of each network. (Modules can list all of theirs by
    name, which takes long where networks are many.)"""
    get = attrgetter(name)
    return [get(network) for network in networks]


def _stacked(members: list[Tensor], transposed: bool) -> Tensor:
    """One tensor of all members' weights, which lies in memory as its gradient will."""
    return torch.stack([held.mT for held in members]).mT if transposed else torch.stack(members)


def _views(flat: Tensor, shapes: Sequence[tuple[str, torch.Size]]) -> Tensors:
    """A table of weights as named ones, (n_members, ...) each."""
    views, start = {}, 0
    for name, shape in shapes:
        size = math.prod(shape)
        views[name] = flat[:, start : start + size].view(len(flat), *shape)
        start += size
    return views


def _same_batches(runs: Sequence[Trainer]) -> bool:
    """Whether all members see the same items in the same order with the same noise, so that each
    batch is cut once for all of them."""
    first = runs[0]
    return all(
        run.examples is first.examples
        and run.training.seed == first.training.seed
        and run.training.noise_seed == first.training.noise_seed
        and np.array_equal(run.learned, first.learned)
        for run in runs
    )


def _as_pytree(kind: type) -> None:
    """Let vmap look into a dataclass of ours."""
    if kind not in _pytree.SUPPORTED_NODES:
        _pytree.register_dataclass(kind)
