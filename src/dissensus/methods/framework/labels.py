"""One label per item: the consensus of its annotators, that of an aggregator, or gold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dissensus.aggregation import AGGREGATORS
from dissensus.annotations import Annotations, Ties
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.networks.likelihoods import likelihood
from dissensus.scales import Scale


def item_labels(corpus: Corpus, question: str, label: str, ties: Ties, seed: int) -> Annotations:
    """The label of each item that has one, as annotations without annotators.

    Args:
        label: "consensus", "gold", or the name of an aggregator.
        ties: which of several majority labels is the label, for "consensus".
    """
    if label == "consensus":
        return corpus[question].consensus(ties, seed)
    if label in AGGREGATORS:
        return AGGREGATORS[label]().fit(corpus[question]).consensus_
    if label != "gold":
        raise DataError(
            f"label must be 'consensus', 'gold' or an aggregator ({listed(AGGREGATORS, 20)}), "
            f"not {label!r}"
        )
    if question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    return corpus.gold[question].to(corpus[question].scale)


def first_biases(
    scale: Scale, answer: np.ndarray, weight: np.ndarray, base_rates: bool = True
) -> np.ndarray:
    """The biases that an output layer starts from: the base rates of the answers, or 0.

    What does not depend on the content, such as the spread of ratings, is estimated in both cases.
    """
    family = likelihood(scale)
    start = family.start(answer, weight)
    if not base_rates:
        start[: family.n_outputs] = 0
    return start


def check_labels(corpus: Corpus, question: str, labels: Annotations) -> None:
    """Refuse a question without labels."""
    if not labels.n_rows:
        raise DataError(f"{corpus.name}: no item has a label for {question!r}")


def label_targets(labels: Mapping[str, Annotations], n_items: int) -> dict[str, np.ndarray]:
    """The labels of all items by question, as the likelihood expects them, and "QUESTION.weight": 1
    for items with a label, 0 for the others."""
    targets = {}
    for question, rows in labels.items():
        answer = likelihood(rows.scale).target(rows.answer)
        targets[question] = np.zeros((n_items, *answer.shape[1:]), answer.dtype)
        targets[question][rows.item] = answer
        targets[f"{question}.weight"] = np.zeros(n_items, np.float32)
        targets[f"{question}.weight"][rows.item] = 1
    return targets
