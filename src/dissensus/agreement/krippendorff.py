"""Krippendorff's alpha: agreement beyond chance of any number of annotators."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal


def krippendorff_alpha(annotations: Annotations, distance: np.ndarray | None = None) -> float:
    """Chance-corrected agreement of any number of annotators, missing answers allowed.

    1 is perfect agreement, 0 what chance gives, below 0 systematic disagreement; nan where
    undefined: no item has two answers, or all paired answers are the same. Who answered does not
    matter, so anonymous answers and counts work; repeats are answers like any others.

    How far apart two answers are depends on the scale. Nominal: 0 or 1, or the scale's own
    `distance`. Ordinal: Krippendorff's ordinal metric, the squared number of answers between
    two levels. Interval: the squared difference. Multi-label answers need a distance between
    sets and are refused.

    Args:
        annotations: items with fewer than two answers carry no information.
        distance: how far apart two values are instead, (n_values, n_values); taken as it is, so
            square it first where the squared distance is meant.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(krippendorff_alpha(Annotations.from_rows(rows)), 4)
        0.4444

    Reference: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    scale = annotations.scale
    if isinstance(scale, MultiLabel):
        raise DataError(
            "Krippendorff's alpha compares single values, and multi-label answers are sets; "
            "percent agreement compares sets"
        )
    if isinstance(scale, Interval):
        if distance is not None:
            raise DataError("a matrix of distances is between values; ratings have differences")
        return _alpha_of_numbers(annotations, annotations.answer)
    counts = annotations.counts()  # (n_items, n_values)
    counts = counts[counts.sum(axis=1) >= 2]
    if distance is None and isinstance(scale, Ordinal):
        total = counts.sum(axis=0)  # (n_values,)
        ranks = np.cumsum(total) - total / 2  # their differences are the answers in between
        return _alpha_of_numbers(annotations, ranks[annotations.answer])
    if distance is None and isinstance(scale, Nominal):
        distance = scale.distance
    n_values = scale.n_columns
    distance = 1.0 - np.eye(n_values) if distance is None else np.asarray(distance, dtype=float)
    if distance.shape != (n_values, n_values) or np.diag(distance).any():
        raise DataError(
            f"the distance between {n_values} values is {n_values} x {n_values} and 0 from a "
            f"value to itself; found {distance.shape}"
        )
    return _alpha_of_values(counts, distance)


def _alpha_of_values(counts: np.ndarray, distance: np.ndarray) -> float:
    """Alpha from the counts (n_items, n_values) of items with two answers or more."""
    total = counts.sum(axis=0)  # (n_values,)
    per_item = counts.sum(axis=1)  # (n_items,)
    observed = (((counts @ distance) * counts).sum(axis=1) / (per_item - 1)).sum()
    expected = total @ distance @ total / (total.sum() - 1) if total.any() else 0.0
    return float(1.0 - observed / expected) if expected > 0 else float("nan")


def _alpha_of_numbers(annotations: Annotations, number: np.ndarray) -> float:
    """Alpha of squared differences between `number` (n_rows,), by moments, without pairs."""
    n = annotations.per_item().astype(float)  # (n_items,)
    paired = n[annotations.item] >= 2
    item, weight, number = annotations.item[paired], annotations.weight[paired], number[paired]
    if not number.size or number.min() == number.max():
        return float("nan")
    number = number - np.average(number, weights=weight)  # sums of squares keep their digits
    sums = np.bincount(item, weight * number, minlength=len(n))
    means = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    spread = np.bincount(item, weight * (number - means[item]) ** 2, minlength=len(n))
    several = n >= 2
    observed = (n[several] * spread[several] / (n[several] - 1)).sum()
    total = weight.sum()
    expected = total * (weight @ number**2) / (total - 1)
    return float(1.0 - observed / expected)
