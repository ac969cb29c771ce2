"""Percent agreement: how often two answers to one item are equal."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.beyond_chance import counted
from dissensus.agreement.measure import Estimate, OfSums, Undefined, ratio
from dissensus.agreement.row_pairs import own_disagreement
from dissensus.agreement.weights import unequal
from dissensus.annotations import Annotations
from dissensus.scales import Interval, MultiLabel


def percent_agreement(annotations: Annotations) -> float:
    """The share of pairs of answers about an item that are equal, mean over items.

    1 is perfect agreement; what chance gives is not taken off. Every item with two annotators or
    more counts the same, so that a few with very many answers do not outweigh the rest.
    Multi-label answers are equal if the whole sets are. An annotator is not compared with himself;
    one who answered an item twice counts half for each answer. nan where undefined: no item has two
    annotators, or the answers are ratings, which are hardly ever exactly equal (`mean_difference`
    is for them).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> round(percent_agreement(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Fleiss (1971), doi:10.1037/h0031619, for any number of answers per item.
    """
    return prepare_percent_agreement(annotations).value()


def prepare_percent_agreement(annotations: Annotations) -> Estimate:
    """`percent_agreement`, prepared to leave out items."""
    if isinstance(annotations.scale, Interval):
        return Undefined(annotations.n_items)
    return OfSums(equal_pairs(annotations), ratio)


def equal_pairs(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Each item's share of equal pairs, 0 without pairs; and 1 where there are pairs."""
    if not isinstance(annotations.scale, MultiLabel):
        counts = counted(annotations, unequal(annotations.scale.n_columns))
        return counts.agreeing, counts.several
    n = annotations.voters().astype(float)  # (n_items,)
    item, _, alike = groups(annotations)
    answer = annotations.answer
    own = own_disagreement(annotations, lambda a, b: answer[a] != answer[b])
    unequal_pairs = n**2 - np.bincount(item, alike**2, minlength=len(n)) - own
    several = n >= 2
    agreeing = 1.0 - unequal_pairs / np.where(several, n * (n - 1), 1.0)
    return np.where(several, agreeing, 0.0), several.astype(float)


def groups(annotations: Annotations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each answer that was given to an item: the item, the answer, and how many gave it.

    Items rise, and so do the answers of an item.
    """
    values, answer = np.unique(annotations.answer, return_inverse=True)
    key = annotations.item.astype(np.int64) * max(len(values), 1) + answer.reshape(-1)
    order = np.argsort(key)
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    if not starts.size:
        return starts, annotations.answer[:0], np.zeros(0)
    first = order[starts]
    times = np.add.reduceat(annotations.votes[order], starts)
    return annotations.item[first], annotations.answer[first], times
