"""Per item: how much its answers differ. An annotator who answered it twice is half for each."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import ratio
from dissensus.agreement.percent import groups
from dissensus.agreement.weights import numbers
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel


def item_entropy(annotations: Annotations) -> np.ndarray:
    """The entropy of each item's answers in nats, (n_items,).

    0 is full agreement, ln(n_values) an even spread. Multi-label: of chosen or not, mean over
    the values. nan without answers; ratings have a variance instead.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> item_entropy(Annotations.from_rows(rows)).round(4).tolist()
        [0.6931, 0.0]
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("an entropy is over values; ratings have a variance")
    share = annotations.distribution()
    if isinstance(annotations.scale, MultiLabel):
        return (_surprise(share) + _surprise(1.0 - share)).mean(axis=1)
    return _surprise(share).sum(axis=1)


def item_variance(annotations: Annotations) -> np.ndarray:
    """The variance of each item's ratings or levels (at their positions), (n_items,).

    Divided by the number of annotators. nan without answers.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5)]
        >>> item_variance(Annotations.from_rows(rows, Interval(0, 10))).tolist()
        [1.0, 0.0]
    """
    number = numbers(annotations.scale, annotations.answer, "a variance")
    item, votes, n = annotations.item, annotations.votes, annotations.voters().astype(float)
    mean = np.bincount(item, votes * number, minlength=len(n)) / np.maximum(n, 1)
    return ratio(np.bincount(item, votes * (number - mean[item]) ** 2, minlength=len(n)), n)


def majority_share(annotations: Annotations) -> np.ndarray:
    """The share of an item's answers that are its most frequent one, (n_items,).

    Multi-label: of whole sets. nan without answers; ratings are hardly ever equal and refused.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "cleo", "yes")]
        >>> majority_share(Annotations.from_rows(rows)).round(4).tolist()
        [0.6667]
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("a majority is among values; ratings have a variance")
    item, _, times = groups(annotations)
    most = np.zeros(annotations.n_items)
    np.maximum.at(most, item, times)
    return ratio(most, annotations.voters().astype(float))


def _surprise(share: np.ndarray) -> np.ndarray:
    """-p ln p; 0 where p is 0, nan where it is nan."""
    return -share * np.log(np.where(share > 0, share, 1.0))
