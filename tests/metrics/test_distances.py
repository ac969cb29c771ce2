from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial import distance
from scipy.stats import wasserstein_distance

from dissensus.annotations import Annotations
from dissensus.metrics import GENG_METRICS, METRICS
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Nominal
from tests.metrics.crowds import SCALES, people, perfect, predicted
from tests.metrics.pairs import item_by_item, share_by_share

canberra = METRICS["Canberra"]
chebyshev = METRICS["Chebyshev"]
clark = METRICS["Clark"]
cosine = METRICS["cosine"]
distribution_calibration_error = METRICS["DistCE"]
intersection = METRICS["intersection"]
manhattan = METRICS["Manhattan"]
soft_accuracy = METRICS["soft accuracy"]
soft_micro_f1 = METRICS["soft micro-F1"]
tvd = METRICS["TVD"]
wasserstein = METRICS["Wasserstein"]

Metric = Callable[[Prediction, Annotations], float]


def by_clark(p: np.ndarray, q: np.ndarray) -> float:
    parts = [((a - b) / (a + b)) ** 2 for a, b in zip(p, q, strict=True) if a + b > 0]
    return float(np.sqrt(sum(parts)))


REFERENCES: list[tuple[Metric, Callable[[np.ndarray, np.ndarray], float]]] = [
    (manhattan, distance.cityblock),
    (tvd, lambda p, q: distance.cityblock(p, q) / 2),
    (distribution_calibration_error, lambda p, q: distance.cityblock(p, q) / 2),
    (soft_accuracy, lambda p, q: sum(min(a, b) for a, b in zip(p, q, strict=True))),
    (intersection, lambda p, q: sum(min(a, b) for a, b in zip(p, q, strict=True))),
    (chebyshev, distance.chebyshev),
    (canberra, distance.canberra),
    (cosine, lambda p, q: 1 - distance.cosine(p, q)),
    (clark, by_clark),
]


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
@pytest.mark.parametrize(("metric", "one"), REFERENCES, ids=lambda f: getattr(f, "name", ""))
def test_equals_scipy_item_by_item(
    metric: Metric, one: Callable[[np.ndarray, np.ndarray], float], kind: str
) -> None:
    annotations, prediction = people(SCALES[kind]), predicted(SCALES[kind])
    expected = [one(p, q) for p, q in share_by_share(prediction, annotations)]
    assert metric(prediction, annotations) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("metric", [tvd, manhattan])
def test_ratings_are_compared_on_the_grid(metric: Metric) -> None:
    scale = SCALES["interval"]
    assert isinstance(scale, Interval)
    annotations, prediction = people(scale), predicted(scale)
    expected = [
        np.abs(np.bincount(scale.bins(answers), minlength=8) / len(answers) - mass).sum()
        for answers, mass in item_by_item(prediction, annotations)
    ]
    share = 0.5 if metric is tvd else 1
    assert metric(prediction, annotations) == pytest.approx(share * np.mean(expected))


def test_soft_micro_f1_of_one_value_is_soft_accuracy() -> None:
    annotations, prediction = people(SCALES["nominal"]), predicted(SCALES["nominal"])
    assert soft_micro_f1(prediction, annotations) == pytest.approx(
        soft_accuracy(prediction, annotations)
    )


def test_soft_micro_f1_of_sets_leaves_out_what_nobody_chooses() -> None:
    annotations, prediction = people(SCALES["multi-label"]), predicted(SCALES["multi-label"])
    common = total = 0.0
    for answers, mass in item_by_item(prediction, annotations):
        for value, q in enumerate(mass):
            p = np.mean((answers >> value) & 1)
            common += min(p, q)
            total += p + q
    assert soft_micro_f1(prediction, annotations) == pytest.approx(2 * common / total)
    nothing = Annotations.from_rows([("t1", "ann", [])], MultiLabel(("a", "b")))
    none = Prediction(nothing.scale, nothing.items, np.zeros((1, 2)), np.array([0]))
    assert np.isnan(soft_micro_f1(none, nothing))


def test_values_that_neither_side_has_add_nothing() -> None:
    annotations = Annotations.from_rows([("t1", "ann", "a")], Nominal(("a", "b", "never")))
    half = Prediction(annotations.scale, Names(["t1"]), np.array([[0.5, 0.5, 0]]), np.array([0]))
    assert canberra(half, annotations) == pytest.approx(1 / 3 + 1)
    assert clark(half, annotations) == pytest.approx(np.sqrt(1 / 9 + 1))


def test_gengs_six_are_there() -> None:
    assert len(GENG_METRICS) == 6 and set(GENG_METRICS) <= set(METRICS)


def test_wasserstein_equals_scipy_on_levels() -> None:
    annotations, prediction = people(SCALES["ordinal"]), predicted(SCALES["ordinal"])
    expected = [
        wasserstein_distance(answers, np.arange(len(mass)), v_weights=mass)
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert wasserstein(prediction, annotations) == pytest.approx(np.mean(expected))


def test_wasserstein_equals_scipy_on_the_grid() -> None:
    scale = SCALES["interval"]
    assert isinstance(scale, Interval)
    annotations, prediction = people(scale), predicted(scale)
    expected = [
        wasserstein_distance(scale.grid[scale.bins(answers)], scale.grid, v_weights=mass)
        for answers, mass in item_by_item(prediction, annotations)
    ]
    assert wasserstein(prediction, annotations) == pytest.approx(np.mean(expected))
    assert wasserstein(perfect(annotations), annotations) == 0


def test_ratings_are_put_on_the_grid_of_the_prediction() -> None:
    annotations = Annotations.from_rows([("t1", "ann", 9)], Interval(0, 10, n_bins=3))
    low = Prediction(Interval(0, 10, n_bins=4), Names(["t1"]), np.eye(4)[[0]], np.array([1.25]))
    assert wasserstein(low, annotations) == pytest.approx(1.5)
