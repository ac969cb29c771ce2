"""Metrics per annotator: is what was predicted for each person what that person said?

Only pairs of item and annotator that were both predicted and answered count; where an annotator
answered an item more than once, each answer is compared. A function `..._by_annotator` gives one
score per person; `annotator_mean`, `weighted_mean` and `worst_decile` sum them up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.continuous import concordance, concordance_by_group
from dissensus.metrics.matching import codes_on, common_pairs, mean, require, two_sided
from dissensus.metrics.per_item import SMALLEST
from dissensus.metrics.soft import CHOICES
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import MultiLabel

Each = Callable[[Prediction, Annotations], np.ndarray]  # one score per annotator
FEWEST = 10  # answers that an annotator must have to be among the worst


def accuracy_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The share of each annotator's answers that was predicted, (n_annotators,) in the order of
    `annotations.annotators`; nan for those without a compared answer."""
    require(prediction, "annotator accuracy", "nominal", "ordinal")
    rows, given, predicted = _codes(prediction, annotations)
    return _means(annotations, rows, given == predicted)


def error_rate_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """One minus `accuracy_by_annotator`."""
    require(prediction, "annotator error rate", "nominal", "ordinal")
    rows, given, predicted = _codes(prediction, annotations)
    return _means(annotations, rows, given != predicted)


def macro_f1_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The macro-F1 of each annotator's answers, (n_annotators,).

    The mean over the values that the annotator gave or was predicted to give; nan for those
    without a compared answer.
    """
    require(prediction, "annotator macro-F1", "nominal", "ordinal")
    rows, given, predicted = _codes(prediction, annotations)
    who = annotations.who("macro-F1 by annotator")[rows]
    width = int(max(given.max(initial=0), predicted.max(initial=0))) + 1

    def table(codes: np.ndarray, of: np.ndarray) -> np.ndarray:  # (n_annotators, width)
        cells = annotations.n_annotators * width
        return np.bincount(of * width + codes, minlength=cells).reshape(-1, width)

    right = given == predicted
    hits = table(given[right], who[right])
    occurring = table(given, who) + table(predicted, who)
    each = (2 * hits / np.maximum(occurring, 1)).sum(axis=1)
    values = (occurring > 0).sum(axis=1).astype(float)
    return np.divide(each, values, out=np.full_like(values, np.nan), where=values > 0)


def cross_entropy_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The mean of -ln q over each annotator's answers, q what was predicted for that person.

    (n_annotators,), in nats; q below 1e-12 counts as 1e-12. Multi-label: also the mean over
    values of chosen or not. nan for those without a compared answer.
    """
    require(prediction, "annotator cross-entropy", *CHOICES)
    rows, pairs = common_pairs(prediction, annotations)
    mass = _asked(prediction).distribution
    if mass is None:
        raise DataError(
            "annotator cross-entropy needs a distribution for each annotator; this method "
            "predicted only their answers"
        )
    given = annotations.to(prediction.scale).answer[rows]
    if isinstance(prediction.scale, MultiLabel):
        on = two_sided(prediction.scale.one_hot(given))
        believed = (on * two_sided(mass[pairs].astype(float))).sum(axis=-1)
    else:
        believed = mass[pairs, given].astype(float)[:, None]
    return _means(annotations, rows, -np.log(np.maximum(believed, SMALLEST)).mean(axis=1))


def distance_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The mean absolute difference between each annotator's predicted and given answers.

    (n_annotators,), in the scale's own units for ratings, in levels for ordinal answers; nan for
    those without a compared answer.
    """
    require(prediction, "annotator distance", "ordinal", "interval")
    rows, given, predicted = _numbers(prediction, annotations)
    return _means(annotations, rows, np.abs(given - predicted))


def ccc_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """Concordance of each annotator's predicted with given ratings, (n_annotators,).

    nan for those with fewer than two compared ratings, or where both sides are constant.
    """
    require(prediction, "annotator CCC", "interval")
    rows, given, predicted = _numbers(prediction, annotations)
    who = annotations.who("CCC by annotator")[rows]
    return concordance_by_group(given, predicted, who, annotations.n_annotators)


def annotator_mean(each: Each, prediction: Prediction, annotations: Annotations) -> float:
    """The mean over annotators who have a score; everyone counts the same."""
    scores = each(prediction, annotations)
    return mean(scores[~np.isnan(scores)])


def weighted_mean(each: Each, prediction: Prediction, annotations: Annotations) -> float:
    """The mean over annotators who have a score, weighed by their compared answers."""
    scores, answers = each(prediction, annotations), _answers(prediction, annotations)
    counted = ~np.isnan(scores)
    if not counted.any():
        return float("nan")
    return float(scores[counted] @ answers[counted] / answers[counted].sum())


def worst_decile(
    each: Each,
    prediction: Prediction,
    annotations: Annotations,
    *,
    higher_is_better: bool,
    at_least: int = FEWEST,
) -> float:
    """The mean score of the tenth of the annotators for whom the method does worst.

    Only annotators with `at_least` compared answers (10) and a score are ranked, since with a
    few answers the worst are merely unlucky; a tenth of n is rounded up, so at least one person.
    nan where nobody has so many.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t2", "ann", "yes"), ("t1", "bob", "no")]
        >>> people = Annotations.from_rows(rows)
        >>> yes = ByAnnotator(people.item, people.annotator, people.annotators, np.ones(3, int))
        >>> mass = people.distribution()
        >>> predicted = Prediction(people.scale, people.items, mass, mass.argmax(axis=1), yes)
        >>> worst_decile(
        ...     accuracy_by_annotator, predicted, people, higher_is_better=True, at_least=1)
        0.0
    """
    scores = each(prediction, annotations)
    ranked = (_answers(prediction, annotations) >= at_least) & ~np.isnan(scores)
    ordered = np.sort(scores[ranked])
    size = -(-len(ordered) // 10)
    return mean(ordered[:size] if higher_is_better else ordered[len(ordered) - size :])


def annotator_accuracy(prediction: Prediction, annotations: Annotations) -> float:
    """The mean over annotators of the share of their answers that was predicted.

    Every annotator counts the same, however many answers they gave. nan where no answer meets a
    prediction.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t2", "ann", "yes"), ("t1", "bob", "no")]
        >>> people = Annotations.from_rows(rows)
        >>> yes = ByAnnotator(people.item, people.annotator, people.annotators, np.ones(3, int))
        >>> mass = people.distribution()
        >>> predicted = Prediction(people.scale, people.items, mass, mass.argmax(axis=1), yes)
        >>> annotator_accuracy(predicted, people)
        0.5
    """
    return annotator_mean(accuracy_by_annotator, prediction, annotations)


def annotator_ccc(prediction: Prediction, annotations: Annotations) -> float:
    """Concordance of predicted with given ratings over all pairs of item and annotator.

    1 is equality, 0 no relation. nan where undefined: fewer than two ratings meet a prediction,
    or both sides are constant. As in `ccc`, with unbiased variances.
    """
    require(prediction, "annotator CCC", "interval")
    return concordance(*_numbers(prediction, annotations)[1:])


def annotator_error(prediction: Prediction, annotations: Annotations) -> float:
    """The mean absolute difference between predicted and given answers over all such pairs.

    In the scale's own units for ratings, in levels for ordinal answers; every answer counts the
    same. nan where no answer meets a prediction.
    """
    require(prediction, "annotator error", "ordinal", "interval")
    _, given, predicted = _numbers(prediction, annotations)
    return mean(np.abs(given - predicted))


def _asked(prediction: Prediction) -> ByAnnotator:
    assert prediction.by_annotator is not None  # `common_pairs` refuses such predictions
    return prediction.by_annotator


def _codes(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The compared rows of the annotations, and their given and predicted codes."""
    rows, pairs = common_pairs(prediction, annotations)
    given = codes_on(prediction.scale, annotations)[rows]
    return rows, given, _asked(prediction).value[pairs]


def _numbers(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The compared rows of the annotations, and their given and predicted ratings or levels."""
    rows, pairs = common_pairs(prediction, annotations)
    given = annotations.to(prediction.scale).answer[rows]
    return rows, given.astype(float), _asked(prediction).value[pairs].astype(float)


def _answers(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """How many answers of each annotator are compared, (n_annotators,)."""
    rows, _ = common_pairs(prediction, annotations)
    return np.bincount(annotations.who("weighing")[rows], minlength=annotations.n_annotators)


def _means(annotations: Annotations, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean of each annotator's values of these rows, (n_annotators,); nan of nothing."""
    who = annotations.who("a score per annotator")[rows]
    n = annotations.n_annotators
    answers = np.bincount(who, minlength=n).astype(float)
    sums = np.bincount(who, values, minlength=n)
    return np.divide(sums, answers, out=np.full(n, np.nan), where=answers > 0)
