"""What items add to a metric: together they are the metric, on every scale."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus import Annotations, Names, Prediction
from dissensus.evaluation.item_scores import (
    BY_LABELS,
    BY_SHARES,
    NOT_OF_SETS,
    RIGHT,
    item_scores,
    parts_of,
    statistic,
)
from dissensus.metrics import METRICS
from tests.crowds import feature_crowd

KINDS = ("nominal", "ordinal", "interval", "multi-label")
COVERED = [*BY_SHARES, *BY_LABELS, *RIGHT, "Wasserstein"]


def predicted_for(kind: str) -> tuple[Prediction, Annotations]:
    """A random prediction for most items, in another order, and one that nobody answered."""
    people = feature_crowd(kind, n_items=40)["q"]
    generator = np.random.default_rng(1)
    names = Names([*(str(k) for k in generator.permutation(40)[:30]), "unanswered"])
    mass = generator.random((31, people.scale.n_columns))
    if kind != "multi-label":
        mass /= mass.sum(axis=1, keepdims=True)
    return Prediction(people.scale, names, mass, people.scale.consensus(mass)), people


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", COVERED)
def test_items_together_are_the_metric(kind: str, metric: str) -> None:
    prediction, people = predicted_for(kind)
    found = item_scores(prediction, people, [metric])
    if kind not in METRICS[metric].scales or (kind == "multi-label" and metric in NOT_OF_SETS):
        assert found == {}
        return
    assert tuple(found) == parts_of(metric)
    assert all(len(names) == len(scores) == 30 for names, scores in found.values())
    made = statistic(metric, {name: scores[None] for name, (_, scores) in found.items()})
    assert made is not None
    expected = METRICS[metric].function(prediction, people)
    assert made(np.ones((1, 30)))[0, 0] == pytest.approx(expected, abs=1e-12)


def test_the_leading_metrics_of_items_can_be_tested_over_items() -> None:
    short = [name for name, metric in METRICS.items() if metric.short and metric.needs == "items"]
    assert [name for name in short if name not in COVERED] == []


def test_metrics_that_are_no_sums_over_items_are_not_there() -> None:
    prediction, people = predicted_for("nominal")
    assert item_scores(prediction, people, ["DIC", "ECE"]) == {}
    assert statistic("DIC", {}) is None
