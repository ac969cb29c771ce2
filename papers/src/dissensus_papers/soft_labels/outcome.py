"""The saved outcome of a model with one seed on all folds of a condition: a small folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.evaluation.fit import Key, folder_name, plain
from dissensus.folders import read_json, reading, write_json, writing

FIRST = ord("a")  # answers are kept as letters: a text of 3,000 of them is small, and can be read


@dataclass(frozen=True)
class Trained:
    """One training: what it answered to the test items, and how it went."""

    fold: str
    predicted: str  # a letter for each test item of the fold: code 0 is "a"
    best_epoch: int
    f1: list[float]  # on the development part, after each epoch
    loss: list[float]  # that was minimised, in each epoch
    main: dict[str, list[float]]  # main task alone: "chosen", "last" -> training, development loss
    seconds: float

    @property
    def codes(self) -> np.ndarray:
        return codes(self.predicted)


@dataclass(frozen=True)
class Outcome:
    """A model's trainings with one seed in one condition.

    Example:
        >>> Outcome("stl", 1000, "pos-test", []).key
        Key(method='stl', seed=1000, fold='pos-test')
    """

    model: str
    seed: int
    condition: str
    folds: list[Trained]
    machine: str = ""
    seconds: float = 0.0
    reason: str = ""  # why it failed, if it did

    @property
    def key(self) -> Key:
        return Key(self.model, self.seed, self.condition)

    def save(self, folder: str | Path) -> None:
        """Write it into a folder of fits, as a folder of its own, whole or not at all."""
        with writing(Path(folder) / folder_name(self.key), "fit") as own:
            write_json(own, "fit", plain(asdict(self)))

    @classmethod
    def load(cls, folder: str | Path) -> Outcome:
        content: dict[str, Any] = read_json(folder, "fit", dict[str, Any])
        with reading(Path(folder)):
            known = {name: content[name] for name in cls.__dataclass_fields__}
            return cls(**known | {"folds": [Trained(**fold) for fold in content["folds"]]})


def letters(values: np.ndarray) -> str:
    """Codes as letters; what has no code (-1) is a "`".

    Example:
        >>> letters(np.array([0, 2, -1])), codes("ac`").tolist()
        ('ac`', [0, 2, -1])
    """
    return (np.asarray(values) + FIRST).astype(np.uint8).tobytes().decode("ascii")


def codes(text: str) -> np.ndarray:
    """Letters as codes."""
    return np.frombuffer(text.encode("ascii"), np.uint8).astype(np.int64) - FIRST
