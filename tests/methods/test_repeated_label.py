"""repeated-label: soft-label with items that count as often as they were answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dissensus import Corpus, Interval
from dissensus.methods import RepeatedLabel, SoftLabel
from dissensus.metrics import METRICS
from dissensus.training import Training
from tests.crowds import SCALES, anonymous, feature_crowd, thinned

cross_entropy = METRICS["cross-entropy"]
wasserstein = METRICS["Wasserstein"]

QUICK: dict[str, Any] = {
    "encoder": "features",
    "dropout": 0,
    "training": Training(epochs=5, batch_size=16, learning_rate=0.02, device="cpu"),
}


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "multi-label"])
@pytest.mark.parametrize("form", ["named", "anonymous", "counted"])
def test_its_loss_is_soft_labels_cross_entropy_weighted_by_votes(kind: str, form: str) -> None:
    crowd = thinned(feature_crowd(kind), 0.6)
    if form != "named":
        crowd = anonymous(crowd, counted=form == "counted")
    repeated = RepeatedLabel(**QUICK).fit(crowd)
    weighted = SoftLabel(weighted=True, **QUICK).fit(crowd)
    np.testing.assert_allclose(repeated.log_.train, weighted.log_.train, rtol=1e-5)
    result, expected = (m.predict(crowd)["q"].distribution for m in (repeated, weighted))
    np.testing.assert_allclose(result, expected, atol=1e-4)
    plain = SoftLabel(**QUICK).fit(crowd)
    assert not np.allclose(repeated.log_.train, plain.log_.train, rtol=1e-3)


def test_ratings_are_learned_without_the_grid() -> None:
    crowd = feature_crowd("interval")
    coarse = crowd["q"].to(Interval(0, 10, n_bins=4))
    contents = {"x": (crowd.contents["x"], crowd.content["x"])}
    corpus = Corpus.build("made-up", crowd.items, {"q": coarse}, contents=contents)
    fine, rough = (RepeatedLabel(**QUICK).fit(c).predict(c)["q"].consensus for c in (crowd, corpus))
    np.testing.assert_array_equal(fine, rough)
    soft = SoftLabel(weighted=True, **QUICK).fit(crowd).predict(crowd)["q"].consensus
    np.testing.assert_allclose(fine, soft, atol=0.2)  # 20 bins are not a density, but nearly


@pytest.mark.parametrize("kind", SCALES)
def test_more_epochs_learn_more(kind: str) -> None:
    train, test = feature_crowd(kind, 200), feature_crowd(kind, 100, seed=1)
    metric = wasserstein if kind == "interval" else cross_entropy
    scores = []
    for epochs in (1, 20):
        training = Training(epochs=epochs, batch_size=16, learning_rate=0.02, device="cpu")
        fitted = RepeatedLabel(**QUICK | {"training": training}).fit(train)
        scores.append(metric(fitted.predict(test)["q"], test["q"]))
    assert scores[1] < scores[0]


@pytest.mark.slow
def test_an_item_with_very_many_answers_is_spread_over_batches() -> None:
    crowd = feature_crowd(n_items=20, n_annotators=12)
    outputs = []
    for most in (5, 256):
        training = Training(epochs=100, batch_size=8, learning_rate=0.03, max_rows_per_item=most)
        fitted = RepeatedLabel(**QUICK | {"training": training}).fit(crowd)
        outputs.append(fitted.predict(crowd)["q"].distribution)
    assert np.abs(outputs[0] - outputs[1]).mean() < 0.03


def test_two_questions_of_which_an_item_may_have_one() -> None:
    one, other = thinned(feature_crowd("nominal"), 0.4), thinned(feature_crowd("interval"), 0.4, 1)
    both = Corpus.build(
        "both",
        one.items,
        {"class": one["q"], "rating": other["q"]},
        contents={"x": (one.contents["x"], one.content["x"])},
    )
    fitted = RepeatedLabel(**QUICK).fit(both)
    assert len(fitted.learns(both)) > len(np.unique(one["q"].item))
    prediction = fitted.predict(both)
    assert list(prediction) == ["class", "rating"]
    assert np.isfinite(prediction["rating"].consensus).all()
