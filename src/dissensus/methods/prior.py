"""The floor for distributions: the mean distribution of the training items, for every item."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers


@dataclass(eq=False)
class Prior(Method):
    """Predicts the mean distribution of the training items, for every item and annotator.

    A method that does not beat it has learned nothing from the content.

    Example:
        >>> from dissensus import Annotations, Corpus
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> corpus = Corpus.build("tiny", ["t1", "t2"], {"ok": Annotations.from_rows(rows)})
        >>> Prior().fit(corpus).predict(corpus)["ok"].distribution.tolist()
        [[0.25, 0.75], [0.25, 0.75]]
    """

    name: ClassVar[str] = "prior"
    prior_: dict[str, np.ndarray] = field(init=False, repr=False)  # question -> (n_columns,)

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        self.prior_ = {
            question: np.nanmean(corpus[question].distribution(), axis=0)
            for question in self.learned_.questions
        }

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        answers = {}
        for question, scale in self.learned_.questions.items():
            distribution = np.tile(self.prior_[question], (corpus.n_items, 1))
            answers[question] = Answers(distribution, scale.consensus(distribution))
        return answers

    def weights(self) -> dict[str, np.ndarray]:
        return dict(self.prior_)

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.prior_ = {question: weights[question] for question in self.learned_.questions}
