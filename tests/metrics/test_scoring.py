"""Names of metrics, what is scored when, and what could be reached."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, bounds, metric_name, scores
from tests.metrics.crowds import SCALES, people, perfect, predicted

cross_entropy = METRICS["cross-entropy"]


def floor(annotations: Annotations) -> float:
    """The cross-entropy of the perfect prediction."""
    return bounds(["cross-entropy"], annotations)["cross-entropy"].perfect


SOFT = [
    pytest.param(name, kind, id=f"{name}, {kind}")
    for name, metric in METRICS.items()
    if metric.soft
    for kind in metric.scales
]


@pytest.mark.parametrize(("name", "kind"), SOFT)
def test_bounds_are_those_of_a_perfect_and_a_constant_prediction(name: str, kind: str) -> None:
    annotations = people(SCALES[kind])
    best = perfect(annotations)
    same = np.tile(best.distribution.mean(axis=0), (len(best.items), 1))
    constant = replace(best, distribution=same)
    function = METRICS[name]
    expected = function(best, annotations), function(constant, annotations)
    assert bounds([name], annotations)[name] == pytest.approx(expected, nan_ok=True)
    some = predicted(SCALES[kind]).items
    shared = np.array([item in some for item in annotations.items])
    these = annotations.take(shared[annotations.item])
    result = bounds([name], annotations, some)
    assert result[name] == pytest.approx(bounds([name], these)[name], nan_ok=True)


def test_nothing_to_compare_has_no_bounds() -> None:
    for scale in SCALES.values():
        nobody = people(scale).take(np.zeros(0, dtype=int))
        assert np.isnan([*bounds(METRICS, nobody).values()]).all()


def test_only_soft_metrics_for_the_scale_have_bounds() -> None:
    result = bounds(METRICS, people(SCALES["interval"]))
    assert list(result) == ["Wasserstein", "JSD", "TVD", "Manhattan"]


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_found_however_it_is_spelled(name: str) -> None:
    assert metric_name(name) == name
    assert metric_name(name.lower().replace(", ", "-").replace(" ", "-")) == name
    assert metric_name(f" {name.upper()} ") == name


@pytest.mark.parametrize("kind", SCALES)
def test_all_metrics_are_those_that_apply(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    every = [name for name, metric in METRICS.items() if kind in metric.scales]
    assert list(scores(prediction, annotations, metrics=METRICS)) == every
    assert set(scores(prediction, annotations)) < set(every)
    pairs = prediction.by_annotator
    assert pairs is not None
    fewer = replace(prediction, by_annotator=replace(pairs, distribution=None), members=None)
    left = set(every) - set(scores(fewer, annotations, metrics=METRICS))
    assert left == {n for n in every if METRICS[n].needs in ("annotator distributions", "members")}


def test_metrics_are_defined_in_a_line() -> None:
    for name, metric in METRICS.items():
        assert metric.definition and "\n" not in metric.definition, name
        assert not metric.definition.endswith("."), name


def test_the_page_on_metrics_lists_every_metric() -> None:
    """`make docs` writes the table."""
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "metrics.md").read_text(encoding="utf-8")
    assert runpy.run_path(str(docs / "update_metrics.py"))["updated"](page) == page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(METRICS)
