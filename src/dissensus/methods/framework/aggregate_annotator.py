"""One more annotator, whose answer to each item is the consensus of its annotators."""

from __future__ import annotations

import numpy as np

from dissensus.corpus import Corpus
from dissensus.networks.likelihoods import likelihood
from dissensus.training.examples import Table


def with_aggregate(table: Table, corpus: Corpus, code: int) -> Table:
    """The rows of a corpus, and one more for each item: its consensus as the answer of `code`."""
    consensus = {question: corpus[question].consensus() for question in table.answer}
    item = np.unique(np.concatenate([labels.item for labels in consensus.values()]))
    annotator = np.r_[table.annotator, np.full(len(item), code)]
    every = np.r_[table.item, item]
    order = np.argsort(every, kind="stable")
    both = Table(every[order], annotator[order], {}, {})
    for question, labels in consensus.items():
        own = table.answer[question]
        further = np.zeros((len(item), *own.shape[1:]), own.dtype)
        weight = np.zeros(len(item), np.float32)
        rows = np.searchsorted(item, labels.item)
        further[rows], weight[rows] = likelihood(labels.scale).target(labels.answer), 1
        both.answer[question] = np.concatenate([own, further])[order]
        both.weight[question] = np.r_[table.weight[question], weight][order]
    return both
