from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from dissensus.annotations import Annotations
from dissensus.metrics import METRICS
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import MultiLabel, Nominal, Ordinal, Scale
from tests.metrics.crowds import SCALES, people, perfect, predicted

accuracy = METRICS["accuracy"]
macro_f1 = METRICS["macro-F1"]
micro_f1 = METRICS["micro-F1"]
weighted_f1 = METRICS["weighted F1"]


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


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_equals_scikit_learn(kind: str) -> None:
    for seed in range(20):
        annotations, prediction = people(SCALES[kind], seed), predicted(SCALES[kind], seed)
        truth, answer = labels(prediction, annotations)
        assert accuracy(prediction, annotations) == pytest.approx(accuracy_score(truth, answer))
        for metric, average in (
            (macro_f1, "macro"),
            (micro_f1, "micro"),
            (weighted_f1, "weighted"),
        ):
            expected = f1_score(truth, answer, average=average, zero_division=0)
            assert metric(prediction, annotations) == pytest.approx(expected)


def test_sets_equal_scikit_learn_too() -> None:
    scale = SCALES["multi-label"]
    assert isinstance(scale, MultiLabel)
    for seed in range(20):
        annotations, prediction = people(scale, seed), predicted(scale, seed)
        truth, answer = (scale.one_hot(np.array(side)) for side in labels(prediction, annotations))
        assert accuracy(prediction, annotations) == pytest.approx(accuracy_score(truth, answer))
        expected = f1_score(truth, answer, average="micro", zero_division=0)
        assert micro_f1(prediction, annotations) == pytest.approx(expected)
        expected = f1_score(truth, answer, average="weighted", zero_division=0)
        assert weighted_f1(prediction, annotations) == pytest.approx(expected)
        occur = (truth + answer).any(axis=0)
        expected = f1_score(truth[:, occur], answer[:, occur], average="macro", zero_division=0)
        assert macro_f1(prediction, annotations) == pytest.approx(expected)


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
