"""Gwet's AC1 and AC2: agreement beyond chance that stays stable when one answer is rare."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.beyond_chance import beyond_chance
from dissensus.agreement.measure import Estimate
from dissensus.agreement.weights import Weights
from dissensus.annotations import Annotations


def gwet_ac(annotations: Annotations, weights: Weights = None) -> float:
    """Agreement beyond chance of any number of annotators; AC1, or AC2 with weights.

    1 is perfect agreement, 0 what chance gives if only answers to hard items are guesses. Prefer
    it to kappa and alpha where nearly all answers are the same and these fall to 0 although
    all annotators agree. Values without answers count, so declare the scale. Annotators need not
    be known. nan where undefined: no item has two answers, or the scale has one value only.

    Args:
        weights: None for nominal answers (AC1); a name such as "linear" for levels, or
            distances (AC2).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(gwet_ac(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Gwet (2008), doi:10.1348/000711006X126600; AC2: Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition.
    """
    return prepare_gwet_ac(annotations, weights).value()


def prepare_gwet_ac(annotations: Annotations, weights: Weights = None) -> Estimate:
    """`gwet_ac`, prepared to leave out items."""
    return beyond_chance(annotations, weights, "Gwet's AC", _chance)


def _chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
    n = len(agree)
    if n < 2:
        return np.ones(len(share))  # nothing is left beyond chance
    return agree.sum() / (n * (n - 1)) * (share * (1.0 - share)).sum(axis=1)
