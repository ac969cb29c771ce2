"""What the measures without annotators share: agreeing pairs and shares of values, per item."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dissensus.agreement.measure import Estimate, OfSums, ratio
from dissensus.agreement.row_pairs import own_by_values
from dissensus.agreement.weights import Weights, differing, disagreement
from dissensus.annotations import Annotations


class Counted(NamedTuple):
    """Sums of these over items are all that Fleiss, Randolph and Gwet need."""

    agreeing: np.ndarray  # (n_items,) share of pairs of annotators who agree; 0 without pairs
    several: np.ndarray  # (n_items,) 1 for items with two annotators or more
    share: np.ndarray  # (n_items, n_values) of the values among an item's votes
    answered: np.ndarray  # (n_items,) 1 for items with answers


def counted(annotations: Annotations, apart: np.ndarray) -> Counted:
    """Count; `apart` says how much two values disagree, (n_values, n_values), 0 to 1."""
    counts = annotations.counts()  # (n_items, n_values)
    n = annotations.voters()
    several = n >= 2
    pairs = np.where(several, n * (n - 1.0), 1.0)
    disagreeing = differing(counts, apart) - own_by_values(annotations, apart)
    agreeing = np.where(several, 1.0 - disagreeing / pairs, 0.0)
    share = counts / np.maximum(n, 1.0)[:, None]
    return Counted(agreeing, several.astype(float), share, (n > 0).astype(float))


def beyond_chance(
    annotations: Annotations,
    weights: Weights,
    what: str,
    chance: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Estimate:
    """(observed - chance) / (1 - chance) agreement.

    Args:
        chance: from shares of values (n, n_values) and how much two values agree
            (n_values, n_values) to the agreement that chance gives, (n,).
    """
    apart = disagreement(weights, annotations.scale, what)

    def formula(
        agreeing: np.ndarray, several: np.ndarray, share: np.ndarray, answered: np.ndarray
    ) -> np.ndarray:
        observed = ratio(agreeing, several)
        share = ratio(share, answered[:, None])
        by_chance = chance(share, 1.0 - apart)
        left = 1.0 - by_chance
        return ratio(observed - by_chance, np.where(left > 1e-12, left, 0.0))

    return OfSums(counted(annotations, apart), formula)
