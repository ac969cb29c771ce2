"""Outcomes of fits and facts about their items, in a folder; and which fits there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus
from dissensus.aggregation import AGGREGATORS
from dissensus.errors import DataError
from dissensus.evaluation import Key, folder_name, number, plain
from dissensus.folders import read_json as read_folder
from dissensus.folders import reading, writing
from dissensus.folders import write_json as write_folder
from dissensus.metrics import entropy, excess_kurtosis
from dissensus_papers.framework.paper import load_outcomes, refuse_other_data
from dissensus_papers.framework.reports import read_json, write_json
from dissensus_papers.soft_labels.protocol import (
    CONDITIONS,
    MODELS,
    STEMS,
    SoftLabelsCondition,
    folds,
    labels,
)

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
    folds: list[Trained] = field(default_factory=list)
    machine: str = ""
    seconds: float = 0.0
    reason: str = ""  # why it failed, if it did

    @property
    def key(self) -> Key:
        return Key(self.model, self.seed, self.condition)

    def save(self, folder: str | Path) -> None:
        """Write it into a folder of fits, as a folder of its own, whole or not at all."""
        with writing(Path(folder) / folder_name(self.key), "fit") as own:
            write_folder(own, "fit", plain(asdict(self)))

    @classmethod
    def load(cls, folder: str | Path) -> Outcome:
        content = read_folder(folder, "fit")
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
    known: np.ndarray  # (n_items,) 1 where the word has a vector, else 0; empty without vectors

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        condition: SoftLabelsCondition,
        settings: Mapping[str, Any],
        glove: str | Path | None = None,
    ) -> Items:
        dealt = folds(corpus, condition)
        tested = np.concatenate([fold.test for fold in dealt])
        question = condition.question
        soft = AGGREGATORS["softmax-vote"]().fit(corpus[question]).distribution_[tested]
        measured = entropy(soft) if condition.corpus == STEMS else excess_kurtosis(soft)
        return cls(
            condition.name,
            {fold.name: len(fold.test) for fold in dealt},
            labels(corpus, question, "gold")[tested],
            labels(corpus, question, "consensus")[tested],
            np.unique(corpus.units()[tested], return_inverse=True)[1].reshape(-1),
            measured.round(6),
            plain(settings),
            known_words(corpus, tested, glove),
        )

    def label(self, kind: str) -> np.ndarray:
        return self.gold if kind == "gold" else self.consensus

    # ---- a file each ----

    def keep(self, folder: Path) -> None:
        """Write them; refuse a folder that was begun with other data or settings."""
        content = {
            "folds": self.folds,
            "gold": letters(self.gold),
            "consensus": letters(self.consensus),
            "groups": self.groups.tolist(),
            "measure": plain(self.measure),
            "settings": self.settings,
            "known": letters(self.known),
        }
        path = folder / FOLDER / f"{self.condition}.json"
        if path.exists():
            kept = _read(path)
            differing = [name for name in kept if kept[name] != content.get(name)]
            refuse_other_data(folder, self.condition, differing, "the data and settings")
            if kept.keys() == content.keys():
                return
        write_json(path, content)

    @classmethod
    def load(cls, folder: str | Path, condition: str) -> Items:
        path = Path(folder) / FOLDER / f"{condition}.json"
        content = _read(path)
        with reading(path):
            return cls(
                condition,
                content["folds"],
                codes(content["gold"]),
                codes(content["consensus"]),
                np.array(content["groups"]),
                np.array([number(value) for value in content["measure"]]),
                content["settings"],
                codes(content.get("known", "")),
            )


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise DataError(f"{path}: missing; run the paper into this folder again")
    try:
        return dict(read_json(path))
    except (DataError, ValueError) as error:
        raise DataError(
            f"{path}: damaged ({error}); take it away and run the paper into this folder again"
        ) from None


def known_words(corpus: Corpus, items: np.ndarray, glove: str | Path | None) -> np.ndarray:
    """1 where the word that an item is about has a vector in the file, else 0, (n_items,); empty
    without a file, and for items that are about no word of a text."""
    from dissensus.encoders import WordsEncoder

    focus = corpus.focus
    if focus is None or glove is None:
        return np.zeros(0, np.int64)
    words = WordsEncoder(str(glove))
    texts = corpus.contents[focus.role].values.to_pylist()
    shown = zip(
        corpus.content[focus.role][items],
        focus.start[items, 0].astype(int),
        focus.stop[items, 0].astype(int),
        strict=True,
    )
    numbers = [words.number(texts[code][start:stop]) for code, start, stop in shown]
    return (np.array(numbers) != words.nothing).astype(np.int64)


def outcomes(folder: str | Path) -> list[Outcome]:
    """The outcomes of all fits in a folder, by condition, seed and model."""
    loaded = load_outcomes(folder, Outcome.load, CONDITIONS, MODELS)
    order = list(MODELS)
    return sorted(loaded, key=lambda o: (o.condition, o.seed, order.index(o.model)))
