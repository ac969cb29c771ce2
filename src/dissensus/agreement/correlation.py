"""Correlation and concordance of two annotators' ratings, for every pair."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import Estimate
from dissensus.agreement.pairs import PairMeasure, Pairs
from dissensus.agreement.weights import numbers
from dissensus.annotations import Annotations


def correlation_matrix(annotations: Annotations) -> np.ndarray:
    """Pearson's r of every pair of annotators on the items both rated, (n_annotators,) * 2.

    Levels are read at their positions. Leniency does not count: an annotator who rates everything
    two points higher has r = 1. The diagonal is 1; nan where undefined: fewer than two common
    items, or one of the two always gave the same rating of them.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> correlation_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return _likeness(annotations, "a correlation", concordance=False).matrix()


def concordance_matrix(annotations: Annotations) -> np.ndarray:
    """Lin's concordance of every pair of annotators on the items both rated.

    Unlike a correlation it falls when an annotator rates higher, or uses more of the scale. The
    diagonal is 1; nan where undefined: fewer than two common items, or both constant.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> concordance_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.5909], [0.5909, 1.0]]

    Reference: Lin (1989), doi:10.2307/2532051; variances divided by n, as there.
    """
    return _likeness(annotations, "a concordance", concordance=True).matrix()


def mean_correlation(annotations: Annotations) -> float:
    """Pearson's r, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_mean_correlation(annotations).value()


def mean_concordance(annotations: Annotations) -> float:
    """Lin's concordance, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_mean_concordance(annotations).value()


def prepare_mean_correlation(annotations: Annotations) -> Estimate:
    """`mean_correlation`, prepared to leave out items."""
    return _likeness(annotations, "a correlation", concordance=False)


def prepare_mean_concordance(annotations: Annotations) -> Estimate:
    """`mean_concordance`, prepared to leave out items."""
    return _likeness(annotations, "a concordance", concordance=True)


def _likeness(annotations: Annotations, what: str, concordance: bool) -> PairMeasure:
    number = numbers(annotations.scale, annotations.answer, what)
    return Pairs.of(annotations, what).likeness(number, concordance)
