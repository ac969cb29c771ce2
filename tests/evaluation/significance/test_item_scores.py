"""What items contribute to a metric: together they are the metric, on every scale."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.evaluation.significance.method_difference import parts_of, statistic
from dissensus.metrics import METRICS, item_scores
from dissensus.metrics.metric import OBSERVED, PREDICTED, OverItems, Whole
from tests.metrics.crowds import SCALES, people, perfect, predicted

NOT_MADE_OF_ITEMS = {
    "soft micro-F1", "weighted F1", "ECE", "entropy correlation", "entropy similarity",
    "annotator CCC", "annotator CCC, mean", "annotator CCC, worst decile",
    "annotator accuracy, worst decile", "annotator error rate, worst decile",
    "annotator macro-F1", "annotator macro-F1, weighted", "annotator macro-F1, worst decile",
    "annotator cross-entropy, worst decile", "annotator distance, worst decile",
    "annotator weighted F1", "annotator accuracy, missing as right",
    "DIC", "DIC, normalised", "DIC, all pairs",
}  # fmt: skip
NOT_OF_SETS = {"macro-F1", "micro-F1"}  # on a multi-label scale an item has several values
EVERY = [(name, kind) for name, metric in METRICS.items() for kind in metric.scales]


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_items_together_are_the_metric(name: str, kind: str) -> None:
    prediction, annotations = predicted(SCALES[kind], size=60), people(SCALES[kind], size=60)
    result = item_scores(prediction, annotations, [name])
    if name in NOT_MADE_OF_ITEMS or (kind == "multi-label" and name in NOT_OF_SETS):
        assert result == {}
        return
    assert tuple(result) == parts_of(name)
    n = len(next(iter(result.values()))[0])
    assert all(len(items) == len(scores) == n for items, scores in result.values())
    assert all(set(items) <= set(prediction.items) for items, _ in result.values())
    built = statistic(name, {part: scores[None] for part, (_, scores) in result.items()})
    assert built is not None
    expected = METRICS[name](prediction, annotations)
    assert built(np.ones((1, n)))[0, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_what_is_no_mean_over_items_is_a_function_of_labels_or_of_the_whole(name: str) -> None:
    metric = METRICS[name]
    assert (metric.parts == (OBSERVED, PREDICTED)) == (name in ("macro-F1", "CCC"))
    if isinstance(metric.formula, OverItems):
        assert name not in NOT_MADE_OF_ITEMS
    if isinstance(metric.formula, Whole):
        assert name in NOT_MADE_OF_ITEMS or metric.statistic is not None


@pytest.mark.parametrize("name", ["annotator accuracy", "annotator error", "annotator distance"])
def test_contributions_are_the_influence_of_an_item(name: str) -> None:
    """To leave an item out moves the score by what its contribution says, up to 1 / n^2."""
    kind = "ordinal"
    prediction, annotations = predicted(SCALES[kind], size=400), people(SCALES[kind], size=400)
    metric = METRICS[name]
    items, contributions = metric.item_scores(prediction, annotations)[name]
    n, whole = len(items), metric(prediction, annotations)
    moved = []
    for item in list(items)[:40]:
        code = annotations.items.find([item])[0]
        without = annotations.take(annotations.item != code)
        moved.append((n - 1) * (whole - metric(prediction, without)))
    np.testing.assert_allclose(moved, contributions[:40] - whole, atol=0.05)
    assert np.std(contributions[:40]) > 0.2


def test_a_perfect_prediction_has_equal_contributions() -> None:
    annotations = people(SCALES["nominal"])
    _, scores = METRICS["annotator accuracy"].item_scores(perfect(annotations), annotations)[
        "annotator accuracy"
    ]
    np.testing.assert_allclose(scores, 1)


def test_metrics_that_are_not_made_of_items_have_no_statistic() -> None:
    assert statistic("DIC", {}) is None
