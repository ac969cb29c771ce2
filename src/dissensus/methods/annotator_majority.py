"""A floor for annotators: the most frequent answer of each, for every item."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers
from dissensus.scales import Ordinal, Scale, most_probable


@dataclass(eq=False)
class AnnotatorMajority(Method):
    """Predicts each annotator's own distribution of training answers, and the most frequent one.

    The answer is the mode (nominal, ordinal), the mean (interval), or the values chosen more often
    than not (multi-label). A method that does not beat it has learned only which annotator prefers
    which answer. For errors of levels and ratings `AnnotatorMedian` is the stronger floor.

    Args:
        smoothing: answers of the whole corpus (in its proportions) that are added to the answers of
            each annotator, so that no value has probability 0 and annotators without answers are
            predicted as the average.
    """

    smoothing: float = 1.0
    name: ClassVar[str] = "annotator-majority"
    individual: ClassVar[bool] = True
    own_: dict[str, np.ndarray] = field(init=False, repr=False)  # (n_annotators, n_columns)

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        self.own_ = {
            question: annotator_distributions(corpus[question], self.smoothing)
            for question in self.learned_.questions
        }

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        answers = {}
        for question, scale in self.learned_.questions.items():
            own = self.own_[question]
            answers[question] = Answers(own[annotator], most_frequent(scale, own)[annotator])
        return answers

    def weights(self) -> dict[str, np.ndarray]:
        return dict(self.own_)

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.own_ = {question: weights[question] for question in self.learned_.questions}


def most_frequent(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """The most frequent answer of each row, (n,); the consensus on interval and multi-label scales.

    Example:
        >>> levels = Ordinal(("low", "mid", "high"))
        >>> most_frequent(levels, np.array([[0.4, 0.3, 0.3]])).tolist()
        [0]
    """
    return (
        most_probable(distribution) if isinstance(scale, Ordinal) else scale.consensus(distribution)
    )


def annotator_distributions(annotations: Annotations, smoothing: float) -> np.ndarray:
    """The smoothed distribution of each annotator's answers, (n_annotators, n_columns)."""
    by_annotator = replace(
        annotations,
        item=annotations.annotator_codes("annotator-majority"),
        items=annotations.annotators,
    )  # annotators in the place of items
    n = by_annotator.per_item()[:, None]
    total = np.nan_to_num(by_annotator.distribution()) * n  # (n_annotators, n_columns)
    average = np.nanmean(annotations.distribution(), axis=0)
    added = np.where(n == 0, max(smoothing, 1.0), smoothing)
    return (total + added * average) / (n + added)
