"""Metrics per annotator: is the predicted answer of each annotator equal to the observed one?

The predicted answer is the one that the method gives: of networks, the most probable value on a
nominal scale and the median level on an ordinal one. Where answers are compared for equality, it is
the most probable level instead, as far as the method gives an annotator's distribution.
Only answers whose annotator was predicted on their item count. Where an annotator answered an item
more than once, each answer is compared. A function that returns `AnswerScores` scores every answer;
the others need all answers of an annotator at once.
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics import statistics
from dissensus.metrics.consensus import concordance, concordance_by_group, concordance_of_sums
from dissensus.metrics.metric import (
    AnswerScores,
    ItemScores,
    codes_on,
    common_pairs,
    group_means,
    predicted_annotators,
    two_sided,
)
from dissensus.metrics.soft import SMALLEST
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel, Ordinal


def hit(prediction: Prediction, annotations: Annotations) -> AnswerScores:
    """1 if the predicted answer equals the observed one, else 0."""
    rows, observed, predicted = _codes(prediction, annotations)
    return AnswerScores(rows, (observed == predicted).astype(float))


def median_hit(prediction: Prediction, annotations: Annotations) -> AnswerScores:
    """1 if the predicted median level equals the observed answer, else 0."""
    rows, pairs = common_pairs(prediction, annotations)
    observed = codes_on(prediction.scale, annotations)[rows]
    equal = observed == predicted_annotators(prediction).value[pairs]
    return AnswerScores(rows, equal.astype(float))


def distance(prediction: Prediction, annotations: Annotations) -> AnswerScores:
    """The absolute difference of predicted and observed answer, in units of the scale or levels."""
    rows, observed, predicted = _numbers(prediction, annotations)
    return AnswerScores(rows, np.abs(observed - predicted))


def surprise(prediction: Prediction, annotations: Annotations) -> AnswerScores:
    """-ln q, in nats, where q is the predicted probability of the observed answer.

    q below 1e-12 counts as 1e-12. On a multi-label scale the mean over values (chosen or not).
    """
    rows, pairs = common_pairs(prediction, annotations)
    mass = predicted_annotators(prediction).distribution
    if mass is None:
        raise DataError(
            "annotator cross-entropy needs a distribution for each annotator; this method "
            "predicted only their answers"
        )
    observed = annotations.to(prediction.scale).answer[rows]
    if isinstance(prediction.scale, MultiLabel):
        chosen = two_sided(prediction.scale.one_hot(observed))
        probability = (chosen * two_sided(mass[pairs].astype(float))).sum(axis=-1)
    else:
        probability = mass[pairs, observed].astype(float)[:, None]
    return AnswerScores(rows, -np.log(np.maximum(probability, SMALLEST)).mean(axis=1))


def lewidi2025_error(prediction: Prediction, annotations: Annotations) -> AnswerScores:
    """The perspectivist error of LeWiDi 2025, 0 to 1.

    Nominal: 1 for a wrong answer. Multi-label: the share of values wrongly chosen or left out.
    Ordinal: the distance in levels over the number of levels, so that 1 is never reached.
    """
    rows, pairs = common_pairs(prediction, annotations)
    scale = prediction.scale
    observed = annotations.to(scale).answer[rows]
    predicted = predicted_annotators(prediction).value[pairs]
    if isinstance(scale, MultiLabel):
        return AnswerScores(rows, scale.one_hot(observed ^ predicted).mean(axis=1))
    if isinstance(scale, Ordinal):
        return AnswerScores(rows, np.abs(observed.astype(float) - predicted) / len(scale))
    return AnswerScores(rows, (observed != predicted).astype(float))


def f1_by_annotator(prediction: Prediction, annotations: Annotations, weighted: bool) -> np.ndarray:
    """The F1 of each annotator's answers, (n_annotators,); nan for those without a compared answer.

    Args:
        weighted: whether values are weighted by how often the annotator gave them, or all that the
            annotator gave or was predicted to give alike (macro-F1).
    """
    name = "weighted F1 by annotator" if weighted else "macro-F1 by annotator"
    hits, observed, predicted = _tables(prediction, annotations, name)
    weights = observed if weighted else observed + predicted > 0
    each = 2 * hits / np.maximum(observed + predicted, 1)
    total = weights.sum(axis=1).astype(float)
    return statistics.divided((weights * each).sum(axis=1), total)


def _tables(
    prediction: Prediction, annotations: Annotations, metric: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each value was predicted rightly, observed and predicted, (n_annotators, width)."""
    rows, observed, predicted = _codes(prediction, annotations)
    annotator = annotations.annotator_codes(metric)[rows]
    width = int(max(observed.max(initial=0), predicted.max(initial=0))) + 1

    def table(codes: np.ndarray, of: np.ndarray) -> np.ndarray:
        cells = annotations.n_annotators * width
        return np.bincount(of * width + codes, minlength=cells).reshape(-1, width)

    right = observed == predicted
    hits = table(observed[right], annotator[right])
    return hits, table(observed, annotator), table(predicted, annotator)


def f1_without(prediction: Prediction, annotations: Annotations, weighted: bool) -> AnswerScores:
    """The `f1_by_annotator` that one would have without each answer; nan if there is no other."""
    hits, observed, predicted = _tables(prediction, annotations, "F1 by annotator")
    rows, x, y = _codes(prediction, annotations)
    annotator = annotations.annotator_codes("F1 by annotator")[rows]
    weights = observed if weighted else (observed + predicted > 0).astype(int)
    above = (weights * 2 * hits / np.maximum(observed + predicted, 1)).sum(axis=1)[annotator]
    below = weights.sum(axis=1)[annotator].astype(float)
    for value, as_observed, as_predicted, changes in ((x, 1, x == y, True), (y, 0, 1, x != y)):
        h, o, p = (table[annotator, value] for table in (hits, observed, predicted))
        rest = o - as_observed, p - as_predicted
        now = rest[0] if weighted else rest[0] + rest[1] > 0
        before = weights[annotator, value]
        less = now * 2 * (h - (x == y)) / np.maximum(rest[0] + rest[1], 1)
        above += changes * (less - before * 2 * h / np.maximum(o + p, 1))
        below += changes * (now - before)
    return AnswerScores(rows, statistics.divided(above, below))


def ccc_by_annotator(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """Concordance of each annotator's predicted with observed ratings, (n_annotators,).

    As in `ccc`, with unbiased variances. nan for those with fewer than two compared ratings, or
    where both sides are constant.
    """
    rows, observed, predicted = _numbers(prediction, annotations)
    annotator = annotations.annotator_codes("CCC by annotator")[rows]
    return concordance_by_group(observed, predicted, annotator, annotations.n_annotators)


def ccc_without(prediction: Prediction, annotations: Annotations) -> AnswerScores:
    """The concordance that an annotator would have without each rating; nan where undefined."""
    rows, x, y = _numbers(prediction, annotations)
    annotator = annotations.annotator_codes("CCC by annotator")[rows]
    n = annotations.n_annotators
    centre = group_means(annotator, x, n)[annotator]  # sums of squares lose fewer digits around it
    x, y = x - centre, y - centre
    columns = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    totals = np.stack([np.bincount(annotator, column, minlength=n) for column in columns])
    return AnswerScores(rows, concordance_of_sums(*(totals[:, annotator] - columns)))


def annotator_ccc_by_item(prediction: Prediction, annotations: Annotations) -> ItemScores:
    """`annotator_ccc` plus the influence of each item."""
    rows, observed, predicted = _numbers(prediction, annotations)
    kept, item = np.unique(annotations.item[rows], return_inverse=True)
    sums = statistics.concordance(observed, predicted).grouped(item, len(kept))
    return ItemScores(annotations.items.take(kept), (sums.by_item(),))


def annotator_ccc(prediction: Prediction, annotations: Annotations) -> float:
    """Concordance of predicted with observed ratings over all compared answers.

    1 is equality, 0 no relation. nan where undefined: fewer than two ratings are compared, or both
    sides are constant. As in `ccc`, with unbiased variances.
    """
    return concordance(*_numbers(prediction, annotations)[1:])


def _codes(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The compared rows of the annotations, and their observed and most probable codes."""
    rows, pairs = common_pairs(prediction, annotations)
    observed = codes_on(prediction.scale, annotations)[rows]
    predicted = predicted_annotators(prediction)
    if isinstance(prediction.scale, Ordinal) and predicted.distribution is not None:
        return rows, observed, predicted.distribution[pairs].argmax(axis=1)
    return rows, observed, predicted.value[pairs]


def _numbers(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The compared rows of the annotations, and their observed and predicted ratings or levels."""
    rows, pairs = common_pairs(prediction, annotations)
    observed = annotations.to(prediction.scale).answer[rows]
    return rows, observed.astype(float), predicted_annotators(prediction).value[pairs].astype(float)
