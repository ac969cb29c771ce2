"""Metrics of labels and ratings: against scikit-learn, by hand and by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error

from dissensus.agreement import concordance_matrix
from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, concordance
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale
from tests.metrics.crowds import SCALES, people, perfect, predicted

accuracy = METRICS["accuracy"]
macro_f1 = METRICS["macro-F1"]
ccc = METRICS["CCC"]


def labels(prediction: Prediction, annotations: Annotations) -> tuple[list[int], list[int]]:
    """People's and predicted consensus of the common items, one by one."""
    truth = annotations.consensus()
    of = {annotations.items[i]: int(a) for i, a in zip(truth.item, truth.answer, strict=True)}
    common = [
        (of[name], int(c))
        for name, c in zip(prediction.items, prediction.consensus, strict=True)
        if name in of
    ]
    return [a for a, _ in common], [b for _, b in common]


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
def test_equals_scikit_learn(kind: str) -> None:
    scale = SCALES[kind]
    for seed in range(20):
        annotations, prediction = people(scale, seed), predicted(scale, seed)
        truth, answer = map(np.array, labels(prediction, annotations))
        if isinstance(scale, MultiLabel):
            truth, answer = scale.one_hot(truth), scale.one_hot(answer)
        assert accuracy(prediction, annotations) == pytest.approx(accuracy_score(truth, answer))
        if kind == "ordinal":
            error = METRICS["MAE"](prediction, annotations)
            assert error == pytest.approx(mean_absolute_error(truth, answer))
        for average in ("micro", "weighted", "macro"):
            name = "weighted F1" if average == "weighted" else f"{average}-F1"
            if average == "macro" and kind == "multi-label":  # over the values that occur
                occur = (truth + answer).any(axis=0)
                truth, answer = truth[:, occur], answer[:, occur]
            expected = f1_score(truth, answer, average=average, zero_division=0)
            assert METRICS[name](prediction, annotations) == pytest.approx(expected)


def test_values_that_never_occur_do_not_count() -> None:
    scale = Nominal(("a", "b", "never"))
    rows = [("t1", "ann", "a"), ("t2", "ann", "b"), ("t3", "ann", "b")]
    annotations = Annotations.from_rows(rows, scale)
    assert macro_f1(perfect(annotations), annotations) == 1
    guess = Prediction(scale, annotations.items, np.eye(3)[[0, 0, 1]], np.array([0, 0, 1]))
    assert macro_f1(guess, annotations) == pytest.approx(2 / 3)
    rare = Prediction(scale, annotations.items, np.eye(3)[[0, 1, 2]], np.array([0, 1, 2]))
    assert macro_f1(rare, annotations) == pytest.approx((1 + 2 / 3 + 0) / 3)


@pytest.mark.parametrize(
    ("scale", "right"),
    [(Nominal(("a", "b", "c")), 0), (Ordinal(("a", "b", "c")), 1)],
    ids=["nominal: the first that ties", "ordinal: the median"],
)
def test_tie_rule(scale: Scale, right: int) -> None:
    rows = [("t1", p, v) for p, v in zip("vwxyz", "aabcc", strict=True)]
    annotations = Annotations.from_rows(rows, scale)
    hits = []
    for code in range(3):
        guess = Prediction(scale, annotations.items, np.eye(3)[[code]], np.array([code]))
        hits.append(accuracy(guess, annotations))
    assert hits == [float(code == right) for code in range(3)]


def test_values_in_another_order_are_matched_by_name() -> None:
    annotations = Annotations.from_rows([("t1", "ann", "no"), ("t2", "ann", "yes")])
    scale = Nominal(("yes", "no", "maybe"))
    guess = Prediction(scale, Names(["t2", "t1"]), np.eye(3)[[0, 1]], np.array([0, 1]))
    assert accuracy(guess, annotations) == 1


def test_gold_values_that_cannot_be_predicted_are_missed() -> None:
    gold = Annotations.from_arrays(["t1", "t2"], None, ["yes", "dunno"])
    scale = Nominal(("yes", "no"))
    guess = Prediction(scale, Names(["t1", "t2"]), np.eye(2)[[0, 0]], np.array([0, 0]))
    assert accuracy(guess, gold) == 0.5
    assert macro_f1(guess, gold) == pytest.approx((2 / 3 + 0) / 2)


def by_definition(x: np.ndarray, y: np.ndarray) -> float:
    """The correlation times the standard deviations, unbiased."""
    sx, sy = x.std(ddof=1), y.std(ddof=1)
    rho = np.corrcoef(x, y)[0, 1]
    return float(2 * rho * sx * sy / (sx**2 + sy**2 + (x.mean() - y.mean()) ** 2))


def test_ccc_compares_consensus_with_mean_ratings() -> None:
    annotations, prediction = people(SCALES["interval"]), predicted(SCALES["interval"])
    means, answers = [], []
    for name, answer in zip(prediction.items, prediction.consensus, strict=True):
        code = annotations.items.find([name])[0]
        ratings = annotations.answer[annotations.item == code]
        if code >= 0 and len(ratings):
            means.append(ratings.mean())
            answers.append(answer)
    expected = by_definition(np.array(means), np.array(answers))
    assert ccc(prediction, annotations) == pytest.approx(expected)


def test_the_metric_divides_by_one_less_than_the_measure_of_agreement() -> None:
    """Variances of the metric are unbiased, those between annotators Lin's own, divided by n."""
    x, y = np.array([1.0, 2, 3]), np.array([2.0, 4, 6])
    rows = [(f"t{n}", who, value) for who, of in (("a", x), ("b", y)) for n, value in enumerate(of)]
    ratings = Annotations.from_rows(rows, Interval(0, 10))
    s_x, s_y, s_xy = 2 / 3, 8 / 3, 4 / 3
    assert concordance_matrix(ratings)[0, 1] == pytest.approx(2 * s_xy / (s_x + s_y + 4))
    assert concordance(x, y) == pytest.approx(2 * 2 / (1 + 4 + 4))


def test_shifts_and_signs() -> None:
    x = np.random.default_rng(0).random(50)
    assert concordance(x, x) == pytest.approx(1)
    assert concordance(x, 2 * x.mean() - x) == pytest.approx(-1)
    assert 0 < concordance(x, x + 0.1) < 1


def test_a_constant_prediction_has_zero_and_two_constants_nothing() -> None:
    annotations, prediction = people(SCALES["interval"]), predicted(SCALES["interval"])
    constant = replace(prediction, consensus=np.full(40, 0.3))
    assert ccc(constant, annotations) == pytest.approx(0, abs=1e-15)
    same = Annotations.from_rows([("t1", "ann", 2), ("t2", "ann", 2)], Interval(0, 4))
    flat = Prediction(same.scale, same.items, same.distribution(), np.array([2.0, 2.0]))
    assert np.isnan(ccc(flat, same))


def test_one_item_is_not_enough() -> None:
    alone = Annotations.from_rows([("t1", "ann", 2)], Interval(0, 4))
    guess = Prediction(alone.scale, Names(["t1"]), alone.distribution(), np.array([3.0]))
    assert np.isnan(ccc(guess, alone))
