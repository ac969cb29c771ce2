"""Facts about the test items of a condition, saved with the outcomes: a report reads no corpus, and
outcomes of other data are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.aggregation import AGGREGATORS
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.fit import number, plain
from dissensus.folders import reading
from dissensus.metrics.uncertainty import entropy, excess_kurtosis
from dissensus_papers.framework.outcomes import refuse_other_data, write_whole
from dissensus_papers.soft_labels.conditions import STEMS, SoftLabelsCondition, folds, labels
from dissensus_papers.soft_labels.outcome import codes, letters

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
        write_whole(path, lambda new: new.write_text(json.dumps(content), encoding="utf-8"))

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
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: missing; run the paper into this folder again") from None
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: damaged ({error}); take it away and run the paper into this folder again"
        ) from None
    return content


def known_words(corpus: Corpus, items: np.ndarray, glove: str | Path | None) -> np.ndarray:
    """1 where the word that an item is about has a vector in the file, else 0, (n_items,); empty
    without a file, and for items that are about no word of a text."""
    from dissensus.encoders.words import WordsEncoder

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
