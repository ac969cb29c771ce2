"""soft-label: what it learns of votes, by every loss and from every target."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.aggregation import SoftmaxVote
from dissensus.contents import Contents
from dissensus.methods import Single, SoftLabel
from dissensus.metrics import METRICS
from dissensus.networks.likelihoods import DIVERGENCES
from dissensus.training import Training
from tests.crowds import SCALES, anonymous, feature_crowd, thinned

cross_entropy = METRICS["cross-entropy"]
tvd = METRICS["TVD"]

QUICK = Training(epochs=20, batch_size=16, learning_rate=0.02, device="cpu")
SETTINGS: dict[str, Any] = {"encoder": "features", "dropout": 0, "training": QUICK}


def soft(**settings: Any) -> SoftLabel:
    return SoftLabel(**SETTINGS | settings)


def _vectors(corpus: Corpus) -> np.ndarray:
    values = np.array(corpus.contents["x"].values.to_pylist())
    return values[corpus.content["x"]]


def test_it_learns_what_logistic_regression_learns_of_weighted_votes() -> None:
    train, test = feature_crowd(n_items=400), feature_crowd(n_items=300, seed=1)
    training = Training(epochs=300, learning_rate=0.5, weight_decay=0, batch_size=400)
    result = soft(training=training).fit(train).predict(test)["q"].distribution
    shares = train["q"].distribution()
    peer = LogisticRegression(C=1e6, max_iter=1000).fit(
        np.tile(_vectors(train), (3, 1)), np.repeat(np.arange(3), 400), shares.T.ravel()
    )
    np.testing.assert_allclose(result, peer.predict_proba(_vectors(test)), atol=0.02)


def test_cross_entropy_and_kl_lead_to_the_same_model() -> None:
    crowd = feature_crowd()
    results = [soft(loss=loss).fit(crowd).predict(crowd)["q"].distribution for loss in ("ce", "kl")]
    np.testing.assert_allclose(results[0], results[1], atol=1e-4)
    other = soft(loss="inverse-kl").fit(crowd).predict(crowd)["q"].distribution
    assert np.abs(other - results[0]).max() > 0.05


@pytest.mark.slow
def test_it_tells_what_share_of_people_say_what_and_single_cannot() -> None:
    train, test = feature_crowd(n_items=400), feature_crowd(n_items=200, seed=1)
    single = Single(encoder="features", dropout=0, training=QUICK).fit(train).predict(test)["q"]
    votes = soft().fit(train).predict(test)["q"]
    for metric, share in ((tvd, 0.85), (cross_entropy, 0.95)):
        assert metric(votes, test["q"]) < share * metric(single, test["q"])


@pytest.mark.parametrize(
    ("kind", "weighted"),
    [
        pytest.param(kind, weighted, marks=() if quick else pytest.mark.slow)
        for kind in SCALES
        for weighted in (False, True)
        for quick in (kind == "nominal" or (kind == "interval" and weighted),)
    ],
)
def test_nobody_needs_to_know_who_voted(kind: str, weighted: bool) -> None:
    crowd = thinned(feature_crowd(kind), 0.7)
    named, nameless, counted = (
        soft(weighted=weighted).fit(source).predict(crowd)["q"].distribution
        for source in (crowd, anonymous(crowd), anonymous(crowd, counted=True))
    )
    np.testing.assert_allclose(nameless, named, atol=1e-5)
    np.testing.assert_allclose(counted, named, atol=1e-5)


# ---- targets ----


def _twelve() -> Corpus:
    """Twelve values; the first item has 5 votes to 0, the second 3 to 2, the third none."""
    scale = Nominal(tuple("abcdefghijkl"))
    item, answer = np.repeat([0, 1, 1], [5, 3, 2]), np.repeat([0, 1, 2], [5, 3, 2])
    votes = Annotations.from_arrays(item, None, answer, scale, items=Names.range(3))
    shown = Contents.distinct("features", np.eye(3, dtype=np.float32))
    return Corpus.build("votes", Names.range(3), {"q": votes}, contents={"x": shown})


def test_targets_by_hand() -> None:
    corpus = _twelve()
    plain = soft().fit(corpus).targets(corpus)
    np.testing.assert_allclose(plain["q"][:2, :3], np.array([[1, 0, 0], [0, 0.6, 0.4]]))
    assert plain["q"][2].sum() == 0 and plain["q.weight"].tolist() == [1, 1, 0]
    softened = soft(target="softmax-vote", weighted=True).fit(corpus).targets(corpus)
    np.testing.assert_allclose(softened["q"][0, :2], [0.930997, 0.006273], atol=1e-6)  # SPEC: 5-0
    assert softened["q.weight"].tolist() == [5, 5, 0]
    expected = SoftmaxVote().fit(corpus["q"]).distribution_[:2]
    np.testing.assert_allclose(softened["q"][:2], expected, atol=1e-6)


def test_items_without_answers_teach_nothing() -> None:
    crowd = thinned(feature_crowd(), 0.3)
    answered = crowd.select(items=np.flatnonzero(crowd["q"].per_item()))
    assert answered.n_items < crowd.n_items
    training = Training(epochs=10, batch_size=100, device="cpu")  # one batch: no order
    results = [soft(training=training).fit(c).predict(crowd)["q"].distribution
             for c in (crowd, answered)]  # fmt: skip
    np.testing.assert_allclose(results[0], results[1], atol=1e-5)


def test_where_nobody_answered_anything_there_is_nothing_to_learn() -> None:
    corpus = feature_crowd("nominal", 6)
    method = soft(training=Training(epochs=1)).fit(corpus)
    silent = corpus["q"].take(np.zeros(0, np.int64))
    targets = method.targets(dataclasses.replace(corpus, questions={"q": silent}))
    assert not any(np.any(stored) for stored in targets.values())


def test_weighted_items_count_as_often_as_they_were_answered() -> None:
    """Two kinds of items that look alike: 9 votes for a on one, 1 vote for b on the other."""
    scale = Nominal(("a", "b"))
    votes = Annotations.from_arrays(
        np.array([0, 1]), None, np.array([0, 1]), scale, items=Names.range(2), count=[9, 1]
    )
    shown = Contents.distinct("features", np.ones((2, 1), np.float32))
    corpus = Corpus.build("votes", Names.range(2), {"q": votes}, contents={"x": shown})
    training = Training(epochs=300, learning_rate=0.05, weight_decay=0)
    for weighted, share in ((False, 0.5), (True, 0.9)):
        fitted = soft(weighted=weighted, training=training).fit(corpus)
        np.testing.assert_allclose(fitted.predict(corpus)["q"].distribution[:, 0], share, atol=0.01)


def test_a_value_nobody_gave_in_training_is_never_impossible() -> None:
    train, test = feature_crowd(n_items=100), feature_crowd(n_items=50, seed=1)
    seen = train["q"].take(train["q"].answer != 2)
    corpus = dataclasses.replace(train, questions={"q": seen})
    assert (test["q"].answer == 2).any()
    for loss in DIVERGENCES:
        score = cross_entropy(soft(loss=loss).fit(corpus).predict(test)["q"], test["q"])
        assert np.isfinite(score), loss
