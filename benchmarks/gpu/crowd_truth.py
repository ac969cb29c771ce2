"""What is true of each item, from answers and from what a teacher thinks of it beforehand.

Dawid and Skene's model with a prior of each item by itself, as in Raykar et al. (2010): the truth
and how every annotator answers are found in turn. `dissensus.aggregation` has one prior for all.
"""

from __future__ import annotations

import numpy as np

SMOOTHING = 10.0  # answers like everybody's that are added to each annotator's, for each true value


def confusions(
    rows: np.ndarray, posterior: np.ndarray, n_annotators: int, smoothing: float
) -> np.ndarray:
    """How often each annotator answers what, given what is true: (n_annotators, true, answered).

    Args:
        rows: item, annotator and answer, (3, n_rows).
        posterior: (n_items, n_values).
    """
    item, annotator, answer = rows
    n_values = posterior.shape[1]
    counts = np.zeros((n_annotators, n_values, n_values))  # annotator, answered, true
    np.add.at(counts, (annotator, answer), posterior[item])
    counts = counts.transpose(0, 2, 1)
    everybody = counts.sum(axis=0)
    everybody /= np.maximum(everybody.sum(axis=1, keepdims=True), 1e-300)
    counts = counts + smoothing * everybody
    found: np.ndarray = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-300)
    return found


def expected(
    rows: np.ndarray, prior: np.ndarray, confusion: np.ndarray, weight: float = 1.0
) -> np.ndarray:
    """How likely each value is the true one of each item, (n_items, n_values).

    Args:
        prior: of each item, (n_items, n_values).
        weight: of an answer's evidence.
    """
    item, annotator, answer = rows
    logarithm = np.log(np.maximum(prior, 1e-10))
    told = np.log(np.maximum(confusion, 1e-10)).transpose(0, 2, 1)[annotator, answer]
    np.add.at(logarithm, item, weight * told)
    mass = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    found: np.ndarray = mass / mass.sum(axis=1, keepdims=True)
    return found


def truth(
    rows: np.ndarray, prior: np.ndarray, n_annotators: int, weight: float, iterations: int = 30
) -> np.ndarray:
    """The posterior of each item, once it and the annotators' confusions fit each other."""
    posterior = prior
    for _ in range(iterations):
        confusion = confusions(rows, posterior, n_annotators, SMOOTHING)
        posterior = expected(rows, prior, confusion, weight)
    return posterior
