"""What judging a condition needs of its test items, kept beside the outcomes: no corpus is read
again, and outcomes of other data are refused."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.aggregation import AGGREGATORS
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.fit import number, plain
from dissensus.papers.soft_labels.conditions import STEMS, Condition, folds, labels
from dissensus.papers.soft_labels.outcome import codes, letters

FOLDER = "conditions"


@dataclass(frozen=True, eq=False)
class Items:
    """The test items of all folds of a condition, one fold after the other."""

    condition: str
    folds: dict[str, int]  # fold -> how many test items
    gold: np.ndarray  # (n_items,) codes
    consensus: np.ndarray  # (n_items,) the crowd's majority, -1 without answers
    groups: np.ndarray  # (n_items,) the tweet or word
    measure: np.ndarray  # (n_items,) kurtosis of the soft label, of two answers its entropy
    settings: dict[str, Any]  # of every model

    @classmethod
    def of(cls, corpus: Corpus, condition: Condition, settings: Mapping[str, Any]) -> Items:
        dealt = folds(corpus, condition)
        tested = np.concatenate([fold.test for fold in dealt])
        question = condition.question
        soft = AGGREGATORS["softmax-vote"]().fit(corpus[question]).distribution_[tested]
        measured = entropy(soft) if condition.corpus == STEMS else kurtosis(soft)
        return cls(
            condition.name,
            {fold.name: len(fold.test) for fold in dealt},
            labels(corpus, question, "gold")[tested],
            labels(corpus, question, "consensus")[tested],
            np.unique(corpus.units()[tested], return_inverse=True)[1].reshape(-1),
            measured.round(6),
            plain(settings),
        )

    def label(self, kind: str) -> np.ndarray:
        return self.gold if kind == "gold" else self.consensus

    # ---- a file each ----

    def keep(self, folder: Path) -> None:
        """Write it, or compare it with what is there: a folder holds outcomes of one kind."""
        content = {
            "folds": self.folds,
            "gold": letters(self.gold),
            "consensus": letters(self.consensus),
            "groups": self.groups.tolist(),
            "measure": plain(self.measure),
            "settings": self.settings,
        }
        path = folder / FOLDER / f"{self.condition}.json"
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            differing = [name for name in content if kept.get(name) != content[name]]
            if differing:
                raise DataError(
                    f"{folder}: holds {self.condition} with other {' and '.join(differing)}; give "
                    "the data and settings that it was begun with, or another folder"
                )
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(content), encoding="utf-8")
        os.replace(new, path)

    @classmethod
    def load(cls, folder: str | Path, condition: str) -> Items:
        path = Path(folder) / FOLDER / f"{condition}.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError:
            raise DataError(f"{path}: missing; run the paper into this folder again") from None
        return cls(
            condition,
            content["folds"],
            codes(content["gold"]),
            codes(content["consensus"]),
            np.array(content["groups"]),
            np.array([number(value) for value in content["measure"]]),
            content["settings"],
        )


def kurtosis(distribution: np.ndarray) -> np.ndarray:
    """Excess kurtosis of each row: high where one value has all the mass, nan where all are alike.

    Example:
        >>> kurtosis(np.eye(12)[:1]).round(4).tolist()
        [7.0909]
    """
    off = distribution - distribution.mean(axis=1, keepdims=True)
    spread = (off**2).mean(axis=1)
    spread[spread < 1e-18] = np.nan
    found: np.ndarray = (off**4).mean(axis=1) / spread**2 - 3
    return found


def entropy(distribution: np.ndarray) -> np.ndarray:
    """Entropy of each row in nats: for two values, whose kurtosis is always -2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(distribution > 0, distribution * np.log(distribution), 0.0)
    found: np.ndarray = np.where(np.isnan(distribution).any(axis=1), np.nan, -terms.sum(axis=1))
    return found
