"""How epochs are scored on the validation corpus, and the log of their losses and scores."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from dissensus.training.batch import Loss, Network
from dissensus.training.examples import Examples, batch_indices
from dissensus.training.settings import Training


class Validation(NamedTuple):
    """The score on the validation corpus that the best epoch is chosen by.

    If it is `mean_loss`, its arguments are `losses` and `examples`, so that a stack can compute it
    for all its members at once.
    """

    name: str
    score: Callable[[], float]
    higher_is_better: bool
    losses: tuple[Loss, ...] = ()
    examples: Examples | None = None


def mean_loss(
    network: Network, losses: tuple[Loss, ...], examples: Examples, training: Training
) -> float:
    """The loss over all items, without dropout; every row or item counts by its weight."""
    network.eval()
    sums = np.zeros((len(losses), 2))
    with torch.inference_mode():
        for index in batch_indices(examples, np.arange(examples.n_items), training, None):
            batch = examples.batch(*index)
            outputs = network(batch)
            for number, loss in enumerate(losses):
                value, weight = loss.weighted(outputs, batch)
                sums[number] += float(value), float(weight)
    return float((sums[:, 0] / sums[:, 1].clip(1e-12)).sum())


@dataclass
class Log:
    """The numbers of each epoch, and which epoch was kept."""

    train: list[float] = field(default_factory=list)  # the mean loss
    validation: list[float] = field(default_factory=list)  # the score of each epoch, if any
    rate: list[float] = field(default_factory=list)  # the learning rate of the last step
    seconds: list[float] = field(default_factory=list)  # since the start
    best_epoch: int = 0
    chosen_by: str = "loss"

    def write(self, path: Path) -> None:
        """As CSV, a row per epoch."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            name = f"validation {self.chosen_by}"
            writer.writerow(["epoch", "train loss", name, "learning rate", "seconds", "kept"])
            for number, (loss, rate, took) in enumerate(
                zip(self.train, self.rate, self.seconds, strict=True), 1
            ):
                judged = f"{self.validation[number - 1]:.6g}" if self.validation else ""
                kept = "yes" if number == self.best_epoch else ""
                writer.writerow([number, f"{loss:.6g}", judged, f"{rate:.3g}", f"{took:.1f}", kept])
