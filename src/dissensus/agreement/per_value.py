"""Agreement on each value: how often annotators agree that it applies, or that it does not."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import ratio
from dissensus.agreement.row_pairs import own_disagreement
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, has_value


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
    chosen, n, undecided = _counts(annotations)
    both = chosen * (chosen - 1) + undecided
    return ratio(both.sum(axis=0), (chosen * (n - 1)).sum(axis=0))


def negative_agreement(annotations: Annotations) -> np.ndarray:
    """If one annotator does not give a value, how often another one does not either.

    As `positive_agreement`; nan for a value that everybody gives.
    """
    chosen, n, undecided = _counts(annotations)
    rest = n - chosen
    both = rest * (rest - 1) + undecided
    return ratio(both.sum(axis=0), (rest * (n - 1)).sum(axis=0))


def alpha_of_values(annotations: Annotations) -> np.ndarray:
    """Krippendorff's alpha of "was this value given?", (n_values,); nan where always or never.

    Example:
        >>> rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"),
        ...         ("t2", "bob", "c"), ("t3", "ann", "b"), ("t3", "bob", "b")]
        >>> alpha_of_values(Annotations.from_rows(rows)).round(4).tolist()
        [1.0, 0.4444, 0.0]
    """
    chosen, n, undecided = _counts(annotations)
    apart = ((chosen * (n - chosen) - undecided) / np.maximum(n - 1, 1)).sum(axis=0)
    given, total = chosen.sum(axis=0), n.sum()
    expected = given * (total - given) - undecided.sum(axis=0)
    return 1.0 - ratio(apart * (total - 1), np.where(expected > 1e-13 * total**2, expected, 0.0))


def answers_per_value(annotations: Annotations) -> np.ndarray:
    """How many answers give each value, (n_values,)."""
    scale, weight = annotations.scale, annotations.weight
    if not isinstance(scale, MultiLabel):
        return np.bincount(annotations.answer, weight, minlength=scale.n_columns)
    return np.array([weight @ has_value(annotations.answer, v) for v in range(len(scale))])


def _counts(annotations: Annotations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many annotators give each value (n_items, n_values), how many there are (n_items, 1), and
    how much those who answered twice are undecided (n_items, n_values); of items with two or more.
    """
    scale, answer = annotations.scale, annotations.answer
    if isinstance(scale, Interval):
        raise DataError("agreement by value needs nominal, ordinal or multi-label answers")
    several = isinstance(scale, MultiLabel)
    chosen, n = annotations.marginals() if several else annotations.counts(), annotations.voters()
    undecided = np.zeros((1, chosen.shape[1]))
    if annotations.repeated is not None:

        def differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            if several:
                return has_value(answer[a] ^ answer[b], value)
            return (answer[a] == value) != (answer[b] == value)

        undecided = np.empty_like(chosen)
        for value in range(chosen.shape[1]):
            undecided[:, value] = own_disagreement(annotations, differ) / 2
        undecided = undecided[n >= 2]
    return chosen[n >= 2], n[n >= 2].astype(float)[:, None], undecided
