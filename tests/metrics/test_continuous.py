from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus.agreement import concordance_matrix
from dissensus.annotations import Annotations
from dissensus.metrics import METRICS, concordance
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval
from tests.metrics.crowds import SCALES, people, predicted

ccc = METRICS["CCC"]


def by_definition(x: np.ndarray, y: np.ndarray) -> float:
    """SPEC's form: the correlation times the standard deviations, unbiased."""
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


def test_a_value_by_hand() -> None:  # s_x^2 = 1, s_y^2 = 4, s_xy = 2, means 2 and 4
    assert concordance(np.array([1.0, 2, 3]), np.array([2.0, 4, 6])) == pytest.approx(4 / 9)


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
