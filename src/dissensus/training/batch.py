"""What goes through the door of a network, and what comes out of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.encoders import Inputs, Sequence
from dissensus.networks.noise import Key, drawing, standing
from dissensus.scales import Scale


@dataclass(frozen=True)
class Sizes:
    """What a network must know to be built."""

    scales: dict[str, Scale]  # by question
    n_annotators: int
    widths: dict[str, int]  # of the vectors, by role
    start: dict[str, np.ndarray] = field(default_factory=dict)  # biases to start from, if known


@dataclass(eq=False)
class Rows:
    """One row per (item, annotator or response), whatever they answered of the questions."""

    item: Tensor  # (n_rows,) positions in the batch's items
    annotator: Tensor  # (n_rows,) positions in the batch's annotators
    answer: dict[str, Tensor]  # question -> (n_rows, ...), as its likelihood takes it
    weight: dict[str, Tensor]  # question -> (n_rows,), 0: not answered


@dataclass(eq=False)
class Batch:
    """A set of items with all their rows, or a share of the rows of an item that has very many."""

    items: Tensor  # (n_items,) codes in the corpus
    share: Tensor  # (n_items,) the share of the item's rows that is here
    annotators: Tensor  # (n_annotators,) codes of the distinct annotators of this batch
    pooled: dict[str, Tensor]  # role -> (n_items, width)
    inputs: dict[str, Inputs]  # role -> the batch's distinct contents, where they are encoded here
    sequence: dict[str, Sequence]  # role -> the batch's distinct contents, encoded
    content: dict[str, Tensor]  # role -> (n_items,) positions in `sequence`, -1 absent
    focus: dict[str, Tensor]  # role -> (n_items, n_axes, 2) what is asked about, nan: the whole
    rows: Rows
    targets: dict[str, Tensor]  # (n_items, ...) each, made once before the loop
    noise: Key  # the key that this step's dropout is drawn from
    # of a part of a batch, where its "items", "rows" and "content.ROLE" stand in the whole one
    places: dict[str, Tensor] = field(default_factory=dict)

    def loss(self, outputs: Outputs, losses: tuple[Loss, ...]) -> Tensor:
        """The sum of the losses; over rows and items, weighted means."""
        total = torch.zeros((), device=self.items.device)
        for loss in losses:
            value, weight = loss.weighted(outputs, self)
            total = total + value / weight.clamp(min=1e-12)
        return total


@dataclass(eq=False)
class Outputs:
    """What a network says: numbers for a likelihood, per row and per item, by question."""

    rows: dict[str, Tensor] = field(default_factory=dict)
    items: dict[str, Tensor] = field(default_factory=dict)


class Network(nn.Module):
    """A network has one door."""

    rows: Tensor | None = None  # codes of those whom its tables hold, if not everybody's

    @abstractmethod
    def forward(self, batch: Batch) -> Outputs: ...

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        """See the vectors of training once before the loop, to standardise them for instance."""

    def pretrained(self) -> dict[nn.Parameter, int]:
        """The parameters that are no longer new, and learn at the encoder's own rate; and how many
        of the encoder's blocks come behind each."""
        return {}

    def tables(self) -> list[nn.Parameter]:
        """The parameters with a row per annotator, if they are read at `batch.annotators` alone.

        While a step is made they may hold the rows of some annotators only (see
        `training.sparse_tables`), and `batch.annotators` are positions among these.
        """
        return []

    def __call__(self, batch: Batch) -> Outputs:
        if self.rows is not None:
            at = torch.searchsorted(self.rows, batch.annotators)
            batch = replace(batch, annotators=at)
        with drawing(batch.noise), standing(batch.places.get("items")):
            outputs: Outputs = super().__call__(batch)
        return outputs


@dataclass(frozen=True)
class Loss:
    """A pure function of outputs and batch.

    Over rows or items it gives a vector, each number from its own row or item, which the loop
    weighs and averages. Over the batch it gives one number; where several processes train, it sees
    all outputs, and the whole batch but for what was shown (`inputs` and `sequence`). With a
    weight it must not look at items or rows that weigh 0: networks trained side by side have such,
    as padding.

    Args:
        during: the part of the training in which it is minimised, from 0 to 1.
    """

    name: str
    over: Literal["row", "item", "batch"]
    function: Callable[[Outputs, Batch], Tensor]
    weight: Callable[[Batch], Tensor] | None = None  # needed over rows and items
    during: tuple[float, float] = (0.0, 1.0)

    def due(self, done: float) -> bool:
        """Whether it is minimised when this share of the epochs is over; at 1: in the last."""
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
