"""The biases that the heads of annotators start from."""

from __future__ import annotations

import math

import numpy as np

from dissensus.corpus import Corpus
from dissensus.networks.likelihoods import Grouped, Likelihood
from dissensus.scales import Interval

SMOOTHING = 5.0  # answers of the average annotator, added to each annotator's for the first bias
INFORMATION = 1 / 16  # of an answer about a logit: p (1 - p), of answers that items mostly explain


def annotator_biases(
    corpus: Corpus,
    question: str,
    family: Likelihood,
    method: str,
    aggregate: bool,
    spread: float = math.inf,
) -> np.ndarray:
    """The base rates of the answers: one row for all annotators together, then one for each.

    Args:
        family: the likelihood of its answers.
        method: its name, for an error message.
        aggregate: whether a row for the consensus of all follows.
        spread: the standard deviation, in logits, of a prior of annotators' biases. Then biases
            start as the prior would estimate them: few answers, which also depend on the items
            that the annotator happened to see, change little. A short training ends before the
            prior has undone another start.
    """
    annotations = corpus[question]
    annotator = annotations.annotator_codes(method)
    answer, weight = annotations.answer, annotations.weight
    smoothing = SMOOTHING
    if not isinstance(annotations.scale, Interval):  # biases of ratings are no logits
        smoothing = max(smoothing, answers_of_prior(spread))
    by_annotator = Grouped(answer, weight, annotator, corpus.n_annotators, smoothing)
    starts = [family.start(answer, weight)[None], family.starts(by_annotator)]
    if aggregate:
        labels = annotations.consensus()
        of_one = np.zeros(labels.n_rows, np.int64)
        starts.append(family.starts(Grouped(labels.answer, labels.weight, of_one, 1, SMOOTHING)))
    return np.concatenate(starts)


def answers_of_prior(spread: float) -> float:
    """About how many answers a normal prior of a logit is worth."""
    return 1 / (INFORMATION * spread**2)
