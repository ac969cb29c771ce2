"""Kappa of multi-label answers: of each value on its own, and of whole sets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dissensus.agreement.kappa import kappa_matrix
from dissensus.agreement.masi import masi_distance
from dissensus.agreement.measure import Estimate, ratio
from dissensus.agreement.pairs import PairMeasure, Pairs
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import MultiLabel, Nominal, has_value

BINARY = 1.0 - np.eye(2)
MOST_SETS = 5_000  # different ones, of which each two are compared


def kappa_per_value(annotations: Annotations) -> dict[str, float]:
    """Cohen's kappa of "was this value chosen?", mean over pairs of annotators, by value.

    nan for a value where no pair has a kappa: one that is always chosen, or never.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> kappas = kappa_per_value(Annotations.from_rows(rows, scale))
        >>> {value: round(kappa, 4) for value, kappa in kappas.items()}
        {'joy': 1.0, 'fear': 0.4}
    """
    means = [kappas.value() for kappas in _each_value(annotations)]
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
    return prepare_mean_kappa_per_value(annotations).value()


def kappa_of_any(annotations: Annotations) -> float:
    """Cohen's kappa of "was anything chosen at all?", mean over pairs of annotators.

    nan where no pair has a kappa, as where no answer is empty.
    """
    return prepare_kappa_of_any(annotations).value()


def masi_kappa_matrix(annotations: Annotations) -> np.ndarray:
    """Cohen's kappa of every pair of annotators, weighted by how far apart two sets are (MASI).

    (n_annotators, n_annotators). 1 is perfect agreement, 0 what the shares of their sets would give
    by chance; sets that overlap disagree in part. nan where undefined, as of `kappa_matrix`.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> masi_kappa_matrix(Annotations.from_rows(rows, scale)).round(4).tolist()
        [[1.0, 0.6842], [0.6842, 1.0]]

    Reference: Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and
    pragmatic annotation; Cohen (1968), doi:10.1037/h0026256.
    """
    _scale(annotations)
    empty = np.zeros(1, dtype=annotations.answer.dtype)  # a scale needs a value
    sets = np.unique(np.concatenate([annotations.answer, empty]))
    if len(sets) > MOST_SETS:
        raise DataError(
            f"kappa of sets compares all pairs of sets, {len(sets):,} different ones are more than "
            f"{MOST_SETS:,}; select fewer annotators or items"
        )
    code = np.searchsorted(sets, annotations.answer)
    named = replace(annotations, scale=Nominal(tuple(map(str, sets))), answer=code)
    return kappa_matrix(named, masi_distance(sets[:, None], sets[None]))


def prepare_mean_kappa_per_value(annotations: Annotations) -> Estimate:
    """`mean_kappa_per_value`, prepared to leave out items."""
    return _MeanOverValues(_each_value(annotations))


def prepare_kappa_of_any(annotations: Annotations) -> Estimate:
    """`kappa_of_any`, prepared to leave out items."""
    _scale(annotations)
    pairs = Pairs.of(annotations, "kappa")
    return pairs.kappas((annotations.answer != 0).astype(np.uint8), BINARY)


@dataclass(frozen=True, eq=False)
class _MeanOverValues:
    """The mean of the kappas that are defined (an `Estimate`)."""

    each: list[PairMeasure]  # one for each value

    def value(self) -> float:
        return float(_mean(np.array([[kappas.value()] for kappas in self.each]))[0])

    def without_each(self) -> np.ndarray:
        return _mean(np.stack([kappas.without_each() for kappas in self.each]))


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean over rows of what is defined, (n_columns,); nan where nothing is."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))


def _each_value(annotations: Annotations) -> list[PairMeasure]:
    scale = _scale(annotations)
    pairs = Pairs.of(annotations, "kappa per value")
    return [pairs.kappas(has_value(annotations.answer, v), BINARY) for v in range(len(scale))]


def _scale(annotations: Annotations) -> MultiLabel:
    if not isinstance(annotations.scale, MultiLabel):
        raise DataError(f"kappa per value needs multi-label answers, not {annotations.scale.kind}")
    return annotations.scale
