"""Metrics per annotator: is what was predicted for each person what that person said?

Only pairs of item and annotator that were both predicted and answered count; where an annotator
answered an item more than once, each answer is compared.
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.continuous import concordance
from dissensus.metrics.matching import codes_on, common_pairs, mean, require
from dissensus.prediction import Prediction


def accuracy_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The share of each annotator's answers that was predicted, (n_annotators,) in the order of
    `annotations.annotators`; nan for those without a compared answer."""
    require(prediction, "annotator accuracy", "nominal", "ordinal")
    rows, right = _right(prediction, annotations)
    who = annotations.who("accuracy by annotator")[rows]
    answers = np.bincount(who, minlength=annotations.n_annotators).astype(float)
    hits = np.bincount(who, right, minlength=annotations.n_annotators)
    return np.divide(hits, answers, out=np.full_like(answers, np.nan), where=answers > 0)


def annotator_accuracy(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over annotators of the share of their answers that was predicted.

    Every annotator counts the same, however many answers they gave. nan where no answer meets a
    prediction.

    Example:
        >>> from dissensus.prediction import ByAnnotator
        >>> rows = [("t1", "ann", "yes"), ("t2", "ann", "yes"), ("t1", "bob", "no")]
        >>> people = Annotations.from_rows(rows)
        >>> yes = ByAnnotator(people.item, people.annotator, people.annotators, np.ones(3, int))
        >>> mass = people.distribution()
        >>> predicted = Prediction(people.scale, people.items, mass, mass.argmax(axis=1), yes)
        >>> annotator_accuracy(predicted, people)
        0.5
    """
    each = accuracy_by_annotator(prediction, annotations)
    return mean(each[~np.isnan(each)])


def _right(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The compared rows of the annotations, and whether each was predicted."""
    rows, pairs = common_pairs(prediction, annotations)
    assert prediction.by_annotator is not None
    predicted = prediction.by_annotator.value[pairs]
    return rows, codes_on(prediction.scale, annotations)[rows] == predicted


def annotator_ccc(prediction: Prediction, annotations: Annotations) -> float:
    """Concordance of predicted with given ratings over all pairs of item and annotator.

    1 is equality, 0 no relation. nan where undefined: fewer than two ratings meet a prediction,
    or both sides are constant. As in `ccc`, with unbiased variances.
    """
    require(prediction, "annotator CCC", "interval")
    return concordance(*_numbers(prediction, annotations))


def annotator_error(prediction: Prediction, annotations: Annotations) -> float:
    """The mean absolute difference between predicted and given answers over all such pairs.

    In the scale's own units for ratings, in levels for ordinal answers; every answer counts the
    same. nan where no answer meets a prediction.
    """
    require(prediction, "annotator error", "ordinal", "interval")
    given, predicted = _numbers(prediction, annotations)
    return mean(np.abs(given - predicted))


def _numbers(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Given and predicted ratings or levels of the compared pairs, (n_compared,) each."""
    rows, pairs = common_pairs(prediction, annotations)
    assert prediction.by_annotator is not None
    given = annotations.to(prediction.scale).answer[rows]
    return given.astype(float), prediction.by_annotator.value[pairs].astype(float)
