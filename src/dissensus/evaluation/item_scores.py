"""What each item adds to a metric: scores whose mean is the metric, or the labels it is made of.

A test over items needs them. Metrics per annotator and DIC are not sums over items; they, and F1 of
sets, are compared over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from dissensus.annotations import Annotations
from dissensus.evaluation import resampling
from dissensus.metrics import METRICS, metric_name, per_item
from dissensus.metrics.matching import common_items, labels, matching_once, shares
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel

PEOPLE, PREDICTED = "people's consensus", "predicted consensus"  # beside the metrics, per item
Each = Callable[[np.ndarray, np.ndarray], np.ndarray]  # shares of people and prediction -> scores


BY_SHARES: dict[str, Each] = {
    "cross-entropy": per_item.cross_entropy,
    "KL": per_item.divergence,
    "KL, reversed": lambda people, predicted: per_item.divergence(predicted, people),
    "JSD": per_item.jsd,
    "JSD, base 2": lambda people, predicted: per_item.jsd(people, predicted) / np.log(2),
    "PO-JSD": lambda people, predicted: 1 - per_item.jsd(people, predicted) / np.log(2),
    "TVD": lambda people, predicted: per_item.manhattan(people, predicted) / 2,
    "DistCE": lambda people, predicted: per_item.manhattan(people, predicted) / 2,
    "Manhattan": per_item.manhattan,
    "soft accuracy": per_item.common,
    "intersection": per_item.common,
}
BY_LABELS: dict[str, Callable[[np.ndarray, np.ndarray], resampling.Statistic]] = {
    "macro-F1": resampling.macro_f1,
    "CCC": resampling.concordance,
}
RIGHT = ("accuracy", "micro-F1")
NOT_OF_SETS = ("macro-F1", "micro-F1")  # whose values of one item count one by one there


def item_scores(
    prediction: Prediction, annotations: Annotations, metrics: Iterable[str]
) -> dict[str, tuple[Names, np.ndarray]]:
    """What each predicted item with answers adds to these metrics: name -> (items, scores).

    Metrics made of labels (macro-F1, CCC) add the people's and the predicted consensus once;
    those that are no sums over items, or not for this scale, are not there.

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t2", "ann", "no")])
        >>> mass = np.array([[0.2, 0.8], [0.6, 0.4]])
        >>> predicted = Prediction(people.scale, people.items, mass, mass.argmax(axis=1))
        >>> {name: found[1].round(1).tolist()
        ...  for name, found in item_scores(predicted, people, ["TVD", "accuracy"]).items()}
        {'TVD': [0.2, 0.4], 'accuracy': [1.0, 1.0]}
    """
    with matching_once():
        mine, _ = common_items(prediction.items, annotations)
        names = prediction.items.take(mine)
        found: dict[str, np.ndarray] = {}
        for metric in map(metric_name, metrics):
            if METRICS[metric].applies(prediction, annotations):
                found |= _of_metric(metric, prediction, annotations)
    return {name: (names, scores) for name, scores in found.items()}


def statistic(metric: str, scores: Mapping[str, np.ndarray]) -> resampling.Statistic | None:
    """How a metric is computed from weighted items; None where it is no function of them.

    Args:
        scores: what `item_scores` gave, (n_runs, n_items) each.
    """
    if metric in scores:
        return resampling.mean(scores[metric])
    if metric in BY_LABELS and {PEOPLE, PREDICTED} <= scores.keys():
        return BY_LABELS[metric](scores[PEOPLE][0], scores[PREDICTED])
    return None


def parts_of(metric: str) -> tuple[str, ...]:
    """The names under which `item_scores` keeps what a metric is made of."""
    return (PEOPLE, PREDICTED) if metric in BY_LABELS else (metric,)


def _of_metric(
    metric: str, prediction: Prediction, annotations: Annotations
) -> dict[str, np.ndarray]:
    if isinstance(prediction.scale, MultiLabel) and metric in NOT_OF_SETS:
        return {}
    if metric in BY_SHARES:
        each = BY_SHARES[metric](*shares(prediction, annotations))
        return {metric: each.reshape(len(each), -1).mean(axis=1)}  # of sets also over values
    if metric == "Wasserstein":
        return {metric: per_item.moved(*shares(prediction, annotations), prediction.scale)}
    if metric in RIGHT:
        people, predicted = labels(prediction, annotations)
        return {metric: (people == predicted).astype(float)}
    if metric in BY_LABELS:
        return dict(zip((PEOPLE, PREDICTED), _consensus(prediction, annotations), strict=True))
    return {}


def _consensus(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The people's and the predicted label or rating of each common item."""
    if not isinstance(prediction.scale, Interval):
        return labels(prediction, annotations)
    mine, theirs = common_items(prediction.items, annotations)
    ratings = annotations.to(prediction.scale)
    sums = np.bincount(ratings.item, ratings.weight * ratings.answer, minlength=ratings.n_items)
    return sums[theirs] / ratings.per_item()[theirs], np.asarray(prediction.consensus[mine], float)
