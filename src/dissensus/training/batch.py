"""The batch a network receives, the outputs it returns, and the losses of both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.encoders import Inputs, Sequence
from dissensus.networks.heads import Trunk
from dissensus.networks.noise import Key, drawing, positions_in_batch
from dissensus.scales import Scale


@dataclass(frozen=True)
class Sizes:
    """What is known about the corpus when a network is built."""

    scales: dict[str, Scale]  # by question
    n_annotators: int
    widths: dict[str, int]  # of the vectors, by role
    start: dict[str, np.ndarray] = field(default_factory=dict)  # biases to start from, if known
    n_enrolled: int = 0  # of the annotators; they come last
    n_forgotten: int = 0  # further annotators of the training

    @property
    def n_trained(self) -> int:
        """How many annotators the network was trained with."""
        return self.n_annotators - self.n_enrolled + self.n_forgotten


@dataclass(eq=False)
class Rows:
    """One row per item and annotator (or response), with the answers to all questions."""

    item: Tensor  # (n_rows,) positions in the batch's items
    annotator: Tensor  # (n_rows,) positions in the batch's annotators
    answer: dict[str, Tensor]  # question -> (n_rows, ...), as its likelihood expects it
    weight: dict[str, Tensor]  # question -> (n_rows,), 0: not answered


@dataclass(eq=False)
class Batch:
    """Some items with all their rows; of an item with very many rows, a share of them."""

    items: Tensor  # (n_items,) codes in the corpus
    share: Tensor  # (n_items,) the share of the item's rows in this batch
    annotators: Tensor  # (n_annotators,) codes of the distinct annotators of this batch
    pooled: dict[str, Tensor]  # role -> (n_items, width)
    inputs: dict[str, Inputs]  # role -> distinct contents, for an encoder that is fine-tuned
    sequence: dict[str, Sequence]  # role -> the batch's distinct contents, encoded
    content: dict[str, Tensor]  # role -> (n_items,) positions in `sequence`, -1 absent
    focus: dict[str, Tensor]  # role -> (n_items, n_axes, 2) start and stop, nan: the whole
    rows: Rows
    targets: dict[str, Tensor]  # (n_items, ...) each, computed once before training
    noise: Key  # the key that dropout of this step draws from
    # positions of "items", "rows" and "content.ROLE" in the whole batch, if this is a part of one
    places: dict[str, Tensor] = field(default_factory=dict)
    codes: Tensor | None = None  # of the annotators, where `annotators` are rows of tables

    @property
    def annotator_codes(self) -> Tensor:
        """The codes of its annotators in the corpus, also where tables hold only some rows."""
        return self.annotators if self.codes is None else self.codes

    def loss(self, outputs: Outputs, losses: tuple[Loss, ...]) -> Tensor:
        """The sum of the losses; over rows and items, weighted means."""
        total = torch.zeros((), device=self.items.device)
        for loss in losses:
            value, weight = loss.weighted(outputs, self)
            total = total + value / weight.clamp(min=1e-12)
        return total


@dataclass(eq=False)
class Outputs:
    """What a network returns: parameters of a likelihood, per row and per item, by question."""

    rows: dict[str, Tensor] = field(default_factory=dict)
    items: dict[str, Tensor] = field(default_factory=dict)


class Network(nn.Module):
    """A torch module that maps a batch to outputs."""

    rows: Tensor | None = None  # the annotators whose rows its tables have now, if not all

    @abstractmethod
    def forward(self, batch: Batch) -> Outputs: ...

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        """See the vectors of the training items before training: trunks standardise by them."""
        for part in self.modules():
            if isinstance(part, Trunk):
                part.standardise(pooled)

    def pretrained(self) -> dict[nn.Parameter, int]:
        """Pretrained parameters, which learn at the encoder's own rate; and how many of the
        encoder's blocks come after each."""
        return {}

    def tables(self) -> list[nn.Parameter]:
        """Parameters with a row per annotator, if only the rows `batch.annotators` are read.

        During a step they may hold the rows of some annotators only (see
        `training.sparse_tables`); `batch.annotators` are then positions among these.
        """
        return []

    def __call__(self, batch: Batch) -> Outputs:
        if self.rows is not None:
            at = torch.searchsorted(self.rows, batch.annotators)
            batch = replace(batch, annotators=at, codes=batch.annotators)
        with drawing(batch.noise), positions_in_batch(batch.places.get("items")):
            outputs: Outputs = super().__call__(batch)
        return outputs


@dataclass(frozen=True)
class Loss:
    """A pure function of outputs and batch.

    Over rows or items it returns a vector, each number from its own row or item, of which the loop
    takes the weighted mean. Over the batch it returns one number; where several processes train, it
    sees all outputs and the whole batch, without contents (`inputs` and `sequence`). With a weight
    it must ignore items and rows of weight 0: in a stack, they are padding.

    Args:
        during: the part of the training in which it is minimised, from 0 to 1.
    """

    name: str
    over: Literal["row", "item", "batch"]
    function: Callable[[Outputs, Batch], Tensor]
    weight: Callable[[Batch], Tensor] | None = None  # needed over rows and items
    during: tuple[float, float] = (0.0, 1.0)

    def due(self, done: float) -> bool:
        """Whether it is minimised after this share of the epochs; at 1: in the last."""
        first, last = self.during
        return first <= done and (done < last or last >= 1)

    def weighted(self, outputs: Outputs, batch: Batch) -> tuple[Tensor, Tensor]:
        """Its weighted sum over rows or items, and the sum of the weights. Over the batch, without
        a weight, it counts as often as there are items."""
        value = self.function(outputs, batch)
        if self.weight is None:
            n_items = batch.items.new_tensor(len(batch.items), dtype=value.dtype)
            return value * n_items, n_items
        weight = self.weight(batch)
        if self.over == "batch":
            return value * weight.sum(), weight.sum()
        return (value * weight).sum(), weight.sum()
