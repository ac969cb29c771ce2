"""label-and-uncertainty: single, and beside it how much people will disagree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dissensus as ds
from dissensus import Annotations, Corpus, Interval, MultiLabel, Names, Nominal, Ordinal
from dissensus.contents import Contents
from dissensus.methods import LabelAndUncertainty, Single
from dissensus.methods.label_and_uncertainty import disagreement
from dissensus.scales import Scale
from dissensus.training import Training
from tests.crowds import SCALES, anonymous, feature_crowd, thinned

QUICK: dict[str, Any] = {
    "encoder": "features",
    "dropout": 0,
    "training": Training(epochs=20, batch_size=16, learning_rate=0.02, device="cpu"),
}


def _asked(scale: Scale, *answers: list[Any]) -> Annotations:
    """Each list holds the answers to one item."""
    rows = [(str(i), f"p{k}", a) for i, given in enumerate(answers) for k, a in enumerate(given)]
    return Annotations.from_rows(rows, scale)


# ---- the measure ----


def test_disagreement_by_hand() -> None:
    four = Nominal(("a", "b", "c", "d"))
    requested = _asked(
        four, ["a", "a"], ["a", "b"], ["a", "b", "c", "d"], ["a"], ["a", "a", "a", "b"]
    )
    entropy = (0.75 * np.log(4 / 3) + 0.25 * np.log(4)) / np.log(4)
    np.testing.assert_allclose(disagreement(requested), [0, 0.5, 1, np.nan, entropy])
    levels = _asked(Ordinal(("1", "2")), ["1", "2"], ["2", "2"])
    np.testing.assert_allclose(disagreement(levels), [1, 0])


def test_ratings_disagree_by_their_standard_deviation() -> None:
    requested = _asked(Interval(0, 10), [0, 10], [5, 5], [4, 6], [3])
    np.testing.assert_allclose(disagreement(requested), [1, 0, 0.2, np.nan])


def test_sets_disagree_value_by_value() -> None:
    requested = _asked(
        MultiLabel(("joy", "fear")), [["joy"], []], [["joy", "fear"], ["joy", "fear"]]
    )
    np.testing.assert_allclose(disagreement(requested), [0.5, 0])


def test_a_scale_of_one_value_leaves_nothing_to_disagree_about() -> None:
    assert disagreement(_asked(Nominal(("a",)), ["a", "a"])).tolist() == [0]


def test_counts_of_votes_disagree_as_people_do() -> None:
    crowd = thinned(feature_crowd(), 0.8)
    counted = anonymous(crowd, counted=True)
    np.testing.assert_allclose(disagreement(counted["q"]), disagreement(crowd["q"]))


# ---- the method ----


def disputed_crowd(seed: int, n_items: int = 300) -> Corpus:
    """One feature decides the label, another whether five people agree on it."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n_items, 4)).astype(np.float32)
    item = np.repeat(np.arange(n_items), 5)
    label = features[:, 0] > 0
    strays = generator.random(5 * n_items) < 0.5 * (features[item, 1] > 0)
    answer = np.where(strays, generator.integers(0, 2, len(item)), label[item])
    people = Names([f"p{k}" for k in range(5)])
    answers = Annotations.from_arrays(
        item, np.tile(np.arange(5), n_items), answer, Nominal(("no", "yes")), annotators=people
    )
    shown = {"x": Contents.distinct("features", features)}
    return Corpus.build("disputed", Names.range(n_items), {"q": answers}, contents=shown)


def test_it_knows_what_will_be_disputed() -> None:
    train, test = disputed_crowd(0), disputed_crowd(1)
    fitted = LabelAndUncertainty(**QUICK).fit(train)
    prediction = fitted.predict(test)["q"]
    assert prediction.disagreement is not None
    truth = disagreement(test["q"])
    assert np.corrcoef(prediction.disagreement, truth)[0, 1] > 0.5
    assert prediction.disagreement.mean() == pytest.approx(truth.mean(), abs=0.05)
    assert (prediction.consensus == test["q"].consensus().answer).mean() > 0.9


@pytest.mark.parametrize("kind", SCALES)
def test_without_weight_on_the_disagreement_it_is_single(kind: str) -> None:
    crowd = feature_crowd(kind)
    single = Single(**QUICK).fit(crowd).predict(crowd)["q"]
    prediction = LabelAndUncertainty(uncertainty_weight=0, **QUICK).fit(crowd).predict(crowd)["q"]
    np.testing.assert_allclose(prediction.distribution, single.distribution, atol=1e-5)
    np.testing.assert_allclose(prediction.consensus, single.consensus, atol=1e-4)
    hidden = QUICK | {"hidden": (8,)}  # what both tasks share moves with either
    apart, together = (
        LabelAndUncertainty(uncertainty_weight=w, **hidden).fit(crowd).predict(crowd)["q"]
        for w in (0.0, 5.0)
    )
    assert np.abs(apart.distribution - together.distribution).max() > 1e-3


def test_disagreement_is_kept_with_the_model_and_with_predictions(tmp_path: Path) -> None:
    crowd = feature_crowd()
    fitted = LabelAndUncertainty(**QUICK).fit(crowd)
    fitted.save(tmp_path / "model")
    prediction, again = fitted.predict(crowd), ds.load(tmp_path / "model").predict(crowd)
    np.testing.assert_array_equal(prediction["q"].disagreement, again["q"].disagreement)
    prediction.save(tmp_path / "said")
    read = ds.Predictions.load(tmp_path / "said")
    np.testing.assert_array_equal(prediction["q"].disagreement, read["q"].disagreement)


def test_where_nobody_could_disagree_it_does_not_know(tmp_path: Path) -> None:
    one = feature_crowd(n_annotators=1)
    fitted = LabelAndUncertainty(**QUICK).fit(one)
    assert fitted.notes_ == ["no item of 'q' has two annotators: there is no disagreement to learn"]
    fitted.save(tmp_path / "model")
    for method in (fitted, ds.load(tmp_path / "model")):
        prediction = method.predict(one)["q"]
        assert prediction.disagreement is not None and np.isnan(prediction.disagreement).all()
        assert np.isfinite(prediction.distribution).all()


def test_a_tie_without_a_label_still_teaches_disagreement() -> None:
    requested = _asked(Nominal(("a", "b")), ["a", "b"], ["a", "a"], ["b"])
    shown = {"x": Contents.distinct("features", np.eye(3, dtype=np.float32))}
    corpus = Corpus.build("ties", requested.items, {"q": requested}, contents=shown)
    fitted = LabelAndUncertainty(ties="drop", **QUICK).fit(corpus)
    assert fitted.learns(corpus).tolist() == [0, 1, 2]
    built = fitted.targets(corpus)
    assert built["q.weight"].tolist() == [0, 1, 1]
    assert built["q.disagreement.weight"].tolist() == [1, 1, 0]
    assert built["q.disagreement"].tolist() == [1, 0, 0]


def test_the_label_may_be_gold() -> None:
    crowd = feature_crowd()
    gold = Annotations.from_arrays(
        np.arange(60), None, np.full(60, 2), crowd["q"].scale, items=crowd.items
    )
    corpus = replace(crowd, gold={"q": gold})
    prediction = LabelAndUncertainty(label="gold", **QUICK).fit(corpus).predict(corpus)["q"]
    assert (prediction.consensus == 2).all()
