"""Cronbach's alpha: how consistent the sum of all annotators' ratings is."""

from __future__ import annotations

from dissensus.agreement.icc import icc, prepare_icc
from dissensus.agreement.measure import Estimate
from dissensus.annotations import Annotations


def cronbach_alpha(annotations: Annotations) -> float:
    """Internal consistency of the annotators' ratings, each annotator taken as a test item.

    It equals the form "icc3k" of `icc`, and is undefined (nan) where that is: where not every
    annotator rated every item once, or all items have the same mean.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 6),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> round(cronbach_alpha(Annotations.from_rows(rows, Interval(0, 10))), 4)
        0.9796

    Reference: Cronbach (1951), doi:10.1007/BF02310555.
    """
    return icc(annotations, "icc3k")


def prepare_cronbach_alpha(annotations: Annotations) -> Estimate:
    """`cronbach_alpha`, prepared to leave out items."""
    return prepare_icc(annotations, "icc3k")
