"""Floors for annotators: the most frequent answer of each, or the median one, for every item."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers
from dissensus.scales import Interval, Ordinal, Scale, most_probable


@dataclass(eq=False)
class _Floor(Method):
    """Predicts each annotator's own distribution of training answers, and one answer of it."""

    smoothing: float = 1.0
    individual: ClassVar[bool] = True
    own_: dict[str, np.ndarray] = field(init=False, repr=False)  # (n_annotators, n_columns)

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        self.own_ = {
            question: annotator_distributions(corpus[question], self.smoothing)
            for question in self.learned_.questions
        }

    def annotator_rows(self) -> dict[str, bool]:
        return dict.fromkeys(self.weights(), False)

    @abstractmethod
    def answer(self, question: str) -> np.ndarray:
        """What each annotator is predicted to answer, (n_annotators,)."""

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        return {q: Answers(own, self.answer(q)).take(annotator) for q, own in self.own_.items()}


@dataclass(eq=False)
class AnnotatorMajority(_Floor):
    """Predicts each annotator's own distribution of training answers, and the most frequent one.

    The answer is the mode (nominal, ordinal), the mean (interval), or the values chosen more often
    than not (multi-label). A method that does not beat it has learned only which annotator prefers
    which answer. For errors of levels and ratings `AnnotatorMedian` is the stronger floor.

    Args:
        smoothing: answers of the whole corpus (in its proportions) that are added to the answers of
            each annotator, so that no value has probability 0 and annotators without answers are
            predicted as the average.
    """

    name: ClassVar[str] = "annotator-majority"

    def answer(self, question: str) -> np.ndarray:
        return most_frequent(self.learned_.questions[question], self.own_[question])

    def weights(self) -> dict[str, np.ndarray]:
        return dict(self.own_)

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.own_ = {question: weights[question] for question in self.learned_.questions}


@dataclass(eq=False)
class AnnotatorMedian(_Floor):
    """Predicts each annotator's own distribution of training answers, and their median.

    Of all predictions that ignore the content, the median has the lowest absolute error, so it is
    the floor for errors on ordinal and interval scales. On scales without an order it predicts
    the same as `AnnotatorMajority`.

    Args:
        smoothing: as in `AnnotatorMajority`.
    """

    name: ClassVar[str] = "annotator-median"
    median_: dict[str, np.ndarray] = field(init=False, repr=False)  # (n_annotators,)

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        super().learn_from(corpus, validation)
        self.median_ = {
            q: medians(corpus[q]) if isinstance(scale, Interval) else scale.consensus(self.own_[q])
            for q, scale in self.learned_.questions.items()
        }

    def answer(self, question: str) -> np.ndarray:
        return self.median_[question]

    def weights(self) -> dict[str, np.ndarray]:
        return {f"own.{q}": own for q, own in self.own_.items()} | {
            f"median.{q}": median for q, median in self.median_.items()
        }

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.own_ = {q: weights[f"own.{q}"] for q in self.learned_.questions}
        self.median_ = {q: weights[f"median.{q}"] for q in self.learned_.questions}


def most_frequent(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """The most frequent answer of each row, (n,); the consensus on interval and multi-label scales.

    Example:
        >>> levels = Ordinal(("low", "mid", "high"))
        >>> most_frequent(levels, np.array([[0.4, 0.3, 0.3]])).tolist()
        [0]
    """
    if isinstance(scale, Ordinal):
        return most_probable(distribution)
    return scale.consensus(distribution)


def annotator_distributions(annotations: Annotations, smoothing: float) -> np.ndarray:
    """The smoothed distribution of each annotator's answers, (n_annotators, n_columns)."""
    codes = annotations.annotator_codes("annotator-majority")
    by_annotator = replace(annotations, item=codes, items=annotations.annotators)
    n = by_annotator.per_item()[:, None]
    total = np.nan_to_num(by_annotator.distribution()) * n  # (n_annotators, n_columns)
    average = np.nanmean(annotations.distribution(), axis=0)
    added = np.where(n == 0, max(smoothing, 1.0), smoothing)
    return (total + added * average) / (n + added)


def medians(annotations: Annotations) -> np.ndarray:
    """The median rating of each annotator, (n_annotators,); of all ratings if they gave none.

    Example:
        >>> rows = [("t1", "ann", 1), ("t2", "ann", 2), ("t3", "ann", 9), ("t1", "bob", 4)]
        >>> medians(Annotations.from_rows(rows, Interval(0, 10))).tolist()
        [2.0, 4.0]
    """
    annotator = annotations.annotator_codes("annotator-median")
    order = np.lexsort((annotations.answer, annotator))
    ordered = annotations.answer[order].astype(float)
    n = np.bincount(annotator, minlength=annotations.n_annotators)
    first = np.cumsum(n) - n
    last = max(len(ordered) - 1, 0)
    middle = [np.minimum(first + at, last) for at in (np.maximum(n - 1, 0) // 2, n // 2)]
    medians_of_answers = (ordered[middle[0]] + ordered[middle[1]]) / 2
    return np.where(n > 0, medians_of_answers, np.median(ordered))
