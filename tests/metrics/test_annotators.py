from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics import (
    accuracy_by_annotator,
    annotator_accuracy,
    annotator_ccc,
    annotator_error,
    compared,
    concordance,
)
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import Interval
from tests.metrics.crowds import SCALES, pairs_of, people, predicted, rows_of


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_accuracy_answer_by_answer(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    asked = pairs_of(prediction)
    hits = defaultdict(list)
    for item, annotator, answer in rows_of(annotations):
        if (item, annotator) in asked:
            hits[annotator].append(asked[item, annotator] == answer)
    each = [
        float(np.mean(hits[name])) if name in hits else np.nan for name in annotations.annotators
    ]
    assert np.isnan(each).sum() == 2  # a0 and a1 were not predicted
    np.testing.assert_allclose(accuracy_by_annotator(prediction, annotations), each)
    assert annotator_accuracy(prediction, annotations) == pytest.approx(np.nanmean(each))
    assert compared(prediction, annotations).pairs == sum(len(found) for found in hits.values())


def test_ratings_answer_by_answer() -> None:
    annotations, prediction = people(SCALES["interval"]), predicted(SCALES["interval"])
    asked = pairs_of(prediction)
    met = [(answer, asked[i, a]) for i, a, answer in rows_of(annotations) if (i, a) in asked]
    given, guessed = np.array(met).T
    assert annotator_ccc(prediction, annotations) == pytest.approx(concordance(given, guessed))
    expected = np.abs(given - guessed).mean()
    assert annotator_error(prediction, annotations) == pytest.approx(expected)


def test_error_of_levels_is_in_levels() -> None:
    annotations, prediction = people(SCALES["ordinal"]), predicted(SCALES["ordinal"])
    asked = pairs_of(prediction)
    apart = [abs(answer - asked[i, a]) for i, a, answer in rows_of(annotations) if (i, a) in asked]
    assert annotator_error(prediction, annotations) == pytest.approx(np.mean(apart))


def test_each_repeated_answer_is_compared() -> None:
    rows = [("t1", "ann", 2), ("t1", "ann", 6), ("t1", "bob", 9)]
    annotations = Annotations.from_rows(rows, Interval(0, 10), repeats="keep")
    pairs = ByAnnotator(np.array([0]), np.array([0]), Names(["ann"]), np.array([3.0]))
    mass = annotations.distribution()
    prediction = Prediction(annotations.scale, annotations.items, mass, np.array([3.0]), pairs)
    assert compared(prediction, annotations) == (1, 2)
    assert annotator_error(prediction, annotations) == pytest.approx((1 + 3) / 2)


def test_a_prediction_of_nobody_is_nan() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    nobody = ByAnnotator(np.zeros(0, int), np.zeros(0, int), Names.range(0), np.zeros(0, int))
    assert np.isnan(annotator_accuracy(replace(prediction, by_annotator=nobody), annotations))


def test_what_is_missing_is_said() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    with pytest.raises(DataError) as error:
        annotator_accuracy(replace(prediction, by_annotator=None), annotations)
    assert str(error.value) == (
        "a score per annotator needs predictions by annotator; this method made none"
    )
    with pytest.raises(DataError) as error:
        annotator_accuracy(prediction, replace(annotations, annotator=None))
    assert str(error.value) == (
        "a score per annotator needs to know who answered; these answers are anonymous"
    )
