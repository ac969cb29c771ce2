"""The gradients of networks side by side, under vmap."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from dissensus.training.batch import Batch, Loss, Network, Outputs
from dissensus.training.fine_tuning import FineTunedNetwork
from dissensus.training.loop import total_loss
from dissensus.training.settings import Training
from dissensus.training.stacking.compilation import CompiledBlocks

Tensors = dict[str, Tensor]
Fixed = tuple[Tensors, Tensors]


@dataclass(eq=False)
class Gradients:
    """The gradients and losses of networks side by side.

    Args:
        same_batches: whether one batch is that of all members.
    """

    network: Network
    losses: tuple[Loss, ...]
    training: Training
    same_batches: bool
    transposed: set[str] = field(default_factory=set)  # weights whose gradients lie so in memory

    def __call__(self, weights: Tensors, fixed: Fixed, batch: Batch) -> tuple[Tensors, Tensor]:
        """Args:
        weights: of all members, (n_members, ...) each.
        fixed: what does not learn: of each member, and of all.
        """
        found: tuple[Tensors, Tensor] = vmap(
            grad_and_value(self._loss),
            in_dims=(0, (0, None), None if self.same_batches else 0),
            randomness="different",
        )(weights, fixed, batch)
        return found

    def _loss(self, weights: Tensors, fixed: Fixed, batch: Batch) -> Tensor:
        def network(batch: Batch) -> Outputs:
            outputs: Outputs = functional_call(self.network, (weights, *fixed), (batch,))
            return outputs

        if self.training.precision == "fp32":
            return total_loss(network, self.losses, batch)
        with torch.autocast(batch.items.device.type, dtype=torch.bfloat16):
            return total_loss(network, self.losses, batch)


@dataclass(eq=False)
class CompiledGradients(Gradients):
    """The same, with the blocks of encoders compiled: so gradients are torch's own of networks
    under vmap, and not vmap's of networks with gradients."""

    def __post_init__(self) -> None:
        half = self.training.precision == "bf16"
        encoders = self.network.networks if isinstance(self.network, FineTunedNetwork) else []
        self.blocks = [
            CompiledBlocks(encoder.blocks, half)
            for encoder in encoders
            if CompiledBlocks.alike(encoder.blocks)
        ]
        within = {
            part for found in self.blocks for block in found.blocks for part in block.modules()
        }
        self.transposed = {
            f"{name}.weight"
            for name, part in self.network.named_modules()
            if part in within and isinstance(part, nn.Linear) and part.weight.requires_grad
        }

    def __call__(self, weights: Tensors, fixed: Fixed, batch: Batch) -> tuple[Tensors, Tensor]:
        loss = vmap(
            self._loss,
            in_dims=(0, (0, None), None if self.same_batches else 0),
            randomness="different",
        )
        learned = {name: held.detach().requires_grad_() for name, held in weights.items()}
        with torch.enable_grad(), ExitStack() as stack:
            for blocks in self.blocks:
                stack.enter_context(blocks.running())
            losses = loss(learned, fixed, batch)
            gradients = torch.autograd.grad(losses.sum(), list(learned.values()))
        return dict(zip(learned, gradients, strict=True)), losses.detach()
