"""Outcomes of fits, and facts about the test items of a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus
from dissensus.aggregation import AGGREGATORS
from dissensus.evaluation import plain
from dissensus.metrics import entropy, excess_kurtosis
from dissensus_papers.framework.fitted import SavedItems, SavedOutcome
from dissensus_papers.soft_labels.protocol import STEMS, SoftLabelsCondition, folds, labels


@dataclass(frozen=True, eq=False)
class Outcome(SavedOutcome):
    """A model's trainings with one seed on all folds of a condition; lists have an entry for each.

    Example:
        >>> Outcome("stl", 1000, "pos-test").key
        Key(method='stl', seed=1000, fold='pos-test')
    """

    # (n_items,) codes of the answers to all test items, one fold after the other
    predicted: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    best_epochs: list[int] = field(default_factory=list)
    f1: list[list[float]] = field(default_factory=list)  # on the development part, by epoch
    loss: list[list[float]] = field(default_factory=list)  # that was minimised, by epoch
    # losses of the main task alone in training and development, at the chosen and the last epoch
    chosen: list[list[float]] = field(default_factory=list)
    last: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Items(SavedItems):
    """The test items of all folds of a condition, one fold after the other."""

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
        tested = np.concatenate([fold.test for fold in folds(corpus, condition)])
        question = condition.question
        soft = AGGREGATORS["softmax-vote"]().fit(corpus[question]).distribution_[tested]
        return cls(
            condition.name,
            labels(corpus, question, "gold")[tested],
            labels(corpus, question, "consensus")[tested],
            np.unique(corpus.units()[tested], return_inverse=True)[1].reshape(-1),
            entropy(soft) if condition.corpus == STEMS else excess_kurtosis(soft),
            plain(settings),
            known_words(corpus, tested, glove),
        )


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
