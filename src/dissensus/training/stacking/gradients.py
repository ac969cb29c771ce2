"""The gradients of all members of a stack, under vmap."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from dissensus.errors import ModelError
from dissensus.training.batch import Batch, Loss, Network, Outputs
from dissensus.training.fine_tuning import FineTunedNetwork
from dissensus.training.settings import Training
from dissensus.training.stacking.compilation import CompiledBlocks

Tensors = dict[str, Tensor]
RANDOM = "randomness error mode"  # in vmap's message where something draws from torch's generator
Fixed = tuple[Tensors, Tensors]


@dataclass(eq=False)
class Gradients:
    """The gradients and losses of all members of a stack.

    Args:
        same_batches: whether all members have the same batch.
    """

    network: Network
    losses: tuple[Loss, ...]
    training: Training
    same_batches: bool
    transposed: set[str] = field(default_factory=set)  # weights with transposed gradients

    def __call__(
        self, weights: Tensors, fixed: Fixed, batch: Batch, due: Tensor | None = None
    ) -> tuple[Tensors, Tensor]:
        """Args:
        weights: of all members, (n_members, ...) each.
        fixed: what does not learn: each member's own, and shared by all.
        due: 1 where a loss is minimised in this step, else 0, (n_members, n_losses); all if None.
        """
        gradients: tuple[Tensors, Tensor] = vmap(
            grad_and_value(self._loss), in_dims=self._in_dims(due), randomness="error"
        )(weights, fixed, batch, due)
        return gradients

    def _in_dims(self, due: Tensor | None) -> tuple[Any, ...]:
        return (0, (0, None), None if self.same_batches else 0, None if due is None else 0)

    def _loss(
        self, weights: Tensors, fixed: Fixed, batch: Batch, due: Tensor | None = None
    ) -> Tensor:
        with self.training.arithmetic(batch.items.device):
            outputs: Outputs = functional_call(self.network, (weights, *fixed), (batch,))
            if due is None:
                return batch.loss(outputs, self.losses)
            losses = torch.stack([batch.loss(outputs, (loss,)) for loss in self.losses])
            return (losses * due).sum()


@dataclass(eq=False)
class CompiledGradients(Gradients):
    """The same, with the blocks of encoders compiled. Therefore torch takes the gradients of
    networks under vmap, where `Gradients` takes them within vmap."""

    def __post_init__(self) -> None:
        half = self.training.precision == "bf16"
        encoders = self.network.networks if isinstance(self.network, FineTunedNetwork) else []
        self.blocks = [
            CompiledBlocks(encoder.blocks, half)
            for encoder in encoders
            if CompiledBlocks.same_code(encoder.blocks)
        ]
        within = {
            part for blocks in self.blocks for block in blocks.blocks for part in block.modules()
        }
        self.transposed = {
            f"{name}.weight"
            for name, part in self.network.named_modules()
            if part in within and isinstance(part, nn.Linear) and part.weight.requires_grad
        }

    def __call__(
        self, weights: Tensors, fixed: Fixed, batch: Batch, due: Tensor | None = None
    ) -> tuple[Tensors, Tensor]:
        loss = vmap(self._loss, in_dims=self._in_dims(due), randomness="error")
        learned = {name: values.detach().requires_grad_() for name, values in weights.items()}
        with torch.enable_grad(), ExitStack() as stack:
            for blocks in self.blocks:
                stack.enter_context(blocks.running())
            losses = loss(learned, fixed, batch, due)
            gradients = torch.autograd.grad(losses.sum(), list(learned.values()))
        return dict(zip(learned, gradients, strict=True)), losses.detach()


class LayerError(ModelError):
    """A layer cannot be part of a stack; each network has to be trained by itself."""


def layer_error(error: RuntimeError, network: nn.Module) -> LayerError | None:
    """An error that names the layer which vmap refuses, if that is why a step failed."""
    if "vmap" not in str(error):
        return None
    names = {id(part): name for name, part in network.named_modules()}
    where = "a loss"
    for frame, _ in walk_tb(error.__traceback__):
        part = frame.f_locals.get("self")
        if id(part) in names:
            name = names[id(part)]
            where = f"layer {name!r} ({type(part).__name__})" if name else type(part).__name__
    reason = "cannot run under vmap"
    if RANDOM in str(error):
        reason = "draws from torch's random generator; nn.Dropout can be stacked"
    return LayerError(f"trained one after another, not as a stack: {where} {reason}")
