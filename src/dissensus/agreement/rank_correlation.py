"""Spearman's and Kendall's correlation of two annotators' ratings, for every pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.agreement.measure import Estimate
from dissensus.agreement.pairs import PairMeasure, Pairs, each_annotator
from dissensus.agreement.weights import numbers
from dissensus.annotations import Annotations


def spearman_matrix(annotations: Annotations) -> np.ndarray:
    """Spearman's rho of every pair of annotators on the items both rated, (n_annotators,) * 2.

    How far apart ratings are does not count, only their order. The diagonal is 1; nan where
    undefined: fewer than two common items, or one of the two always gave the same rating of them.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 6)]
        >>> spearman_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.5], [0.5, 1.0]]

    Reference: Spearman (1904), doi:10.2307/1412159.
    """
    return _rank_correlation(annotations, kendall=False).matrix()


def kendall_matrix(annotations: Annotations) -> np.ndarray:
    """Kendall's tau-b of every pair of annotators, as `spearman_matrix`.

    Pairs of items that both order alike, less those they order differently; ties are corrected.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 6)]
        >>> kendall_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.3333], [0.3333, 1.0]]

    Reference: Kendall (1945), doi:10.1093/biomet/33.3.239.
    """
    return _rank_correlation(annotations, kendall=True).matrix()


def mean_spearman(annotations: Annotations) -> float:
    """Spearman's rho, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_mean_spearman(annotations).value()


def mean_kendall(annotations: Annotations) -> float:
    """Kendall's tau-b, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_mean_kendall(annotations).value()


def prepare_mean_spearman(annotations: Annotations) -> Estimate:
    """`mean_spearman`, prepared to leave out items."""
    return _rank_correlation(annotations, kendall=False)


def prepare_mean_kendall(annotations: Annotations) -> Estimate:
    """`mean_kendall`, prepared to leave out items."""
    return _rank_correlation(annotations, kendall=True)


def _rank_correlation(annotations: Annotations, kendall: bool) -> PairMeasure:
    from dissensus.agreement import rank_kernels

    number = numbers(annotations.scale, annotations.answer, "a rank correlation")
    pairs = Pairs.of(annotations, "a rank correlation")
    settings = (*pairs.rows, number[pairs.order].astype(float), kendall)
    kernel: Any = rank_kernels.rank_by_rows

    def by_rows(step: int, matrix: np.ndarray, sums: np.ndarray, without: np.ndarray) -> None:
        each_annotator(
            step, lambda first: kernel(first, step, *settings, matrix, sums, without[first])
        )

    return PairMeasure(pairs, by_rows)
