"""The biases that the heads of annotators start from."""

from __future__ import annotations

import numpy as np

from dissensus.corpus import Corpus
from dissensus.networks.likelihoods import Grouped, Likelihood

SMOOTHING = 5.0  # answers of the average annotator, added to each annotator's for the first bias


def annotator_biases(
    corpus: Corpus, question: str, family: Likelihood, method: str, aggregate: bool
) -> np.ndarray:
    """The base rates of the answers: one row for all annotators together, then one for each.

    Args:
        family: the likelihood of its answers.
        method: its name, for an error message.
        aggregate: whether a row for the consensus of all follows.
    """
    annotations = corpus[question]
    annotator = annotations.annotator_codes(method)
    answer, weight = annotations.answer, annotations.weight
    by_annotator = Grouped(answer, weight, annotator, corpus.n_annotators, SMOOTHING)
    starts = [family.start(answer, weight)[None], family.starts(by_annotator)]
    if aggregate:
        labels = annotations.consensus()
        of_one = np.zeros(labels.n_rows, np.int64)
        starts.append(family.starts(Grouped(labels.answer, labels.weight, of_one, 1, SMOOTHING)))
    return np.concatenate(starts)
