"""Cohen's kappa: agreement of two annotators beyond what their habits would give by chance."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import Estimate
from dissensus.agreement.pairs import DENSE, PairMeasure, Pairs
from dissensus.agreement.weights import Weights, disagreement
from dissensus.annotations import Annotations
from dissensus.names import Names


def cohen_kappa(
    annotations: Annotations, first: str, second: str, weights: Weights = None
) -> float:
    """Agreement of two annotators on the items both answered, beyond chance.

    1 is perfect agreement, 0 what their own shares of answers would give by chance. nan where
    undefined: they have no item in common, or both always gave one and the same answer.

    Args:
        first, second: the names of two annotators.
        weights: None for nominal answers; a name such as "linear" for levels of an ordinal
            scale (`disagreement` has all names); or distances between values, (n_values, n_values).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(cohen_kappa(Annotations.from_rows(rows), "ann", "bob"), 4)
        0.4

    Reference: Cohen (1960), doi:10.1177/001316446002000104; weighted: Cohen (1968),
    doi:10.1037/h0026256.
    """
    return float(kappa_matrix(two(annotations, first, second), weights)[0, 1])


def kappa_matrix(annotations: Annotations, weights: Weights = None) -> np.ndarray:
    """Cohen's kappa of every pair of annotators, (n_annotators, n_annotators).

    The diagonal is 1. nan where undefined: no common items, or both always gave one and the same
    answer. Pairs with few common items are noisy; `common_items` says how many they have. If one
    answered an item twice, both answers are compared with the other's.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> kappa_matrix(Annotations.from_rows(rows)).round(4).tolist()
        [[1.0, 0.4], [0.4, 1.0]]
    """
    n_annotators, n_values = annotations.n_annotators, annotations.scale.n_columns
    width = n_annotators * n_values
    if annotations.repeats or width * max(annotations.n_items, width) > DENSE:
        return pair_kappas(annotations, weights, "Cohen's kappa").matrix()
    return _dense(annotations, disagreement(weights, annotations.scale, "Cohen's kappa"))


def _dense(annotations: Annotations, apart: np.ndarray) -> np.ndarray:
    """`kappa_matrix` of a small table, where compiled kernels take longer to load than to run."""
    n_annotators, n_values = annotations.n_annotators, len(apart)
    chosen = np.zeros((annotations.n_items, n_annotators, n_values))
    chosen[annotations.item, annotations.annotator_codes("Cohen's kappa"), annotations.answer] = 1
    flat = chosen.reshape(len(chosen), n_annotators * n_values)
    both = (flat.T @ flat).reshape(n_annotators, n_values, n_annotators, n_values)
    both = both.transpose(
        0, 2, 1, 3
    )  # items that got one value from the first, another from the second
    own, other = both.sum(axis=3), both.sum(axis=2)  # (n_annotators, n_annotators, n_values) each
    observed = (both * apart).sum(axis=(2, 3)) * own.sum(axis=2)
    expected = (own[..., :, None] * apart * other[..., None, :]).sum(axis=(2, 3))
    share = np.full(expected.shape, np.nan)
    np.divide(observed, expected, out=share, where=expected > 0)
    np.fill_diagonal(share, 0.0)
    return 1.0 - share


def mean_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Cohen's kappa, mean over the pairs of annotators that have one (Light's kappa).

    Every pair counts the same. nan where no pair has one.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(mean_kappa(Annotations.from_rows(rows)), 4)
        0.4

    Reference: Light (1971), doi:10.1037/h0031643.
    """
    return prepare_mean_kappa(annotations, weights).value()


def prepare_mean_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """`mean_kappa`, prepared to leave out items."""
    return pair_kappas(annotations, weights, "Cohen's kappa")


def pair_kappas(
    annotations: Annotations, weights: Weights, what: str, pooled: bool = False
) -> PairMeasure:
    """Kappa of each pair; `pooled`: with one share of answers for both, as Scott has it."""
    apart = disagreement(weights, annotations.scale, what)
    return Pairs.of(annotations, what).kappas(annotations.answer, apart, pooled)


def two(annotations: Annotations, first: str, second: str) -> Annotations:
    """Only the answers of these two annotators."""
    codes = annotations.annotators.codes([first, second], "annotator")
    return annotations.select_annotators(codes, Names([first, second]))
