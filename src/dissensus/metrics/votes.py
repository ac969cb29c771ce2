"""The votes of an ensemble's few members as a distribution that a cross-entropy can judge."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.matching import common_items, two_sided
from dissensus.metrics.soft import cross_entropy
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel, has_value

ADDED = 0.5


def smoothed_votes(counts: np.ndarray) -> np.ndarray:
    """Shares of votes with one half added to every value, over the last axis.

    Even if all members agree, other answers are possible: without the half, a value that no member
    chose would cost 27.6 nats for each annotator who gave it.

    Example:
        >>> smoothed_votes(np.array([[5, 0], [3, 2]])).round(3).tolist()
        [[0.917, 0.083], [0.583, 0.417]]

    Reference: Krichevsky & Trofimov (1981), doi:10.1109/TIT.1981.1056331.
    """
    added = np.asarray(counts, dtype=float) + ADDED
    return added / added.sum(axis=-1, keepdims=True)


def member_votes(prediction: Prediction) -> np.ndarray:
    """How many members give which answer, (n_items, n_columns); of sets how many do not choose
    and choose each value, (n_items, n_values, 2)."""
    members = prediction.members
    if members is None:
        raise DataError("the votes of members need an ensemble; these predictions have no members")
    n_members, n_items = members.shape
    if isinstance(prediction.scale, MultiLabel):
        bits = range(len(prediction.scale))
        chosen = np.stack([has_value(members, bit).sum(axis=0) for bit in bits], axis=1)
        return np.stack([n_members - chosen, chosen], axis=-1)
    width = prediction.scale.n_columns
    cell = np.arange(n_items) * width + members.astype(np.int64)
    return np.bincount(cell.ravel(), minlength=n_items * width).reshape(n_items, width)


def members_cross_entropy(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The cross-entropy of each item's smoothed votes of members, (n_common, ...), in nats."""
    mine, theirs = common_items(prediction.items, annotations)
    observed = annotations.to(prediction.scale).distribution()[theirs]
    if isinstance(prediction.scale, MultiLabel):
        observed = two_sided(observed)
    return cross_entropy(observed, smoothed_votes(member_votes(prediction)[mine]))
