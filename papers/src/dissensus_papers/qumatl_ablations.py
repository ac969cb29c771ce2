"""The ablations of QuMATL that are other models, not other settings of annotator-queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dissensus import Corpus
from dissensus.methods import AnnotatorQueries


@dataclass(eq=False)
class SharedClassifier(AnnotatorQueries):
    """w/ U-cls: one classifier for all annotators."""

    def classifier(self, n_annotators: int) -> Literal["shared"]:
        return "shared"


@dataclass(eq=False)
class LearnedMajority(SharedClassifier):
    """Pre-mv: the majority label of each item is learned, from the mean of all queries."""

    averages: ClassVar[bool] = True

    @property
    def has_prior(self) -> bool:
        return False

    def rows(self, corpus: Corpus) -> Any:
        """The rows with the label of their item as the answer; all rows of an item count as one."""
        table = super().rows(corpus)
        labelled = replace(table, answer={}, weight={})
        for question, answer in table.answer.items():
            labels = corpus[question].consensus()
            of_items = np.zeros(corpus.n_items, answer.dtype)
            of_items[labels.item] = labels.answer
            given = table.weight[question] > 0
            n = np.bincount(table.item, given, corpus.n_items)
            labelled.answer[question] = of_items[table.item]
            labelled.weight[question] = (given / np.maximum(n, 1)[table.item]).astype(np.float32)
        return labelled


@dataclass(eq=False)
class PredictedMajority(AnnotatorQueries):
    """Post-mv: an item's distribution has the shares of its annotators' predicted answers."""

    @property
    def votes(self) -> bool:
        return True
