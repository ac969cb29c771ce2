"""Soft metrics: is the predicted distribution the one of the people's answers?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.matching import common_items, distributions, mean, require
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel

SMALLEST = 1e-12  # a predicted probability below it counts as this, so that logarithms are finite


def cross_entropy(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of -sum p ln q, p the people's shares and q the predicted ones.

    In nats; 0 only where people are unanimous and the prediction is sure, and never below
    `floor(annotations)`. q below 1e-12 counts as 1e-12. Multi-label: the mean over values of
    the binary cross-entropies of chosen or not. nan where no predicted item has answers.

    Example:
        >>> from dissensus import Names, Nominal
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> even = Prediction(people.scale, people.items, np.array([[0.5, 0.5]]), np.array([0]))
        >>> round(cross_entropy(even, people), 4)
        0.6931
    """
    require(prediction, "cross-entropy", "nominal", "ordinal", "multi-label")
    people, predicted = distributions(prediction, annotations)
    return _cross_entropy(people, predicted, isinstance(prediction.scale, MultiLabel))


def floor(annotations: Annotations, items: Names | None = None) -> float:
    """The cross-entropy of the perfect prediction: the mean entropy of the people's answers.

    Args:
        items: only these items count; left out, all. Those without answers never count.

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> round(floor(people), 4)
        0.6931
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("cross-entropy is not for interval answers, so there is no floor of it")
    counted = common_items(annotations.items if items is None else items, annotations)[1]
    people = annotations.distribution()[counted]
    return _cross_entropy(people, people, isinstance(annotations.scale, MultiLabel))


def _cross_entropy(people: np.ndarray, predicted: np.ndarray, binary: bool) -> float:
    if binary:
        chosen = people * np.log(np.maximum(predicted, SMALLEST))
        left = (1 - people) * np.log(np.maximum(1 - predicted, SMALLEST))
        return 0.0 - mean((chosen + left).mean(axis=1))  # 0.0 and not -0.0
    return 0.0 - mean((people * np.log(np.maximum(predicted, SMALLEST))).sum(axis=1))


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
    people, predicted = distributions(prediction, annotations)
    scale = prediction.scale
    step = 2 / scale.n_bins if isinstance(scale, Interval) else 1.0
    moved = np.abs(np.cumsum(people - predicted, axis=1))[:, :-1]
    return mean(moved.sum(axis=1) * step)
