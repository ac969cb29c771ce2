"""Fleiss' kappa: agreement of any number of annotators beyond their pooled answers."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.beyond_chance import beyond_chance
from dissensus.agreement.measure import Estimate
from dissensus.agreement.weights import Weights
from dissensus.annotations import Annotations


def fleiss_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Agreement beyond chance of any number of annotators, not the same on every item.

    1 is perfect agreement, 0 what chance gives if all annotators drew from the same shares.
    Items may have different numbers of answers: agreement is the mean over items with two or
    more, shares the mean over all items, as Gwet has it; with equal numbers it is Fleiss' own
    formula. Annotators need not be known, so votes work. nan where undefined: no item has two
    answers, or all answers are the same.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(fleiss_kappa(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition.
    """
    return prepare_fleiss_kappa(annotations, weights).value()


def prepare_fleiss_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """`fleiss_kappa`, prepared to leave out items."""
    return beyond_chance(annotations, weights, "Fleiss' kappa", _chance)


def _chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
    return ((share @ agree) * share).sum(axis=1)
