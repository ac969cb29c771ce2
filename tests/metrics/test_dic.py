"""Against scikit-learn's kappa, one pair after another."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, Dic, dic_floor, dic_of
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import Nominal
from tests.metrics.crowds import SCALES, pairs_of, people, perfect, predicted, rows_of

accuracy_by_annotator = METRICS["annotator accuracy"].annotator_scores

Answers = dict[str, dict[str, int]]  # annotator -> item -> answer


def one_by_one(first: Answers, second: Answers, at_least: int) -> Dic:
    """The definition with a loop over pairs; both hold the same items of each annotator."""
    squares, left_out = [], 0
    for k, other in combinations(first, 2):
        items = sorted(first[k].keys() & first[other].keys())
        if len(items) < at_least:
            left_out += bool(items)
            continue
        kappas = []
        for answers in (first, second):
            a, b = ([answers[who][item] for item in items] for who in (k, other))
            same = len({*a, *b}) == 1
            kappas.append(1.0 if same else cohen_kappa_score(a, b))
        squares += [(kappas[0] - kappas[1]) ** 2] * 2
    if not squares:
        return Dic(float("nan"), float("nan"), 0, left_out)
    return Dic(np.sqrt(sum(squares)), np.sqrt(np.mean(squares)), len(squares) // 2, left_out)


def answers_of(prediction: Prediction, annotations: Annotations) -> tuple[Answers, Answers]:
    requested = pairs_of(prediction)
    given: Answers = {name: {} for name in annotations.annotators}
    guessed: Answers = {name: {} for name in annotations.annotators}
    for item, annotator, answer in rows_of(annotations):
        if (item, annotator) in requested:
            given[annotator][item] = int(answer)
            guessed[annotator][item] = int(requested[item, annotator])
    return given, guessed


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
@pytest.mark.parametrize("at_least", [1, 38, 45])
def test_equals_scikit_learn_pair_by_pair(kind: str, at_least: int) -> None:
    for seed in range(3):
        annotations = people(SCALES[kind], seed, 400)
        prediction = predicted(SCALES[kind], seed, 400)
        expected = one_by_one(*answers_of(prediction, annotations), at_least)
        assert dic_of(prediction, annotations, at_least) == pytest.approx(expected)


def test_pairs_with_few_common_items_are_left_out_and_counted() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    result = dic_of(prediction, annotations)
    assert (result.pairs, result.left_out) == (0, 10) and np.isnan(result.value)
    assert np.isnan(METRICS["DIC"](prediction, annotations))
    assert dic_of(prediction, annotations, at_least=1).pairs == 10


def test_equal_predictions_have_none() -> None:
    annotations = people(SCALES["nominal"], size=400)
    assert dic_of(perfect(annotations), annotations)[:2] == (0, 0)


def table(*columns: str) -> Annotations:
    """A column of one-letter answers per annotator; a dot is no answer."""
    rows = [
        (f"t{item}", f"a{who}", answer)
        for who, column in enumerate(columns)
        for item, answer in enumerate(column)
        if answer != "."
    ]
    return Annotations.from_rows(rows, Nominal(("x", "y", "z")))


def says(annotations: Annotations, *columns: str) -> Prediction:
    """The same annotators, predicted to answer so."""
    guessed = table(*columns)
    requested = ByAnnotator(
        guessed.item, guessed.annotator_codes("here"), guessed.annotators, guessed.answer
    )
    mass = guessed.distribution()
    return Prediction(guessed.scale, guessed.items, mass, mass.argmax(axis=1), requested)


def test_undefined_kappas_are_read_as_1() -> None:
    annotations = table("xxxx", "xxxx")
    assert dic_of(says(annotations, "xyxy", "xyxy"), annotations, 1) == (0, 0, 1, 0)
    result = dic_of(says(annotations, "xxyy", "yyxx"), annotations, 1)  # kappa 1 against -1
    assert result.value == pytest.approx(np.sqrt(2 * 2**2)) and result.normalised == 2
    different = dic_of(says(annotations, "xxxx", "yyyy"), annotations, 1)  # kappa 0: no chance
    assert different.normalised == pytest.approx(1)


def test_only_common_items_count() -> None:
    annotations = table("xyxy..", "..xyxx")
    assert dic_of(says(annotations, "yyxy..", "..xyyy"), annotations, 1).value == 0
    apart = table("xy..", "..xy")
    assert dic_of(perfect(apart), apart, 1)[2:] == (0, 0)


def test_the_predicted_value_counts_as_for_the_accuracy() -> None:
    annotations = table("xyxyz", "xyyxz")
    prediction = says(annotations, "xyxyz", "xyyxz")
    assert prediction.by_annotator is not None
    elsewhere = np.eye(3)[(prediction.by_annotator.value + 1) % 3]
    requested = replace(prediction.by_annotator, distribution=elsewhere)
    prediction = replace(prediction, by_annotator=requested)
    assert accuracy_by_annotator(prediction, annotations).tolist() == [1, 1]
    assert dic_of(prediction, annotations, 1).value == 0


def test_answers_given_twice_change_nothing() -> None:
    annotations = people(SCALES["nominal"], size=400)
    prediction = predicted(SCALES["nominal"], size=400)
    twice = replace(annotations.take(np.tile(np.arange(annotations.n_rows), 2)), repeats=True)
    assert dic_of(prediction, twice) == pytest.approx(dic_of(prediction, annotations))


# ---- the floor of noise ----


def test_floor_is_the_mean_over_random_halves() -> None:
    annotations = people(SCALES["nominal"], size=200)
    generator = np.random.default_rng(7)
    answered = np.flatnonzero(annotations.per_item())
    expected = []
    for _ in range(3):
        first = set(generator.permutation(answered)[: len(answered) // 2].tolist())
        halves: list[Answers] = [{name: {} for name in annotations.annotators} for _ in range(2)]
        for item, annotator, answer in rows_of(annotations):
            halves[int(item[1:]) not in first][annotator][item] = int(answer)
        expected.append(between(*halves))
    result = dic_floor(annotations, n_splits=3, seed=7)
    assert result[:2] == pytest.approx(tuple(np.mean(expected, axis=0)))
    assert result[2:] == (21, 0)


def between(first: Answers, second: Answers) -> tuple[float, float]:
    squares = []
    for k, other in combinations(first, 2):
        kappas = []
        for answers in (first, second):
            items = sorted(answers[k].keys() & answers[other].keys())
            kappas.append(
                cohen_kappa_score(*([answers[who][i] for i in items] for who in (k, other)))
            )
        squares += [(kappas[0] - kappas[1]) ** 2] * 2
    return float(np.sqrt(sum(squares))), float(np.sqrt(np.mean(squares)))


def test_floor_is_seeded_and_falls_with_more_items() -> None:
    few, many = (people(SCALES["nominal"], size=size) for size in (200, 2000))
    assert dic_floor(few) == dic_floor(few)
    assert dic_floor(few, seed=1) != dic_floor(few)
    assert dic_floor(many).normalised < dic_floor(few).normalised / 2


def test_floor_has_the_pairs_of_dic() -> None:
    annotations = people(SCALES["nominal"], size=100)
    common = dic_of(perfect(annotations), annotations, at_least=35)
    assert 0 < common.pairs < 21
    assert dic_floor(annotations, at_least=35)[2:] == common[2:]
    nobody = dic_floor(annotations, at_least=1000)
    assert np.isnan(nobody.value) and nobody[2:] == (0, 21)
