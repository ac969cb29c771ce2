"""Percent agreement: how often two people who answered about one item say the same."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.scales import Interval


def percent_agreement(annotations: Annotations) -> float:
    """The share of pairs of answers about the same item that are equal.

    1 is perfect agreement; what chance gives is not taken off. Every pair counts once, so an
    item with many answers counts more than one with two. Multi-label answers are equal if the
    whole sets are. nan where undefined: no item has two answers, or the answers are ratings,
    which are hardly ever exactly equal (`mean_difference` is for them).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> round(percent_agreement(Annotations.from_rows(rows)), 4)
        0.3333
    """
    if isinstance(annotations.scale, Interval):
        return float("nan")
    per_item = annotations.per_item().astype(float)
    pairs = (per_item * (per_item - 1)).sum()
    alike = _group_sizes(annotations)
    return float((alike * (alike - 1)).sum() / pairs) if pairs else float("nan")


def _group_sizes(annotations: Annotations) -> np.ndarray:
    """How many people gave the same answer to the same item, for each answer that was given."""
    values, answer = np.unique(annotations.answer, return_inverse=True)
    key = annotations.item.astype(np.int64) * max(len(values), 1) + answer.reshape(-1)
    order = np.argsort(key)
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    return np.add.reduceat(annotations.weight[order], starts) if len(starts) else np.zeros(0)
