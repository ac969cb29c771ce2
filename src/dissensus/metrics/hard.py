"""Hard metrics: is the one predicted answer the one that people gave?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import labels, mean, require
from dissensus.prediction import Prediction


def accuracy(prediction: Prediction, annotations: Annotations) -> float:
    """The share of items whose predicted consensus is the people's.

    The people's is the most frequent value (nominal) or the median level (ordinal); where
    several tie, the first of them on the scale. Gold labels may stand for people: their values
    that the prediction's scale does not have are never right. nan where no predicted item has
    answers.

    Example:
        >>> from dissensus import Names, Nominal
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> people = Annotations.from_rows(rows)
        >>> always_no = Prediction(
        ...     people.scale, people.items, np.array([[0.9, 0.1]] * 2), np.array([0, 0]))
        >>> accuracy(always_no, people)
        0.5
    """
    require(prediction, "accuracy", "nominal", "ordinal")
    truth, predicted = labels(prediction, annotations)
    return mean(truth == predicted)


def macro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, the harmonic mean of precision and recall.

    The mean runs over the values that occur as people's or as predicted consensus; a value that
    nobody chose and the method never predicts does not count. What the people's consensus is,
    and how ties are broken, is as in `accuracy`. nan where no predicted item has answers.
    """
    require(prediction, "macro-F1", "nominal", "ordinal")
    each, occurring, _ = _f1_by_value(*labels(prediction, annotations))
    return mean(each[occurring > 0])


def micro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """F1 of all items together: with one value per item the same as `accuracy`.

    Against gold labels it is the hard score of LeWiDi 2023.
    """
    require(prediction, "micro-F1", "nominal", "ordinal")
    truth, predicted = labels(prediction, annotations)
    return mean(truth == predicted)


def weighted_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, each value weighed by how often it is the people's consensus.

    As `macro_f1`, but a rare value counts little. nan where no predicted item has answers.
    """
    require(prediction, "weighted F1", "nominal", "ordinal")
    each, _, true = _f1_by_value(*labels(prediction, annotations))
    return float(each @ true / true.sum()) if true.any() else float("nan")


def _f1_by_value(
    truth: np.ndarray, predicted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """F1 of each value (0 of one that never occurs), how often it occurs, and as the truth."""
    size = int(max(truth.max(initial=-1), predicted.max(initial=-1))) + 1
    right = np.bincount(truth[truth == predicted], minlength=size)
    true = np.bincount(truth, minlength=size)
    occurring = true + np.bincount(predicted, minlength=size)
    return 2 * right / np.maximum(occurring, 1), occurring, true
