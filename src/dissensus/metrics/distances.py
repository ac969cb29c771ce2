"""Soft metrics: how far is the predicted distribution from that of the people's answers?

Of sets (multi-label) each value is a distribution of its own, chosen or not; the mean over items
is then also one over values. Ratings are compared on the bins of the prediction's grid, so that
with few of them per item even a good density is far from the people's; `wasserstein` is milder.
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics import per_item
from dissensus.metrics.matching import distributions, mean, require, shares
from dissensus.metrics.soft import CHOICES, EVERY_SCALE
from dissensus.prediction import Prediction


def tvd(prediction: Prediction, annotations: Annotations) -> float:
    """Total variation: the mean over items of half of sum |p - q|, 0 to 1.

    The share of people who would have to answer otherwise for the prediction to be right. nan
    where no predicted item has answers.

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> leaning = Prediction(people.scale, people.items, np.array([[0.8, 0.2]]), np.array([0]))
        >>> round(tvd(leaning, people), 4), round(manhattan(leaning, people), 4)
        (0.3, 0.6)
    """
    require(prediction, "TVD", *EVERY_SCALE)
    return _manhattan(prediction, annotations) / 2


def manhattan(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of sum |p - q|, 0 to 2: twice `tvd`."""
    require(prediction, "Manhattan", *EVERY_SCALE)
    return _manhattan(prediction, annotations)


def _manhattan(prediction: Prediction, annotations: Annotations) -> float:
    return mean(per_item.manhattan(*shares(prediction, annotations)))


def soft_accuracy(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of sum min(p, q), which is one minus `tvd`.

    Reference: Kurniawan et al. (2025), arXiv:2502.01891.
    """
    require(prediction, "soft accuracy", *CHOICES)
    return _intersection(prediction, annotations)


def intersection(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of sum min(p, q): `soft_accuracy` by the name Geng gave it.

    Reference: Geng (2016), doi:10.1109/TKDE.2016.2545658.
    """
    require(prediction, "intersection", *CHOICES)
    return _intersection(prediction, annotations)


def _intersection(prediction: Prediction, annotations: Annotations) -> float:
    return mean(per_item.common(*shares(prediction, annotations)))


def soft_micro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """2 sum min(p, q) / sum (p + q) over all items and values.

    The same as `soft_accuracy` where one value is chosen. Of sets p and q are the shares that
    chose each value, so that what neither people nor prediction choose does not count; nan where
    nobody chose anything, or no predicted item has answers.

    Reference: Kurniawan et al. (2025), arXiv:2502.01891.
    """
    require(prediction, "soft micro-F1", *CHOICES)
    people, predicted = distributions(prediction, annotations)
    total = float((people + predicted).sum())
    return float(2 * np.minimum(people, predicted).sum() / total) if total else float("nan")


def wasserstein(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of the mass times distance that turns the prediction into the people.

    Ordinal: levels are one step apart, whatever they are called, so the unit is a level.
    Interval: the unit is that of [-1, 1], the scale's ends; people's ratings are put on the
    prediction's grid, so that two ratings in one bin are not told apart. nan where no predicted
    item has answers.

    Example:
        >>> from dissensus import Ordinal
        >>> people = Annotations.from_rows([("t1", "ann", "3")], Ordinal(("1", "2", "3")))
        >>> low = Prediction(people.scale, people.items, np.array([[0.5, 0.5, 0]]), np.array([0]))
        >>> wasserstein(low, people)
        1.5
    """
    require(prediction, "Wasserstein", "ordinal", "interval")
    return mean(per_item.moved(*distributions(prediction, annotations), prediction.scale))


def chebyshev(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of max |p - q|, the value that is missed most; 0 to 1.

    Reference: Geng (2016), doi:10.1109/TKDE.2016.2545658; likewise the next three.
    """
    require(prediction, "Chebyshev", *CHOICES)
    people, predicted = shares(prediction, annotations)
    return mean(np.abs(people - predicted).max(axis=-1, initial=0))


def clark(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of the root of sum ((p - q) / (p + q))^2; where both are 0 adds 0.

    0 to the root of the number of values: each value that nobody gave but that has some mass
    adds a whole 1, however little that mass is.
    """
    require(prediction, "Clark", *CHOICES)
    return mean(np.sqrt((_relative(prediction, annotations) ** 2).sum(axis=-1)))


def canberra(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of sum |p - q| / (p + q), where both are 0 adds 0; as `clark`, it
    counts the values that nobody gave."""
    require(prediction, "Canberra", *CHOICES)
    return mean(_relative(prediction, annotations).sum(axis=-1))


def _relative(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    people, predicted = shares(prediction, annotations)
    total = people + predicted
    return np.abs(people - predicted) / np.where(total > 0, total, 1)


def cosine(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of the cosine of the angle between p and q; 1 where they are equal."""
    require(prediction, "cosine", *CHOICES)
    people, predicted = shares(prediction, annotations)
    lengths = np.sqrt((people**2).sum(axis=-1) * (predicted**2).sum(axis=-1))
    return mean((people * predicted).sum(axis=-1) / lengths)
