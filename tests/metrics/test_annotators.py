from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score, log_loss

from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, compared, concordance, worst_decile
from dissensus.names import Names
from dissensus.networks.likelihoods import likelihood
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import Interval, Ordinal
from tests.metrics.crowds import SCALES, pairs_of, people, predicted, rows_of

accuracy_by_annotator = METRICS["annotator accuracy"].annotator_scores
annotator_accuracy = METRICS["annotator accuracy"]
annotator_ccc = METRICS["annotator CCC"]
annotator_error = METRICS["annotator error"]
ccc_by_annotator = METRICS["annotator CCC, mean"].annotator_scores
cross_entropy_by_annotator = METRICS["annotator cross-entropy"].annotator_scores
distance_by_annotator = METRICS["annotator distance"].annotator_scores
macro_f1_by_annotator = METRICS["annotator macro-F1"].annotator_scores


def person_by_person(
    prediction: Prediction, annotations: Annotations
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(given, predicted, predicted distributions) of each annotator's compared answers."""
    requested = prediction.by_annotator
    assert requested is not None and requested.distribution is not None
    row = {
        (prediction.items[i], requested.annotators[a]): k
        for k, (i, a) in enumerate(zip(requested.item, requested.annotator, strict=True))
    }
    met = defaultdict(list)
    for item, annotator, answer in rows_of(annotations):
        if (item, annotator) in row:
            met[annotator].append((answer, row[item, annotator]))
    results = {}
    for annotator, pairs in met.items():
        rows = [k for _, k in pairs]
        given = np.array([answer for answer, _ in pairs])
        results[annotator] = given, requested.value[rows], requested.distribution[rows]
    return results


ONE_BY_ONE: dict[str, tuple[Any, Any, str]] = {
    "accuracy": (accuracy_by_annotator, lambda g, p, q: (g == p).mean(), "nominal"),
    "macro-F1": (
        macro_f1_by_annotator,
        lambda g, p, q: f1_score(g, p, average="macro", zero_division=0),
        "nominal",
    ),
    "weighted F1": (
        METRICS["annotator weighted F1"].annotator_scores,
        lambda g, p, q: f1_score(g, p, average="weighted", zero_division=0),
        "nominal",
    ),
    "cross-entropy": (
        cross_entropy_by_annotator,
        lambda g, p, q: log_loss(g, q, labels=range(4)),
        "nominal",
    ),
    "distance": (distance_by_annotator, lambda g, p, q: np.abs(g - p).mean(), "interval"),
    "CCC": (ccc_by_annotator, lambda g, p, q: concordance(g, p), "interval"),
}


@pytest.mark.parametrize(("each", "one", "kind"), ONE_BY_ONE.values(), ids=ONE_BY_ONE)
def test_each_person_by_a_reference(each: Any, one: Any, kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    of = person_by_person(prediction, annotations)
    expected = [one(*of[name]) if name in of else np.nan for name in annotations.annotators]
    assert np.isnan(expected).sum() == 2  # a0 and a1 were not predicted
    np.testing.assert_allclose(each(prediction, annotations), expected)


@pytest.mark.parametrize(
    "name", [name for name in ONE_BY_ONE if name not in ("CCC", "weighted F1")]
)
def test_three_ways_to_sum_up(name: str) -> None:
    each, _, kind = ONE_BY_ONE[name]
    annotations = people(SCALES[kind], size=200)
    prediction = predicted(SCALES[kind], size=200)
    score = each(prediction, annotations)
    score = score[~np.isnan(score)]
    of = person_by_person(prediction, annotations)
    answers = [len(of[person][0]) for person in annotations.annotators if person in of]
    assert min(answers) >= 10 and len(set(answers)) > 1
    higher = METRICS[f"annotator {name}"].higher_is_better
    expected = {
        "": score.mean(),
        ", weighted": np.average(score, weights=answers),
        ", worst decile": score.min() if higher else score.max(),  # a tenth of 5 is 1 person
    }
    results = {w: METRICS[f"annotator {name}{w}"](prediction, annotations) for w in expected}
    assert results == pytest.approx(expected)


def test_ccc_is_also_a_mean_over_people() -> None:
    annotations, prediction = people(SCALES["interval"]), predicted(SCALES["interval"])
    each = ccc_by_annotator(prediction, annotations)
    result = METRICS["annotator CCC, mean"](prediction, annotations)
    assert result == pytest.approx(np.nanmean(each))
    assert result != pytest.approx(annotator_ccc(prediction, annotations))


def test_a_person_whose_ratings_never_vary_has_no_ccc() -> None:
    rows = [("t1", "ann", 2), ("t2", "ann", 2), ("t1", "bob", 1), ("t2", "bob", 3), ("t1", "c", 1)]
    annotations = Annotations.from_rows(rows, Interval(0, 4))
    who = annotations.annotator_codes("here")
    pairs = ByAnnotator(annotations.item, who, annotations.annotators, np.array([3.0, 3, 1, 3, 1]))
    mass = annotations.distribution()
    prediction = Prediction(annotations.scale, annotations.items, mass, np.zeros(2), pairs)
    result = ccc_by_annotator(prediction, annotations)
    np.testing.assert_allclose(result, [np.nan, 1, np.nan])


@pytest.mark.parametrize(("n", "size"), [(1, 1), (10, 1), (11, 2), (25, 3)])
def test_a_tenth_is_rounded_up(n: int, size: int) -> None:
    """Person k answers n times, k of them as predicted."""
    item, who = np.divmod(np.arange(n * n), n)
    annotations = Annotations.from_arrays(item, who, (item < who).astype(int), SCALES["nominal"])
    yes = ByAnnotator(item, who, annotations.annotators, np.ones(n * n, int))
    mass = annotations.distribution()
    prediction = Prediction(annotations.scale, annotations.items, mass, np.zeros(n), yes)
    scores = accuracy_by_annotator(prediction, annotations)
    for higher, worst in ((True, np.arange(n)[:size]), (False, np.arange(n)[-size:])):
        result = worst_decile(scores, np.full(n, n), higher_is_better=higher, at_least=1)
        assert result == pytest.approx((worst / n).mean())


@pytest.mark.parametrize("kind", ["interval", "ordinal"])
def test_errors_answer_by_answer(kind: str) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    requested = pairs_of(prediction)
    met = [
        (answer, requested[i, a]) for i, a, answer in rows_of(annotations) if (i, a) in requested
    ]
    given, guessed = np.array(met).T
    assert compared(prediction, annotations).pairs == len(met)
    if kind == "interval":
        assert annotator_ccc(prediction, annotations) == pytest.approx(concordance(given, guessed))
    expected = np.abs(given - guessed).mean()
    assert annotator_error(prediction, annotations) == pytest.approx(expected)


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


def test_cross_entropy_of_sets_is_the_mean_over_values() -> None:
    annotations, prediction = people(SCALES["multi-label"]), predicted(SCALES["multi-label"])
    result = dict(
        zip(
            annotations.annotators, cross_entropy_by_annotator(prediction, annotations), strict=True
        )
    )
    for name, (given, _, mass) in person_by_person(prediction, annotations).items():
        on = (given.astype(int)[:, None] >> np.arange(3)) & 1
        expected = -np.log(np.where(on, mass, 1 - mass)).mean()
        assert result[name] == pytest.approx(expected)


def test_accuracy_on_levels_is_of_the_most_probable_one_and_distance_of_the_median() -> None:
    scale = Ordinal(("1", "2", "3"))
    mass = np.array([[0.4, 0.25, 0.35], [0.4, 0.25, 0.35]])
    value = likelihood(scale).value(torch.from_numpy(np.log(mass))).numpy()
    assert value.tolist() == scale.consensus(mass).tolist() == [1, 1]
    answers = Annotations.from_rows([("t1", "ann", "1"), ("t2", "ann", "1")], scale)
    own = ByAnnotator(answers.item, np.array([0, 0]), Names(["ann"]), value, mass)
    prediction = Prediction(scale, answers.items, mass, value, own)
    assert annotator_accuracy(prediction, answers) == 1.0
    assert annotator_error(prediction, answers) == 1.0
    only_answers = replace(prediction, by_annotator=replace(own, distribution=None))
    assert annotator_accuracy(only_answers, answers) == 0.0
