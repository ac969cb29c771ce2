"""The saved outcome of a model on all folds of one repetition: a small folder of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.evaluation.fit import Key, folder_name, plain
from dissensus.folders import read_json, reading, write_json, writing

ARRAYS = "answers.npz"
MOST = 30.0  # of all log-odds that are kept


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a model's networks answer to every item, each when it is tested; or how a trial went.

    Probabilities are as they come from the networks: a temperature is chosen when they are judged,
    by what they answer to the items that were set aside in training.

    Example:
        >>> Outcome("single", 0, "HS-Brexit").key
        Key(method='single', seed=0, fold='HS-Brexit')
    """

    model: str
    repeat: int  # or the number of a trial
    condition: str
    mass: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))  # (k, n_items, n_values)
    votes: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int8))  # (m, n_items)
    aside: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 0), np.int64)
    )  # (2, n): fold, item
    aside_mass: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))  # (k, n, n_values)
    scores: list[float] = field(default_factory=list)  # of a trial: label's cross-entropy, by fold
    settings: dict[str, Any] = field(default_factory=dict)
    machine: str = ""
    seconds: float = 0.0
    reason: str = ""  # why it failed, if it did

    @property
    def key(self) -> Key:
        return Key(self.model, self.repeat, self.condition)

    def save(self, folder: str | Path) -> None:
        """Write it into a folder of fits, as a folder of its own, whole or not at all."""
        content = {name: value for name, value in vars(self).items() if name not in _ARRAYS}
        with writing(Path(folder) / folder_name(self.key), "fit") as own:
            if self.mass.size:
                np.savez_compressed(
                    own / ARRAYS,
                    mass=log_odds(self.mass),
                    votes=self.votes.astype(np.int8),
                    aside=self.aside.astype(np.int32),
                    aside_mass=log_odds(self.aside_mass),
                )
            write_json(own, "fit", plain(content))

    @classmethod
    def load(cls, folder: str | Path) -> Outcome:
        content: dict[str, Any] = read_json(folder, "fit", dict[str, Any])
        with reading(Path(folder)):
            known = {name: content[name] for name in cls.__dataclass_fields__ if name in content}
            if (Path(folder) / ARRAYS).exists():
                with np.load(Path(folder) / ARRAYS) as arrays:
                    known |= {name: arrays[name] for name in ("votes", "aside")}
                    known |= {name: masses(arrays[name]) for name in ("mass", "aside_mass")}
            return cls(**known)


_ARRAYS = ("mass", "votes", "aside", "aside_mass")


def log_odds(mass: np.ndarray) -> np.ndarray:
    """Of each value against the last one, in half precision: what 0.9999 and 0.99999 differ by
    stays there.

    Example:
        >>> log_odds(np.array([[0.75, 0.25]])).tolist()
        [[1.0986328125]]
    """
    logs = np.log(mass.clip(np.finfo(float).tiny))
    return (logs[..., :-1] - logs[..., -1:]).clip(-MOST, MOST).astype(np.float16)


def masses(odds: np.ndarray) -> np.ndarray:
    """From log-odds to probabilities."""
    logs = np.concatenate([odds.astype(float), np.zeros((*odds.shape[:-1], 1))], axis=-1)
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
