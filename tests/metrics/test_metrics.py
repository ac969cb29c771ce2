"""What is promised of every metric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, Metric, compared, scores
from dissensus.names import Names
from dissensus.scales import Nominal, Scale
from tests.error_texts import error_text
from tests.metrics.crowds import (
    SCALES,
    people,
    perfect,
    predicted,
    renamed,
    shuffled,
    with_other_values,
)

SIZE = 400  # items, so that two people have 30 in common

EVERY = [
    pytest.param(metric, SCALES[kind], id=f"{name}, {kind}")
    for name, metric in METRICS.items()
    for kind in metric.scales
]
every_metric = pytest.mark.parametrize(("metric", "scale"), EVERY)


@every_metric
def test_order_and_names_do_not_matter(metric: Metric, scale: Scale) -> None:
    annotations, prediction = people(scale, size=SIZE), predicted(scale, size=SIZE)
    expected = metric(prediction, annotations)
    assert np.isfinite(expected)
    for change in (shuffled, renamed, with_other_values):
        moved, answer = change(annotations, prediction)
        assert metric(answer, moved) == pytest.approx(expected, abs=1e-12)


@every_metric
def test_items_that_were_not_predicted_or_answered_do_not_count(
    metric: Metric, scale: Scale
) -> None:
    annotations, prediction = people(scale, size=SIZE), predicted(scale, size=SIZE)
    shared = annotations.items.find(prediction.items)
    shared = np.sort(shared[shared >= 0])
    fewer = annotations.select_items(shared, annotations.items.take(shared))
    assert fewer.n_rows < annotations.n_rows
    expected = metric(prediction, annotations)
    assert metric(prediction, fewer) == pytest.approx(expected)


@every_metric
def test_nothing_in_common_is_nan(metric: Metric, scale: Scale) -> None:
    annotations, prediction = people(scale, size=SIZE), predicted(scale, size=SIZE)
    elsewhere = replace(prediction, items=Names([f"x{i}" for i in range(SIZE)]))
    assert np.isnan(metric(elsewhere, annotations))
    assert np.isnan(metric(prediction, annotations.take(np.zeros(0, dtype=int))))


@every_metric
def test_the_perfect_prediction_is_the_best(metric: Metric, scale: Scale) -> None:
    annotations = people(scale, size=SIZE)
    best = metric(perfect(annotations), annotations)
    for seed in range(5):
        other = metric(predicted(scale, seed, SIZE), annotations)
        assert best > other if metric.higher_is_better else best < other


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", SCALES)
def test_other_scales_are_refused(name: str, kind: str) -> None:
    metric, scale = METRICS[name], SCALES[kind]
    if kind in metric.scales:
        return
    message = error_text(metric, predicted(scale), people(scale))
    kinds = " and ".join(", ".join(metric.scales).rsplit(", ", 1))
    assert message == f"{name} is for {kinds} answers, not for {kind} ones"


def test_tables_lead_with_the_soft_metrics_of_the_scale() -> None:
    def names(kind: str) -> list[str]:
        return list(scores(predicted(SCALES[kind]), people(SCALES[kind])))

    assert names("nominal") == ["cross-entropy", "macro-F1", "accuracy", "annotator accuracy"]
    assert names("ordinal") == [
        "cross-entropy",
        "Wasserstein",
        "macro-F1",
        "accuracy",
        "MAE",
        "annotator accuracy",
        "annotator median accuracy",
        "annotator error",
    ]
    assert names("interval") == ["CCC", "Wasserstein", "MAE", "annotator CCC", "annotator error"]
    assert names("multi-label") == ["cross-entropy", "macro-F1", "accuracy"]


def test_scores_are_the_metrics_one_by_one() -> None:
    for scale in SCALES.values():
        annotations, prediction = people(scale), predicted(scale)
        for name, score in scores(prediction, annotations).items():
            assert score == METRICS[name](prediction, annotations)


def test_gold_adds_scores_against_it() -> None:
    scale = SCALES["nominal"]
    annotations, prediction = people(scale), predicted(scale)
    gold = annotations.majority(ties="last")
    result = scores(prediction, annotations, gold)
    assert list(result)[-2:] == ["macro-F1 (gold)", "accuracy (gold)"]
    assert result["accuracy (gold)"] == METRICS["accuracy"](prediction, gold)
    ratings = predicted(SCALES["interval"])
    assert list(scores(ratings, people(SCALES["interval"]), gold)) == list(
        scores(ratings, people(SCALES["interval"]))
    )


def test_without_names_there_are_no_scores_per_annotator() -> None:
    scale = SCALES["nominal"]
    annotations, prediction = people(scale), predicted(scale)
    items_only = ["cross-entropy", "macro-F1", "accuracy"]
    assert list(scores(replace(prediction, by_annotator=None), annotations)) == items_only
    anonymous = replace(annotations, annotator=None, annotators=Names.range(0))
    assert list(scores(prediction, anonymous)) == items_only


def test_counts_stand_for_people() -> None:
    scale = Nominal(("a", "b"))
    votes = Annotations.from_arrays(
        np.array([0, 0, 1]), None, np.array([0, 1, 1]), scale, count=np.array([3, 1, 2])
    )
    rows = [(0, w, "a") for w in range(3)] + [(0, 3, "b"), (1, 0, "b"), (1, 1, "b")]
    named = Annotations.from_rows(rows, scale)
    prediction = replace(perfect(named), by_annotator=None)
    prediction = replace(prediction, distribution=np.array([[0.6, 0.4], [0.3, 0.7]]))
    assert scores(prediction, votes) == scores(prediction, named)


def test_compared_counts_items_and_answers() -> None:
    scale = SCALES["ordinal"]
    annotations, prediction = people(scale), predicted(scale)
    difference = compared(prediction, annotations)
    assert difference.items == len({f"i{i}" for i in range(20, 37)} & set(prediction.items))
    assert difference.pairs < annotations.n_rows
    assert compared(replace(prediction, by_annotator=None), annotations) == (difference.items, 0)
