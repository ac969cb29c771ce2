"""Outcomes of fits, and facts about the test items of a condition, in a folder: a report reads no
corpus, and outcomes of other data are refused."""

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
from dissensus.files import read_json, reading, write_json, writing
from dissensus.metrics import entropy, excess_kurtosis
from dissensus_papers.framework import reports
from dissensus_papers.framework.paper import load_outcomes, refuse_other_data
from dissensus_papers.soft_labels.protocol import (
    CONDITIONS,
    MODELS,
    STEMS,
    SoftLabelsCondition,
    folds,
    labels,
)

FIRST = ord("a")  # answers are kept as letters: a text of 3,000 of them is small, and can be read


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
    """A model's trainings with one seed on all folds of a condition: a small folder.

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
            write_json(own, "fit", plain(asdict(self)))

    @classmethod
    def load(cls, folder: str | Path) -> Outcome:
        content = read_json(folder, "fit")
        with reading(Path(folder)):
            known = {name: content[name] for name in cls.__dataclass_fields__}
            return cls(**known | {"folds": [Trained(**fold) for fold in content["folds"]]})


def outcomes(folder: str | Path) -> list[Outcome]:
    """The outcomes of all fits in a folder, by condition, seed and model."""
    loaded = load_outcomes(folder, Outcome.load, CONDITIONS, MODELS)
    order = list(MODELS)
    return sorted(loaded, key=lambda o: (o.condition, o.seed, order.index(o.model)))


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

    def keep(self, folder: Path) -> None:
        """Write them; refuse a folder that was begun with other data or settings."""
        content = {name: value for name, value in vars(self).items() if name != "condition"}
        content |= {name: letters(content[name]) for name in _LETTERS}
        content = plain(content)
        path = _file(folder, self.condition)
        if path.exists():
            kept = _read(path)
            differing = [name for name in kept if kept[name] != content.get(name)]
            refuse_other_data(folder, self.condition, differing, "the data and settings")
        else:
            reports.write_json(path, content)

    @classmethod
    def load(cls, folder: str | Path, condition: str) -> Items:
        path = _file(folder, condition)
        content = _read(path)
        with reading(path):
            content |= {name: codes(content[name]) for name in _LETTERS}
            content["groups"] = np.array(content["groups"])
            content["measure"] = np.array([number(value) for value in content["measure"]])
            return cls(condition, **content)


_LETTERS = ("gold", "consensus", "known")


def _file(folder: str | Path, condition: str) -> Path:
    return Path(folder) / "conditions" / f"{condition}.json"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise DataError(f"{path}: missing; run the paper into this folder again")
    try:
        return dict(reports.read_json(path))
    except ValueError as error:
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
    ends = (end[items, 0].astype(int) for end in (focus.start, focus.stop))
    shown = zip(corpus.content[focus.role][items], *ends, strict=True)
    numbers = [words.number(texts[code][start:stop]) for code, start, stop in shown]
    return (np.array(numbers) != words.nothing).astype(np.int64)
