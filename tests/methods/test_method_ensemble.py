"""The mean of methods is that of its members, each fitted alone."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus import Prediction
from dissensus.methods import build, seeded
from dissensus.testing import quick
from tests.crowds import QuickEnsemble, confused_crowd, feature_crowd


@pytest.mark.slow
def test_the_mean_of_members_that_are_fitted_alone() -> None:
    crowd, _ = confused_crowd(200)
    train, test = crowd.split(0.3, seed=0)
    ensemble = QuickEnsemble(init_seed=3).fit(train)
    alone = [seeded(quick(build(name)), 3).fit(train) for name in ensemble.members.split("+")]
    every = [one.predict(test, consensus="all")["q"] for one in alone]
    truth = ensemble.predict(test)["q"]
    mean = np.mean([one.distribution for one in every], axis=0)
    np.testing.assert_allclose(truth.distribution, mean, atol=1e-6)
    assert (truth.consensus == mean.argmax(axis=1)).all()
    own = pairs_of(truth)
    of_members = np.mean([pairs_of(one) for one in every], axis=0)
    np.testing.assert_allclose(own, of_members, atol=1e-6)
    ensemble.read = "annotators"
    first = ensemble.predict(test)["q"].distribution[0]
    np.testing.assert_allclose(first, own[test["q"].item == 0].mean(axis=0), atol=1e-6)


def pairs_of(prediction: Prediction) -> np.ndarray:
    pairs = prediction.by_annotator
    assert pairs is not None and pairs.distribution is not None
    return pairs.distribution


def test_members_that_do_not_know_annotators() -> None:
    crowd = feature_crowd("ordinal")
    members = ("logistic", "annotator-logistic")
    ensemble = QuickEnsemble("+".join(members), encoder="features").fit(crowd)
    alone = [pairs_of(quick(build(name)).fit(crowd).predict(crowd)["q"]) for name in members]
    own = pairs_of(ensemble.predict(crowd)["q"])
    np.testing.assert_allclose(own, np.mean(alone, axis=0), rtol=1e-5)
