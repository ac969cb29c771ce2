"""The loss on the validation corpus of all members of a stack at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, vmap

from dissensus.training.batch import Batch
from dissensus.training.batches import plan_epoch
from dissensus.training.loop import Trainer
from dissensus.training.stacking import cuda_graph
from dissensus.training.stacking.gradients import Fixed, Tensors
from dissensus.training.stacking.stacked_examples import StackedExamples
from dissensus.training.stacking.weights import StackedWeights


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
        return all(
            trainer.validation is not None
            and trainer.validation.examples is not None
            and not trainer.validation.examples.prepared
            and not trainer.validation.examples.stores
            and not trainer.training.averaged
            for trainer in trainers
        )

    def scores(self) -> list[float]:
        """The mean loss of each member, with its weights of now."""
        self.network.eval()
        with torch.no_grad():
            if self.captured and self.n_done == 1:
                self.graph = cuda_graph.capture(self._compute, self.examples.device)
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
            fixed = (weights.own, weights.shared)
            self.sums += vmap(self._of_one, in_dims=(0, (0, None), 0))(
                weights.learning, fixed, batch
            )

    def _of_one(self, weights: Tensors, fixed: Fixed, batch: Batch) -> Tensor:
        """Of each loss the weighted sum and the sum of weights, (n_losses, 2)."""
        outputs = functional_call(self.network, (weights, *fixed), (batch,))
        pairs = [torch.stack(loss.weighted(outputs, batch)) for loss in self.losses]
        return torch.stack(pairs).double()
