"""Soft metrics: how surprising are the people's answers to whom the prediction believes?

Of sets (multi-label) each value is a distribution of its own, chosen or not; the mean over items
is then also one over values.
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics import per_item
from dissensus.metrics.matching import common_items, mean, require, shares, two_sided
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel

CHOICES = ("nominal", "ordinal", "multi-label")
EVERY_SCALE = ("nominal", "ordinal", "interval", "multi-label")


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
    require(prediction, "cross-entropy", *CHOICES)
    return mean_cross_entropy(*shares(prediction, annotations))


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
    if isinstance(annotations.scale, MultiLabel):
        people = two_sided(people)
    return mean_cross_entropy(people, people)


def kl(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of sum p ln(p / q): the cross-entropy above that of a perfect one.

    In nats, 0 where the prediction is the people's distribution p; q below 1e-12 counts as
    1e-12. nan where no predicted item has answers.

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> leaning = Prediction(people.scale, people.items, np.array([[0.9, 0.1]]), np.array([0]))
        >>> round(kl(leaning, people), 4)
        0.5108
    """
    require(prediction, "KL", *CHOICES)
    return mean(per_item.divergence(*shares(prediction, annotations)))


def reverse_kl(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of sum q ln(q / p): how far the prediction strays from the people.

    In nats. A value that nobody gave has p = 0, which counts as 1e-12: each hundredth of mass
    predicted there costs about 0.28, so few answers per item make this large whatever the
    method. nan where no predicted item has answers.
    """
    require(prediction, "KL", *CHOICES)
    people, predicted = shares(prediction, annotations)
    return mean(per_item.divergence(predicted, people))


def jsd(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over items of the Jensen-Shannon divergence, in nats: 0 to ln 2.

    Half the divergences (KL) of people and prediction from their average. Ratings are compared
    on the bins of the prediction's grid. nan where no predicted item has answers.

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> sure = Prediction(people.scale, people.items, np.array([[1.0, 0]]), np.array([0]))
        >>> round(jsd(sure, people), 4), round(jsd_base_2(sure, people), 4)
        (0.2158, 0.3113)

    Reference: Lin (1991), doi:10.1109/18.61115.
    """
    require(prediction, "JSD", *EVERY_SCALE)
    return _jsd(prediction, annotations)


def jsd_base_2(prediction: Prediction, annotations: Annotations) -> float:
    """As `jsd`, in bits: 0 to 1."""
    require(prediction, "JSD", *EVERY_SCALE)
    return _jsd(prediction, annotations) / float(np.log(2))


def po_jsd(prediction: Prediction, annotations: Annotations) -> float:
    """One minus `jsd_base_2`: 1 where the prediction is the people's distribution.

    Reference: Kurniawan et al. (2025), arXiv:2502.01891.
    """
    require(prediction, "PO-JSD", *EVERY_SCALE)
    return 1 - _jsd(prediction, annotations) / float(np.log(2))


def _jsd(prediction: Prediction, annotations: Annotations) -> float:
    return mean(per_item.jsd(*shares(prediction, annotations)))


def mean_cross_entropy(people: np.ndarray, predicted: np.ndarray) -> float:
    """The mean of -sum p ln q over all but the last axis, which sums to 1."""
    return mean(per_item.cross_entropy(people, predicted))
