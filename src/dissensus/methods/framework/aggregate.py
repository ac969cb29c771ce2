"""An annotator who is not real: the consensus of all, learned in order to predict newcomers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dissensus.corpus import Corpus
from dissensus.methods.framework.individual import StandIns

if TYPE_CHECKING:
    from dissensus.training.examples import Table


@dataclass(eq=False)
class AggregateAnnotator(StandIns):
    """Stands in for every annotator without an answer in training.

    Args:
        code: its code, after those of the training annotators.
    """

    code: int
    described: ClassVar[str] = "the aggregate annotator, who learned the consensus"

    def codes(self, question: str, code: np.ndarray, item: np.ndarray) -> np.ndarray:
        return np.full(len(code), self.code)


def with_aggregate(table: Table, corpus: Corpus, code: int) -> Table:
    """The rows of a corpus, and one more for each item: its consensus as the answer of `code`."""
    from dissensus.networks.likelihoods import likelihood
    from dissensus.training.examples import Table

    consensus = {question: corpus[question].consensus() for question in table.answer}
    items = np.unique(np.concatenate([labels.item for labels in consensus.values()]))
    order = np.argsort(np.r_[table.item, items], kind="stable")
    annotator = np.r_[table.annotator, np.full(len(items), code)]
    both = Table(np.r_[table.item, items][order], annotator[order], {}, {})
    for question, labels in consensus.items():
        target = likelihood(labels.scale).target(labels.answer)
        answer = np.zeros((len(items), *target.shape[1:]), target.dtype)
        weight = np.zeros(len(items), np.float32)
        rows = np.searchsorted(items, labels.item)
        answer[rows], weight[rows] = target, 1
        both.answer[question] = np.concatenate([table.answer[question], answer])[order]
        both.weight[question] = np.r_[table.weight[question], weight][order]
    return both
