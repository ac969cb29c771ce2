"""The log of a training: loss, score and learning rate of each epoch."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path


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
            for number, loss in enumerate(self.train):
                judged = f"{self.validation[number]:.6g}" if self.validation else ""
                writer.writerow(
                    [
                        number + 1,
                        f"{loss:.6g}",
                        judged,
                        f"{self.rate[number]:.3g}",
                        f"{self.seconds[number]:.1f}",
                        "yes" if number + 1 == self.best_epoch else "",
                    ]
                )
