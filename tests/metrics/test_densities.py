"""Metrics of joint densities: against scikit-learn and scipy, and by item."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import balanced_accuracy_score

from dissensus.metrics import DENSITY_METRICS, METRICS, constant_density, divided_names
from dissensus.names import Names
from dissensus.prediction import JointDensity
from dissensus.scales import Interval

SCALE = Interval(1, 5)


def density(seed: int, n_items: int = 200, bins: int = 4, names: int = 0) -> JointDensity:
    mass = np.random.default_rng(seed).dirichlet(np.full(bins**2, 0.3), n_items)
    items = Names([f"t{n}" for n in range(names, names + n_items)])
    return JointDensity(
        ("valence", "activation"), (SCALE, SCALE), items, mass.reshape(-1, bins, bins)
    )


def test_distances_are_those_of_scipy() -> None:
    predicted, observed = density(0), density(1)
    tvd = np.abs(predicted.cells - observed.cells).sum(axis=1) / 2
    jsd = jensenshannon(predicted.cells, observed.cells, axis=1) ** 2
    assert DENSITY_METRICS["density TVD"](predicted, observed) == pytest.approx(tvd.mean())
    assert DENSITY_METRICS["density JSD"](predicted, observed) == pytest.approx(jsd.mean())


def test_uar_is_that_of_scikit_learn_and_the_mean_of_its_items() -> None:
    predicted, observed = density(2), density(3)
    recalls = [
        balanced_accuracy_score(*(d.marginal(q).argmax(axis=1) for d in (observed, predicted)))
        for q in ("valence", "activation")
    ]
    metric = DENSITY_METRICS["density UAR"]
    assert metric(predicted, observed) == pytest.approx(np.mean(recalls))
    items, scores = metric.item_scores(predicted, observed)
    assert scores.mean() == pytest.approx(np.mean(recalls)) and len(items) == 200
    assert metric(observed, observed) == pytest.approx(1)


def test_items_are_matched_by_name() -> None:
    predicted, observed = density(0, n_items=30, names=10), density(1, n_items=20)
    items, scores = DENSITY_METRICS["density TVD"].item_scores(predicted, observed)
    assert list(items) == [f"t{n}" for n in range(10, 20)]
    expected = np.abs(predicted.cells[:10] - observed.cells[10:]).sum(axis=1) / 2
    np.testing.assert_allclose(scores, expected)
    assert np.isnan(DENSITY_METRICS["density TVD"](density(0, 3), density(1, 3, names=9)))


def test_a_constant_density_is_the_mean() -> None:
    observed = density(4)
    constant = constant_density(observed)
    np.testing.assert_allclose(constant.mass[7], observed.mass.mean(axis=0))
    assert DENSITY_METRICS["density UAR"](constant, observed) == pytest.approx(0.25, abs=0.01)


def test_names_of_metrics_are_divided() -> None:
    names = ["Density-TVD", "ccc"]
    assert divided_names(names) == (["CCC"], ["density TVD"])
    assert divided_names(None) == (None, list(DENSITY_METRICS))
    assert not set(METRICS) & set(DENSITY_METRICS)
