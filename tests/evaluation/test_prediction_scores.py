"""`evaluate`: what the command prints, as an object."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

import dissensus as ds
from dissensus.evaluation import evaluate, over_items
from dissensus.methods import AnnotatorMajority, AnnotatorMedian, Prior
from dissensus.metrics import METRICS, bounds, item_scores, scores
from tests.crowds import feature_crowd

CROWD = feature_crowd("ordinal", n_items=60)
FLOORS = {m.name: m.fit(CROWD).predict(CROWD) for m in (Prior(), AnnotatorMajority())}


def test_one_prediction_is_scored_as_by_hand() -> None:
    built = FLOORS["annotator-majority"]
    evaluation = ds.evaluation.evaluate(built, CROWD)
    (result,) = evaluation.results
    assert (result.question, result.part, result.method) == ("q", None, "annotator-majority")
    assert (result.items, result.answers) == (60, CROWD["q"].n_rows)
    assert result.scores == scores(built["q"], CROWD["q"])
    assert result.bounds == bounds(["cross-entropy", "Wasserstein"], CROWD["q"])
    assert evaluation.notes == () and result.intervals == {}


def test_tables_are_rows_of_metrics_and_columns_of_methods() -> None:
    evaluation = evaluate(FLOORS, CROWD, metrics=["annotator accuracy", "TVD"])
    (table,) = evaluation.tables()
    assert table.title == "made-up, q"
    assert table.columns == ("", "prior", "annotator-majority", "perfect", "constant", "better")
    assert [row[0] for row in table.rows] == [
        "items compared", "answers by annotator", "annotator accuracy", "TVD",
    ]  # fmt: skip
    assert table.rows[3][3] == "0.000" and table.rows[3][-1] == "lower"
    assert table.notes[0].startswith("Strongest floor: ")
    assert str(evaluation).splitlines()[0] == "made-up, q"
    long = evaluation.to_table().to_pylist()
    assert [(row["method"], row["metric"]) for row in long] == [
        (method, metric) for method in FLOORS for metric in ("annotator accuracy", "TVD")
    ]
    assert long[0]["score"] == evaluation.results[0].scores["annotator accuracy"]


def test_intervals_are_over_items_where_a_metric_is_made_of_items() -> None:
    built = FLOORS["annotator-majority"]
    (result,) = evaluate(built, CROWD, metrics=METRICS, intervals=True).results
    assert {"cross-entropy", "macro-F1", "annotator accuracy", "Clark"} <= result.intervals.keys()
    assert not {"DIC", "ECE", "annotator accuracy, worst decile"} & result.intervals.keys()
    for name, (low, high) in result.intervals.items():
        assert np.isnan(low) or low <= result.scores[name] <= high, name
    each = item_scores(built["q"], CROWD["q"], ["accuracy"])["accuracy"][1]
    by_hand = over_items(each, np.zeros_like(each), resamples=2000)
    assert result.intervals["accuracy"] == (by_hand.low, by_hand.high)
    assert "[" in str(evaluate(built, CROWD, intervals=True))


def test_items_of_one_group_are_resampled_together() -> None:
    groups = pa.array([f"g{k // 6}" for k in range(60)])
    grouped = replace(CROWD, group="g", item_attributes={"g": groups})
    results = [
        evaluate(FLOORS["prior"], corpus, metrics=["accuracy"], intervals=True).results[0]
        for corpus in (CROWD, grouped)
    ]
    assert results[0].scores == results[1].scores
    assert results[0].intervals != results[1].intervals


def test_strongest_floors_are_named() -> None:
    floors = FLOORS | {"annotator-median": AnnotatorMedian().fit(CROWD).predict(CROWD)}
    (table,) = evaluate(floors, CROWD, metrics=["annotator accuracy", "annotator error"]).tables()
    assert "annotator-majority (annotator accuracy" in table.notes[0]
