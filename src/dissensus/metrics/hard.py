"""Hard metrics: is the predicted consensus of an item the one of its annotators?"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import labels, mean
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel


def correct(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """1 for each item whose predicted consensus is the observed one, else 0.

    The observed consensus is the most frequent value (nominal), the median level (ordinal), or the
    set of values that more than half of the annotators chose (multi-label, where the whole set must
    be right); of tied values the first on the scale. Gold labels may take the place of answers:
    values that the prediction's scale does not have are never right.

    Example:
        >>> correct(np.array([0, 1, 1]), np.array([0, 1, 0])).tolist()
        [1.0, 1.0, 0.0]
    """
    return (observed == predicted).astype(float)


def macro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, the harmonic mean of precision and recall.

    The mean runs over the values that occur as observed or as predicted consensus. Consensus and
    ties are as in `correct`. nan where no predicted item has answers.
    """
    right, occurring, _ = _by_value(prediction, annotations)
    return mean((2 * right / np.maximum(occurring, 1))[occurring > 0])


def micro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """F1 of all items and values together; with one value per item it is the accuracy.

    Against gold labels it is the hard score of LeWiDi 2023.
    """
    right, occurring, _ = _by_value(prediction, annotations)
    return float(2 * right.sum() / occurring.sum()) if occurring.any() else float("nan")


def weighted_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, each value weighted by how often it is the consensus.

    As `macro_f1`, but rare values have little weight. nan where no predicted item has answers.
    """
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
