"""Kappa of a question with several answers at once: each value is a question of its own."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import Estimate, whole
from dissensus.agreement.pairs import PairMeasure, Pairs
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import MultiLabel

BINARY = 1.0 - np.eye(2)


def kappa_per_value(annotations: Annotations) -> dict[str, float]:
    """Cohen's kappa of "was this value chosen?", mean over pairs of annotators, by value.

    nan for a value where no pair has a kappa: one that everybody chose, or nobody.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> found = kappa_per_value(Annotations.from_rows(rows, scale))
        >>> {value: round(kappa, 4) for value, kappa in found.items()}
        {'joy': 1.0, 'fear': 0.4}
    """
    every = _each_value(annotations)
    means = [float(one.mean(np.ones((1, annotations.n_items)))[0]) for one in every]
    return dict(zip(_scale(annotations).values, means, strict=True))


def mean_kappa_per_value(annotations: Annotations) -> float:
    """The mean of `kappa_per_value` over the values that have one.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> round(mean_kappa_per_value(Annotations.from_rows(rows, scale)), 4)
        0.7

    Reference: SeedBERT's agreement on a multiple-selection question: each emotion a binary
    question, kappa averaged over emotions.
    """
    return whole(prepare_mean_kappa_per_value, annotations)


def kappa_of_any(annotations: Annotations) -> float:
    """Cohen's kappa of "was anything chosen at all?", mean over pairs of annotators.

    nan where no pair has a kappa, as where nobody ever left an answer empty.
    """
    return whole(prepare_kappa_of_any, annotations)


def prepare_mean_kappa_per_value(annotations: Annotations) -> Estimate:
    """`mean_kappa_per_value` for weighted items."""
    every = _each_value(annotations)

    def estimate(weight: np.ndarray) -> np.ndarray:
        found = np.stack([one.mean(weight) for one in every])  # (n_values, n_draws)
        defined = ~np.isnan(found)
        total = np.where(defined, found, 0.0).sum(axis=0)
        return np.where(defined.any(axis=0), total / np.maximum(defined.sum(axis=0), 1), np.nan)

    return estimate


def prepare_kappa_of_any(annotations: Annotations) -> Estimate:
    """`kappa_of_any` for weighted items."""
    _scale(annotations)
    pairs = Pairs.of(annotations, "kappa")
    return pairs.kappas((annotations.answer != 0).astype(np.uint8), BINARY).mean


def _each_value(annotations: Annotations) -> list[PairMeasure]:
    scale = _scale(annotations)
    pairs = Pairs.of(annotations, "kappa per value")
    return [pairs.kappas((annotations.answer >> v) & 1, BINARY) for v in range(len(scale))]


def _scale(annotations: Annotations) -> MultiLabel:
    if not isinstance(annotations.scale, MultiLabel):
        raise DataError(f"kappa per value needs multi-label answers, not {annotations.scale.kind}")
    return annotations.scale
