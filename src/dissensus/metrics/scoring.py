"""The scores of many metrics at once, and their bounds on the same items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.metrics.metric import common_items, matching_once
from dissensus.metrics.suite import METRICS
from dissensus.names import Names
from dissensus.prediction import Prediction

GOLD = " (gold)"  # the end of the name of a metric that is computed against gold labels


class Bounds(NamedTuple):
    """The scores of two predictions that need no method."""

    perfect: float  # the observed distribution of each item: nothing is better
    constant: float  # their mean, predicted for every item


def scores(
    prediction: Prediction,
    annotations: Annotations,
    gold: Annotations | None = None,
    metrics: Iterable[str] | None = None,
) -> dict[str, float]:
    """Every metric that applies to the scale and to what was predicted, by name.

    Metrics per annotator apply if the method predicted annotators and the annotators are known.

    Args:
        gold: gold labels; adds the metrics that compare with them, such as "accuracy (gold)".
        metrics: names of `METRICS`, in any spelling that `metric_name` knows; `METRICS` for all.
            Those that do not apply are left out. By default those that tables show.

    Example:
        >>> answers = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> even = answers.distribution()
        >>> predicted = Prediction(answers.scale, answers.items, even, even.argmax(axis=1))
        >>> {name: round(score, 3) for name, score in scores(predicted, answers).items()}
        {'cross-entropy': 0.693, 'macro-F1': 1.0, 'accuracy': 1.0}
        >>> scores(predicted, answers, metrics=["tvd", "soft-accuracy"])
        {'TVD': 0.0, 'soft accuracy': 1.0}
    """
    requested = None if metrics is None else {metric_name(name) for name in metrics}
    apply = {
        name: metric
        for name, metric in METRICS.items()
        if (metric.short if requested is None else name in requested)
        and metric.applies(prediction, annotations)
    }
    with matching_once():
        by_name = {name: metric(prediction, annotations) for name, metric in apply.items()}
    return by_name if gold is None else by_name | gold_scores(prediction, gold, requested)


def gold_scores(
    prediction: Prediction, gold: Annotations, metrics: Iterable[str] | None = None
) -> dict[str, float]:
    """The metrics that compare with gold labels, by names such as "accuracy (gold)".

    Args:
        metrics: as for `scores`; "accuracy" and "accuracy (gold)" both name the second here.
    """
    with matching_once():
        return {
            name + GOLD: METRICS[name](prediction, gold)
            for name in _gold_metrics(prediction, gold, metrics)
        }


def _gold_metrics(
    prediction: Prediction, gold: Annotations, metrics: Iterable[str] | None
) -> list[str]:
    """The names in `METRICS` of the metrics that apply to gold labels."""
    short = [name for name, metric in METRICS.items() if metric.short]
    requested = short if metrics is None else [metric_name(name) for name in metrics]
    plain = {name.removesuffix(GOLD) for name in requested}
    kinds = {prediction.scale.kind, gold.scale.kind}
    return [n for n, m in METRICS.items() if n in plain and m.gold and kinds <= {*m.scales}]


def score(prediction: Prediction, annotations: Annotations, metric: str) -> float:
    """The score of one metric, by any spelling that `metric_name` knows.

    Example:
        >>> answers = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> even = answers.distribution()
        >>> predicted = Prediction(answers.scale, answers.items, even, even.argmax(axis=1))
        >>> round(score(predicted, answers, "cross-entropy"), 3)
        0.693
    """
    return METRICS[metric_name(metric).removesuffix(GOLD)](prediction, annotations)


def item_scores(
    prediction: Prediction, annotations: Annotations, metrics: Iterable[str]
) -> dict[str, tuple[Names, np.ndarray]]:
    """What each predicted item with answers contributes to these metrics: name -> (items, scores).

    The mean of the scores is the metric. Metrics that are computed from labels of all items
    (macro-F1, CCC) add the observed and the predicted consensus once. Metrics on which items have
    no influence of their own (ECE, the worst annotators), or not for this scale, are left out.

    Example:
        >>> answers = Annotations.from_rows([("t1", "ann", "yes"), ("t2", "ann", "no")])
        >>> mass = np.array([[0.2, 0.8], [0.6, 0.4]])
        >>> predicted = Prediction(answers.scale, answers.items, mass, mass.argmax(axis=1))
        >>> {name: scores.round(1).tolist()
        ...  for name, (_, scores) in item_scores(predicted, answers, ["TVD", "accuracy"]).items()}
        {'TVD': [0.2, 0.4], 'accuracy': [1.0, 1.0]}
    """
    by_name: dict[str, tuple[Names, np.ndarray]] = {}
    with matching_once():
        for metric in (METRICS.get(metric_name(name)) for name in metrics):
            if metric is not None and metric.applies(prediction, annotations):
                by_name |= metric.item_scores(prediction, annotations)
    return by_name


def gold_item_scores(
    prediction: Prediction, gold: Annotations, metrics: Iterable[str]
) -> dict[str, tuple[Names, np.ndarray]]:
    """As `item_scores`, against gold labels; every name ends in " (gold)"."""
    by_name: dict[str, tuple[Names, np.ndarray]] = {}
    with matching_once():
        for name in _gold_metrics(prediction, gold, metrics):
            parts = METRICS[name].item_scores(prediction, gold)
            by_name |= {part + GOLD: scores for part, scores in parts.items()}
    return by_name


def annotator_scores(prediction: Prediction, annotations: Annotations, metric: str) -> np.ndarray:
    """The score of each annotator, (n_annotators,), in the order of `annotations.annotators`.

    nan for annotators of whom no answer was predicted.

    Args:
        metric: one that scores annotators, such as "annotator accuracy".
    """
    return METRICS[metric_name(metric)].annotator_scores(prediction, annotations)


def bounds(
    metrics: Iterable[str], annotations: Annotations, items: Names | None = None
) -> dict[str, Bounds]:
    """The scores of a perfect and of a constant prediction, for soft metrics.

    The perfect prediction is the observed distribution of each item. The constant one is their mean
    over the same items, which has the lowest cross-entropy of all constant predictions. It knows
    the answers; the method "prior" estimates it from the training items and scores no better,
    except by chance.

    Args:
        metrics: names of `METRICS`; those that are not soft, or not for this scale, are left out.
        items: only these items count; left out, all. Those without answers never count.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t2", "ann", "no"), ("t2", "bob", "yes")]
        >>> answers = Annotations.from_rows(rows)
        >>> bounds(["TVD"], answers)
        {'TVD': Bounds(perfect=0.0, constant=0.25)}
    """
    counted = common_items(annotations.items if items is None else items, annotations)[1]
    observed = annotations.distribution()[counted]
    average = observed.mean(axis=0) if len(observed) else np.zeros(observed.shape[1])
    names = annotations.items.take(counted)
    scale = annotations.scale
    perfect, constant = (
        Prediction(scale, names, mass, scale.consensus(mass) if len(mass) else np.zeros(0))
        for mass in (observed, np.broadcast_to(average, observed.shape))
    )
    by_metric = {}
    with matching_once():
        for name in map(metric_name, metrics):
            metric = METRICS.get(name)
            if metric is not None and metric.soft and scale.kind in metric.scales:
                both = (metric(guess, annotations) for guess in (perfect, constant))
                by_metric[name] = Bounds(*both)
    return by_metric


def metric_name(name: str) -> str:
    """The name of a metric in `METRICS`; case, hyphens, spaces and commas do not matter.

    "(gold)" at the end means the same metric against gold labels.

    Example:
        >>> metric_name("annotator-accuracy-worst-decile"), metric_name("Accuracy (gold)")
        ('annotator accuracy, worst decile', 'accuracy (gold)')
    """
    if name in METRICS:
        return name
    plain = {plain_name(known): known for known in METRICS}
    words = plain_name(name)
    if words in plain:
        return plain[words]
    known = plain.get(words.removesuffix("(gold)").removesuffix("gold").strip())
    if known is not None and METRICS[known].gold:
        return known + GOLD
    if known is not None:
        labels = [metric.name for metric in METRICS.values() if metric.gold]
        raise DataError(
            f"{name!r}: {known} needs answers, not gold labels; {listed(labels, len(labels))} "
            "can be computed against gold labels"
        )
    raise DataError(
        f"no metric {name!r}{did_you_mean(name, METRICS)}; there are "
        f"{listed(METRICS, len(METRICS))}"
    )


def plain_name(name: str) -> str:
    return " ".join(name.lower().replace(",", " ").replace("-", " ").split())
