"""Mean difference: how far apart two people's ratings of one item are."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval


def mean_difference(annotations: Annotations) -> float:
    """The mean absolute difference between two ratings of the same item, in own units.

    0 is perfect agreement; what chance gives is not taken off. Every pair of ratings counts
    once. nan where no item has two ratings. Ratings only.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 5), ("t1", "cleo", 5)]
        >>> mean_difference(Annotations.from_rows(rows, Interval(0, 10)))
        2.0
    """
    if not isinstance(annotations.scale, Interval):
        raise DataError(f"a mean difference needs ratings, not {annotations.scale.kind} answers")
    per_item = annotations.per_item().astype(float)
    pairs = (per_item * (per_item - 1)).sum() / 2
    if not pairs:
        return float("nan")
    order = np.lexsort((annotations.answer, annotations.item))
    item, rating = annotations.item[order], annotations.answer[order]
    weight = annotations.weight[order]
    first = (np.cumsum(per_item) - per_item)[item]  # answers about all items before this one
    below = np.cumsum(weight) - weight - first  # ratings of the item that are lower or stand before
    above = per_item[item] - below - weight
    return float((weight * (below - above)) @ rating / pairs)
