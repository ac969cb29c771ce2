"""Hard metrics: is the one predicted answer the one that people gave?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import labels, mean, require
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel

SETS_TOO = ("nominal", "ordinal", "multi-label")


def accuracy(prediction: Prediction, annotations: Annotations) -> float:
    """The share of items whose predicted consensus is the people's.

    The people's is the most frequent value (nominal), the median level (ordinal), or the set of
    values that more than half of them chose (multi-label, where the whole set must be right);
    where several tie, the first of them on the scale. Gold labels may stand for people: their
    values that the prediction's scale does not have are never right. nan where no predicted item
    has answers.

    Example:
        >>> from dissensus import Names, Nominal
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> people = Annotations.from_rows(rows)
        >>> always_no = Prediction(
        ...     people.scale, people.items, np.array([[0.9, 0.1]] * 2), np.array([0, 0]))
        >>> accuracy(always_no, people)
        0.5
    """
    require(prediction, "accuracy", *SETS_TOO)
    truth, predicted = labels(prediction, annotations)
    return mean(truth == predicted)


def macro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, the harmonic mean of precision and recall.

    The mean runs over the values that occur as people's or as predicted consensus; a value that
    nobody chose and the method never predicts does not count. What the people's consensus is,
    and how ties are broken, is as in `accuracy`. nan where no predicted item has answers.
    """
    require(prediction, "macro-F1", *SETS_TOO)
    right, occurring, _ = _by_value(prediction, annotations)
    return mean((2 * right / np.maximum(occurring, 1))[occurring > 0])


def micro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """F1 of all items and values together: with one value per item the same as `accuracy`.

    Against gold labels it is the hard score of LeWiDi 2023.
    """
    require(prediction, "micro-F1", *SETS_TOO)
    right, occurring, _ = _by_value(prediction, annotations)
    return float(2 * right.sum() / occurring.sum()) if occurring.any() else float("nan")


def weighted_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, each value weighed by how often it is the people's consensus.

    As `macro_f1`, but a rare value counts little. nan where no predicted item has answers.
    """
    require(prediction, "weighted F1", *SETS_TOO)
    right, occurring, true = _by_value(prediction, annotations)
    each = 2 * right / np.maximum(occurring, 1)
    return float(each @ true / true.sum()) if true.any() else float("nan")


def _by_value(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each value is right, occurs (as truth and as prediction), and is the truth."""
    truth, predicted = labels(prediction, annotations)
    if isinstance(prediction.scale, MultiLabel):
        true_sets, sets = (prediction.scale.one_hot(masks) for masks in (truth, predicted))
        true = true_sets.sum(axis=0)
        return (true_sets * sets).sum(axis=0), true + sets.sum(axis=0), true
    size = int(max(truth.max(initial=-1), predicted.max(initial=-1))) + 1
    right = np.bincount(truth[truth == predicted], minlength=size)
    true = np.bincount(truth, minlength=size)
    return right, true + np.bincount(predicted, minlength=size), true
