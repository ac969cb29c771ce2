"""Hard metrics: is the predicted consensus of an item the one of its annotators?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import labels
from dissensus.metrics.statistics import Sums
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
    return float(_macro(*_by_value(prediction, annotations)))


def micro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """F1 of all items and values together; with one value per item it is the accuracy.

    Against gold labels it is the hard score of LeWiDi 2023.
    """
    return float(_micro(*_by_value(prediction, annotations)))


def weighted_f1(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over values of F1, each value weighted by how often it is the consensus.

    As `macro_f1`, but rare values have little weight. nan where no predicted item has answers.
    """
    return float(_weighted(*_by_value(prediction, annotations)))


def _macro(right: np.ndarray, occurring: np.ndarray, true: np.ndarray) -> np.ndarray:
    each = 2 * right / np.maximum(occurring, 1)
    return _divided(each.sum(axis=-1), (occurring > 0).sum(axis=-1))


def _micro(right: np.ndarray, occurring: np.ndarray, true: np.ndarray) -> np.ndarray:
    return _divided(2 * right.sum(axis=-1), occurring.sum(axis=-1))


def _weighted(right: np.ndarray, occurring: np.ndarray, true: np.ndarray) -> np.ndarray:
    each = 2 * right / np.maximum(occurring, 1)
    return _divided((each * true).sum(axis=-1), true.sum(axis=-1))


def _divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    undefined = np.full(np.shape(above), np.nan)
    return np.divide(above, below, out=undefined, where=np.asarray(below) > 0)


def _sums(
    of_counts: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[Prediction, Annotations], Sums]:
    """An F1 as a function of what each item adds to the counts of values."""

    def sums(prediction: Prediction, annotations: Annotations) -> Sums:
        truth, predicted = labels(prediction, annotations)
        if isinstance(prediction.scale, MultiLabel):
            sides = [prediction.scale.one_hot(masks).astype(float) for masks in (truth, predicted)]
        else:
            values = np.arange(max(truth.max(initial=-1), predicted.max(initial=-1)) + 1)
            sides = [(codes[:, None] == values).astype(float) for codes in (truth, predicted)]
        true, chosen = sides
        columns = np.concatenate([true * chosen, true + chosen, true], axis=1)
        return Sums(columns, lambda counts: of_counts(*np.split(counts, 3, axis=1))[:, None])

    return sums


macro_f1_sums, micro_f1_sums, weighted_f1_sums = map(_sums, (_macro, _micro, _weighted))


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
