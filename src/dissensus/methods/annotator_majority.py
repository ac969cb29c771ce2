"""The floor for individuals: what each annotator mostly answers, whatever is shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Answers, Method


@dataclass(eq=False)
class AnnotatorMajority(Method):
    """Answers each annotator's own distribution of answers in training.

    A method that does not beat it has learned only who leans where.

    Args:
        smoothing: answers of the crowd (in its proportions) added to everybody's own, so that
            nobody is certain, and people without answers answer as the crowd.
    """

    smoothing: float = 1.0
    name: ClassVar[str] = "annotator-majority"
    individual: ClassVar[bool] = True
    own_: dict[str, np.ndarray] = field(init=False, repr=False)  # (n_annotators, n_columns)

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        self.own_ = {q: self._shares(corpus[q]) for q in self.learned_.questions}

    def _shares(self, annotations: Annotations) -> np.ndarray:
        people = _turned(annotations)
        n = people.per_item()[:, None]
        total = np.nan_to_num(people.distribution()) * n  # (n_annotators, n_columns)
        crowd = np.nanmean(annotations.distribution(), axis=0)
        smoothing = np.where(n == 0, max(self.smoothing, 1.0), self.smoothing)
        return (total + smoothing * crowd) / (n + smoothing)

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        answers = {}
        for question, scale in self.learned_.questions.items():
            own = self.own_[question]
            answers[question] = Answers(own[annotator], scale.consensus(own)[annotator])
        return answers

    def weights(self) -> dict[str, np.ndarray]:
        return dict(self.own_)

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.own_ = {question: weights[question] for question in self.learned_.questions}


def _turned(annotations: Annotations) -> Annotations:
    """The same rows with annotators in the place of items, to count answers per person."""
    who = annotations.who("annotator-majority")
    return replace(annotations, item=who, items=annotations.annotators)
