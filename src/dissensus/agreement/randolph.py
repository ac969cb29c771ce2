"""Randolph's kappa: agreement beyond what blind choice among the values gives."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.beyond_chance import beyond_chance
from dissensus.agreement.measure import Estimate
from dissensus.agreement.weights import Weights
from dissensus.annotations import Annotations


def randolph_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Agreement beyond chance of any number of annotators; chance picks every value alike.

    1 is perfect agreement, 0 what blind choice among the scale's values gives. Unlike Fleiss'
    kappa it does not fall when one answer is rare; prefer it where annotators were not
    told how often to use a value. Values without answers count, so declare the scale. Also known as
    free-marginal kappa or the Brennan-Prediger coefficient. nan where undefined: no item has two
    answers, or the scale has one value only.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(randolph_kappa(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Randolph (2005), Free-marginal multirater kappa; Brennan and Prediger (1981),
    doi:10.1177/001316448104100307.
    """
    return prepare_randolph_kappa(annotations, weights).value()


def prepare_randolph_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """`randolph_kappa`, prepared to leave out items."""
    return beyond_chance(annotations, weights, "Randolph's kappa", _chance)


def _chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
    return np.full(len(share), agree.mean())
