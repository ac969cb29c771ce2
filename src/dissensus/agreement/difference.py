"""Mean difference: how far apart two ratings of one item are."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.measure import Estimate, OfSums, ratio
from dissensus.agreement.row_pairs import own_disagreement
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval


def mean_difference(annotations: Annotations) -> float:
    """How far apart two ratings of an item are on average, mean over items, in own units.

    0 is perfect agreement; what chance gives is not taken off. Every item with two annotators
    or more counts the same. nan where there is none. Ratings only.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 5), ("t1", "cleo", 5)]
        >>> mean_difference(Annotations.from_rows(rows, Interval(0, 10)))
        2.0
    """
    return prepare_mean_difference(annotations).value()


def prepare_mean_difference(annotations: Annotations) -> Estimate:
    """`mean_difference`, prepared to leave out items."""
    if not isinstance(annotations.scale, Interval):
        raise DataError(f"a mean difference needs ratings, not {annotations.scale.kind} answers")
    n = annotations.voters().astype(float)  # (n_items,)
    order = np.lexsort((annotations.answer, annotations.item))
    item, rating = annotations.item[order], annotations.answer[order]
    votes = annotations.votes[order]
    first = (np.cumsum(n) - n)[item]  # votes on all items before this one
    below = np.cumsum(votes) - votes - first  # of the item: lower, or equal and before
    above = n[item] - below - votes
    whole = np.bincount(item, votes * (below - above) * rating, minlength=len(n))
    answer = annotations.answer
    apart = whole - own_disagreement(annotations, lambda a, b: np.abs(answer[a] - answer[b])) / 2
    several = n >= 2
    mean = np.where(several, apart / np.where(several, n * (n - 1) / 2, 1.0), 0.0)
    return OfSums((mean, several.astype(float)), ratio)
