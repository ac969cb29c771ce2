"""Many trainings of one architecture as one, under vmap.

Each member has its own data, order, first weights, optimiser state, learning rate, clip and end;
each ends where it would end alone. Members with the same batches and the same dropout share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, vmap
from torch.utils import _pytree

from dissensus.encoders import Inputs
from dissensus.encoders import Sequence as Vectors
from dissensus.errors import ModelError
from dissensus.networks.noise import noise_key
from dissensus.progress import progress
from dissensus.training.batch import Batch, Rows
from dissensus.training.examples import EpochPlan, plan_epoch
from dissensus.training.loop import Trainer, gpus, memory_error, ordered_sums
from dissensus.training.stacking.cuda_graph import CapturedSteps, Plan, capture
from dissensus.training.stacking.gradients import (
    CompiledGradients,
    Fixed,
    Gradients,
    Tensors,
    layer_error,
)
from dissensus.training.stacking.stacked_examples import StackedExamples, StackedIndices, at_step
from dissensus.training.stacking.weights import StackedWeights
from dissensus.within import check_deadline

PYTREES = (Batch, Rows, Inputs, Vectors)


@dataclass(eq=False)
class Stack:
    """Compatible trainings that run as one; see `groups`.

    A member that diverges stops; its error is in `errors`, and the others continue.

    Args:
        graph: capture a step as a CUDA graph; None does so on a GPU where all batches have one
            shape.
    """

    trainers: list[Trainer]
    graph: bool | None = None
    errors: dict[int, ModelError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in PYTREES:  # vmap maps over the fields of dataclasses that it knows
            if kind not in _pytree.SUPPORTED_NODES:
                _pytree.register_dataclass(kind)
        first = self.trainers[0]
        self.network, self.training = first.network, first.training
        self.same_batches = _same_batches(self.trainers)
        examples = [trainer.examples for trainer in self.trainers]
        self.device = examples[0].device
        if self.graph is None:
            one_shape = self.training.compile or not examples[0].prepared
            self.graph = self.device.type == "cuda" and one_shape
        self.examples = StackedExamples(
            examples[:1] if self.same_batches else examples,
            even=self.training.compile or self.graph,
        )
        of_stack = CompiledGradients if self.training.compile else Gradients
        in_parts = first.in_parts  # all losses are computed in every update, and some count
        self.gradients = [  # of each update of a step: one with all losses, or one with each
            of_stack(self.network, losses, self.training, self.same_batches)
            for losses in (first.losses if in_parts else due for due in first.losses_of_steps(0))
        ]
        reached = [first.reached_by(loss) for loss in first.losses] if in_parts else ()
        self.weights = StackedWeights(self.trainers, self.gradients[0].transposed, reached)
        self.captured = CapturedSteps(len(self.trainers), self.device)
        self.validation: StackedValidation | None = None
        if self.graph and StackedValidation.possible(self.trainers):
            self.validation = StackedValidation(self.trainers, self.weights, captured=True)

    # ---- a step ----

    def train_step(
        self, indices: StackedIndices, plan: Plan, step: int | Tensor, longest: dict[str, int]
    ) -> Tensor:
        """Update the weights of every member that is alive, once with the losses of each update;
        returns their losses, else 0."""
        weights, total = self.weights, torch.zeros((), device=self.device, dtype=torch.float64)
        for number, of_losses in enumerate(self.gradients):
            at = step * len(self.gradients) + number
            batch = self.examples.batch(indices, step, at_step(plan["noise"], at), longest)
            if self.same_batches:
                batch = _pytree.tree_map(lambda tensor: tensor[0], batch)
            alive = at_step(plan["alive"], at)
            due = at_step(plan["due"], at) if "due" in plan else None
            fixed = (weights.own, weights.shared)
            gradients, losses = of_losses(weights.learning | weights.halves, fixed, batch, due)
            weights.step(gradients, alive, at_step(plan["rates"], at), at_step(plan["means"], at))
            total = total + torch.where(alive.any(dim=0), losses, 0).double()
        return total

    # ---- an epoch ----

    def train_epoch(self) -> None:
        """Train one epoch of every member that is not finished, and score it."""
        unfinished = [self._unfinished(member) for member in range(len(self.trainers))]
        epochs = [
            plan_epoch(t.examples, t.learned, t.training, t.order) if going else None
            for t, going in zip(self.trainers, unfinished, strict=True)
        ]
        self.network.train()
        sums = self._train_steps(epochs).tolist()
        for trainer, epoch in zip(self.trainers, epochs, strict=True):
            trainer.step += self._n_updates(epoch)
        scored = [m for m, going in enumerate(unfinished) if going and self.trainers[m].validation]
        self.weights.scatter(scored)
        scores = self.validation.scores() if self.validation else [None] * len(epochs)
        for member, (trainer, epoch) in enumerate(zip(self.trainers, epochs, strict=True)):
            if epoch is not None:
                loss = sums[member] / max(self._n_updates(epoch), 1)
                rate = trainer.max_rates[0] * trainer.schedule.rate(trainer.step - 1)
                try:
                    trainer.end_epoch(loss, rate, scores[member])
                except ModelError as error:
                    self.errors[member] = error

    def _n_updates(self, epoch: EpochPlan | None) -> int:
        return 0 if epoch is None else len(epoch) * len(self.gradients)

    def _unfinished(self, member: int) -> bool:
        return member not in self.errors and not self.trainers[member].finished

    def _train_steps(self, epochs: list[EpochPlan | None]) -> Tensor:
        """Run the steps of an epoch; returns the sum of each member's losses."""
        going = [epoch for epoch in epochs if epoch is not None]
        indices = self.examples.indices(going[:1] if self.same_batches else epochs)
        plan = self._plan(epochs, len(indices.items) * len(self.gradients))
        if self.graph:
            step_of = partial(self.train_step, longest=self.examples.longest)
            return self.captured.run(step_of, indices, plan)
        sums = torch.zeros(len(self.trainers), device=self.device, dtype=torch.float64)
        lengths = self.examples.lengths(indices)
        if self.training.compile:  # of one length, or each would be compiled
            lengths = [self.examples.longest] * len(lengths)
        for step in range(len(indices.items)):
            sums += self.train_step(indices, plan, step, lengths[step])
        return sums

    def _plan(self, epochs: list[EpochPlan | None], n_steps: int) -> Plan:
        """What differs between members, for each update: (n_steps, ..., n_members), and of losses
        (n_steps, n_members, n_losses)."""
        n_groups, n_members = len(self.weights.ends), len(self.trainers)
        of_groups, reached_by = self.weights.trainer_group, self.weights.reached_by
        alive = np.zeros((n_steps, n_groups, n_members), bool)
        due = np.zeros((n_steps, n_members, reached_by.shape[1]), np.float32)
        rates = np.zeros((n_steps, n_groups, n_members))
        means = np.zeros((n_steps, n_members))
        for member, (trainer, epoch) in enumerate(zip(self.trainers, epochs, strict=True)):
            n = self._n_updates(epoch)
            alive[:n, :, member] = True
            if reached_by.size and n:
                of_updates = trainer.due(trainer.epoch)  # of each batch
                due[:n, member] = np.tile(of_updates, (n // len(of_updates), 1))
                reached = (reached_by & of_updates[:, None]).any(axis=2)
                alive[:n, :, member] = np.tile(reached, (n // len(of_updates), 1))
            shares = np.array([trainer.schedule.rate(trainer.step + step) for step in range(n)])
            rates[:n, :, member] = shares[:, None] * np.array(trainer.max_rates)[of_groups]
            means[:n, member] = [trainer.average_share(trainer.step + step) for step in range(n)]
        seeds = torch.tensor([trainer.training.noise_seed for trainer in self.trainers])
        first = torch.tensor([trainer.step for trainer in self.trainers])
        noise = torch.as_tensor(noise_key(seeds, first + torch.arange(n_steps)[:, None]))
        plan = {"alive": torch.from_numpy(alive), "rates": torch.from_numpy(rates), "noise": noise}
        plan["means"] = torch.from_numpy(means)
        if reached_by.size:
            plan["due"] = torch.from_numpy(due)
        return {name: values.to(self.device) for name, values in plan.items()}

    # ---- all epochs ----

    def train(self) -> None:
        """Train all members to their ends."""
        with torch.random.fork_rng(devices=gpus(self.device)), ordered_sums(self.device):
            torch.manual_seed(self.training.seed)
            try:
                self.train_epochs()
            except RuntimeError as error:
                clearer = layer_error(error, self.network) or memory_error(error, self.training)
                if clearer:
                    raise clearer from error
                raise
        self.weights.scatter(range(len(self.trainers)))
        for trainer in self.trainers:
            trainer.finish()

    def train_epochs(self) -> None:
        """Train epochs until no member is left."""
        longest = max(trainer.training.epochs for trainer in self.trainers)
        with progress(f"training {len(self.trainers)} networks", longest) as advance:
            while any(self._unfinished(member) for member in range(len(self.trainers))):
                check_deadline()
                self.train_epoch()
                advance(1)


class StackedValidation:
    """Scores every member of a stack as `mean_loss` scores one network.

    Args:
        captured: whether the computation is captured as a CUDA graph, when it is done for the
            second time.
    """

    def __init__(
        self, trainers: Sequence[Trainer], weights: StackedWeights, captured: bool
    ) -> None:
        self.network, self.weights, self.captured = trainers[0].network, weights, captured
        validations = [trainer.validation for trainer in trainers if trainer.validation]
        self.losses = validations[0].losses
        examples = [each.examples for each in validations if each.examples is not None]
        self.examples = StackedExamples(examples)
        training = trainers[0].training
        plans = [plan_epoch(each, np.arange(each.n_items), training, None) for each in examples]
        self.indices = self.examples.indices(plans)
        self.lengths = self.examples.lengths(self.indices)
        device = self.examples.device
        self.noise = torch.zeros(len(trainers), dtype=torch.int64, device=device)
        self.sums = torch.zeros(
            (len(trainers), len(self.losses), 2), dtype=torch.float64, device=device
        )
        self.graph: torch.cuda.CUDAGraph | None = None
        self.n_done = 0

    @staticmethod
    def possible(trainers: Sequence[Trainer]) -> bool:
        """Whether all members are scored by the loss on pooled vectors, of their last weights."""
        judged = [trainer.validation and trainer.validation.examples for trainer in trainers]
        averaged = any(trainer.training.averaged for trainer in trainers)
        return not averaged and all(e and not e.prepared and not e.stores for e in judged)

    def scores(self) -> list[float]:
        """The mean loss of each member, with its weights of now."""
        self.network.eval()
        with torch.no_grad():
            if self.captured and self.n_done == 1:
                self.graph = capture(self._compute, self.examples.device)
            if self.graph is None:
                self._compute()
            else:
                self.graph.replay()
        self.n_done += 1
        sums = self.sums.cpu().numpy()
        means: list[float] = (sums[..., 0] / sums[..., 1].clip(1e-12)).sum(axis=1).tolist()
        return means

    def _compute(self) -> None:
        self.sums.zero_()
        weights = self.weights
        for step, longest in enumerate(self.lengths):
            batch = self.examples.batch(self.indices, step, self.noise, longest)
            fixed, in_dims = (weights.own, weights.shared), (0, (0, None), 0)
            self.sums += vmap(self._of_one, in_dims)(weights.learning, fixed, batch)

    def _of_one(self, weights: Tensors, fixed: Fixed, batch: Batch) -> Tensor:
        """Of each loss the weighted sum and the sum of weights, (n_losses, 2)."""
        outputs = functional_call(self.network, (weights, *fixed), (batch,))
        pairs = [torch.stack(loss.weighted(outputs, batch)) for loss in self.losses]
        return torch.stack(pairs).double()


def _same_batches(trainers: Sequence[Trainer]) -> bool:
    """Whether all members see the same items in the same order with the same noise, so that one
    batch serves all of them."""
    first = trainers[0]
    return all(
        trainer.examples is first.examples
        and trainer.training.seed == first.training.seed
        and trainer.training.noise_seed == first.training.noise_seed
        and np.array_equal(trainer.learned, first.learned)
        for trainer in trainers
    )
