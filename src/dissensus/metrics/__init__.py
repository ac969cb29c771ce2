"""How good is a prediction, held against what people said? `(Prediction, Annotations) -> float`.

Items and annotators are matched by name; what was not predicted or not answered does not count.
A metric is a function and an entry of `METRICS`, in the order in which tables show them.
"""

from __future__ import annotations

from dissensus.annotations import Annotations
from dissensus.metrics.annotators import (
    accuracy_by_annotator,
    annotator_accuracy,
    annotator_ccc,
    annotator_error,
)
from dissensus.metrics.continuous import ccc, concordance
from dissensus.metrics.hard import accuracy, macro_f1
from dissensus.metrics.matching import Compared, compared
from dissensus.metrics.metric import Metric
from dissensus.metrics.soft import cross_entropy, floor, wasserstein
from dissensus.prediction import Prediction

__all__ = [
    "METRICS",
    "Compared",
    "Metric",
    "accuracy",
    "accuracy_by_annotator",
    "annotator_accuracy",
    "annotator_ccc",
    "annotator_error",
    "ccc",
    "compared",
    "concordance",
    "cross_entropy",
    "floor",
    "macro_f1",
    "scores",
    "wasserstein",
]

METRICS: dict[str, Metric] = {
    "cross-entropy": Metric(
        cross_entropy,
        ("nominal", "ordinal", "multi-label"),
        "items",
        False,
        "surprise at people's answers, in nats",
    ),
    "CCC": Metric(ccc, ("interval",), "items", True, "concordance with the mean rating", gold=True),
    "Wasserstein": Metric(
        wasserstein,
        ("ordinal", "interval"),
        "items",
        False,
        "distance to people's distribution, in levels, or in units of [-1, 1] for ratings",
    ),
    "macro-F1": Metric(
        macro_f1,
        ("nominal", "ordinal"),
        "items",
        True,
        "F1 of the consensus, mean over values",
        gold=True,
    ),
    "accuracy": Metric(
        accuracy,
        ("nominal", "ordinal"),
        "items",
        True,
        "share of items with the people's consensus",
        gold=True,
    ),
    "annotator accuracy": Metric(
        annotator_accuracy,
        ("nominal", "ordinal"),
        "annotators",
        True,
        "share of a person's answers that was predicted, mean over people",
    ),
    "annotator CCC": Metric(
        annotator_ccc, ("interval",), "annotators", True, "concordance with single ratings"
    ),
    "annotator error": Metric(
        annotator_error,
        ("ordinal", "interval"),
        "annotators",
        False,
        "mean distance to single answers, in own units or levels",
    ),
}


def scores(
    prediction: Prediction, annotations: Annotations, gold: Annotations | None = None
) -> dict[str, float]:
    """Every metric that applies to the scale and to what was predicted, by name.

    Scores per annotator are there if the method predicted annotators and people have names.

    Args:
        gold: labels from elsewhere; adds metrics against them, such as "accuracy (gold)".

    Example:
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> even = people.distribution()
        >>> predicted = Prediction(people.scale, people.items, even, even.argmax(axis=1))
        >>> {name: round(score, 3) for name, score in scores(predicted, people).items()}
        {'cross-entropy': 0.693, 'macro-F1': 1.0, 'accuracy': 1.0}
    """
    people_known = prediction.by_annotator is not None and annotations.annotator is not None
    apply = {
        name: metric
        for name, metric in METRICS.items()
        if prediction.scale.kind in metric.scales and (metric.needs == "items" or people_known)
    }
    found = {name: metric.function(prediction, annotations) for name, metric in apply.items()}
    if gold is None:
        return found
    return found | {
        f"{name} (gold)": metric.function(prediction, gold)
        for name, metric in apply.items()
        if metric.gold and gold.scale.kind in metric.scales
    }
