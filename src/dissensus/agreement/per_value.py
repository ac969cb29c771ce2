"""Agreement on each value: how often annotators agree that it applies, or that it does not."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import ratio
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel


def positive_agreement(annotations: Annotations) -> np.ndarray:
    """If one annotator gives a value, how often another one gives it too, (n_values,).

    Also known as specific agreement. Pairs of answers about an item count, those of all items
    together. nan for a value that is never given to an item with two answers.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> positive_agreement(Annotations.from_rows(rows)).round(4).tolist()
        [0.6667, 0.6667]

    Reference: Cicchetti and Feinstein (1990), doi:10.1016/0895-4356(90)90159-M; for several
    annotators, Uebersax (1982), doi:10.1177/001316448204200116.
    """
    chosen, n = _counts(annotations)
    return ratio((chosen * (chosen - 1)).sum(axis=0), (chosen * (n - 1)).sum(axis=0))


def negative_agreement(annotations: Annotations) -> np.ndarray:
    """If one annotator does not give a value, how often another one does not either.

    As `positive_agreement`; nan for a value that everybody gives.
    """
    chosen, n = _counts(annotations)
    rest = n - chosen
    return ratio((rest * (rest - 1)).sum(axis=0), (rest * (n - 1)).sum(axis=0))


def alpha_of_values(annotations: Annotations) -> np.ndarray:
    """Krippendorff's alpha of "was this value given?", (n_values,); nan where always or never.

    Example:
        >>> rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"),
        ...         ("t2", "bob", "c"), ("t3", "ann", "b"), ("t3", "bob", "b")]
        >>> alpha_of_values(Annotations.from_rows(rows)).round(4).tolist()
        [1.0, 0.4444, 0.0]
    """
    chosen, n = _counts(annotations)
    chosen, n = chosen[n[:, 0] >= 2], n[n[:, 0] >= 2]
    apart = 2 * (chosen * (n - chosen) / (n - 1)).sum(axis=0)
    given, total = chosen.sum(axis=0), n.sum()
    return 1.0 - ratio(apart * (total - 1), 2 * given * (total - given))


def answers_per_value(annotations: Annotations) -> np.ndarray:
    """How many answers give each value, (n_values,)."""
    return np.asarray(_counts(annotations)[0].sum(axis=0))


def _counts(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """How many answers give each value (n_items, n_values), and how many there are (n_items, 1)."""
    if isinstance(annotations.scale, Interval):
        raise DataError("agreement by value needs nominal, ordinal or multi-label answers")
    several = isinstance(annotations.scale, MultiLabel)
    chosen = annotations.marginals() if several else annotations.counts()
    return chosen, annotations.per_item().astype(float)[:, None]
