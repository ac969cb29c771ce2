"""One number that makes distributions more or less even, chosen by labels alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from torch.nn import functional as F

import dissensus as ds
from dissensus.methods import Bayesian, LabelAndUncertainty, Single, SoftLabel
from dissensus.methods.framework.labels import (
    LabelMethod,
    best_temperature,
    held_out_items,
    tempered,
)
from dissensus.training import Training
from tests.crowds import SCALES, feature_crowd

QUICK = Training(epochs=3, batch_size=16, device="cpu")


def _raw(n: int = 200, width: int = 3) -> torch.Tensor:
    return 2 * torch.randn(n, width, dtype=torch.float64, generator=torch.manual_seed(1))


def test_it_divides_what_goes_into_a_softmax() -> None:
    raw = _raw()
    result = tempered(SCALES["nominal"], raw.softmax(1).numpy(), 1.7)
    np.testing.assert_allclose(result, (raw / 1.7).softmax(1), rtol=1e-10)
    result = tempered(SCALES["multi-label"], raw.sigmoid().numpy(), 0.6)
    np.testing.assert_allclose(result, (raw / 0.6).sigmoid(), rtol=1e-10)


@pytest.mark.parametrize("kind", ["nominal", "multi-label"])
def test_the_best_one_is_what_scipy_finds(kind: str) -> None:
    raw, generator = _raw(), np.random.default_rng(0)
    if kind == "nominal":
        label = generator.integers(0, 3, 200)
        label[:120] = raw.argmax(1).numpy()[:120]
        shares = raw.softmax(1)

        def loss(temperature: float) -> float:
            return float(F.cross_entropy(raw / temperature, torch.from_numpy(label)))
    else:
        label = generator.integers(0, 8, 200)
        label[:120] = ((raw > 0).long() << torch.arange(3)).sum(1).numpy()[:120]
        shares = raw.sigmoid()
        wanted = torch.from_numpy(SCALES[kind].one_hot(label)).double()

        def loss(temperature: float) -> float:
            return float(F.binary_cross_entropy_with_logits(raw / temperature, wanted))

    expected = minimize_scalar(loss, bounds=(0.05, 20), method="bounded", options={"xatol": 1e-9})
    result = best_temperature(SCALES[kind], shares.numpy(), label)
    assert 1.1 < result < 10
    assert result == pytest.approx(expected.x, rel=1e-5)


def test_ratings_are_judged_by_their_bins() -> None:
    scale = SCALES["interval"]
    generator = np.random.default_rng(0)
    place = generator.uniform(-0.5, 0.5, 4000)
    label = scale.from_unit((place + 0.3 * generator.normal(size=4000)).clip(-1, 1))  # type: ignore[attr-defined]
    near = np.exp(-0.5 * ((scale.grid - place[:, None]) / 0.15) ** 2)  # type: ignore[attr-defined]
    shares = near / near.sum(axis=1, keepdims=True)
    result = best_temperature(scale, shares, label)
    assert result == pytest.approx(4, rel=0.1)  # the variance is four times as large


def test_labels_that_are_always_right_end_at_the_border() -> None:
    shares = _raw().softmax(1).numpy()
    right = shares.argmax(1)
    assert best_temperature(SCALES["nominal"], shares, right, 0.05) == pytest.approx(0.05)
    assert best_temperature(SCALES["nominal"], shares, right) == pytest.approx(1)
    assert best_temperature(SCALES["nominal"], shares, shares.argmin(1)) == pytest.approx(20)


@pytest.mark.parametrize("n_values", [2, 3, 7])
def test_of_equally_good_ones_it_is_the_one_that_changes_nothing(n_values: int) -> None:
    scale = ds.Nominal(tuple(f"v{k}" for k in range(n_values)))
    label = np.random.default_rng(0).integers(0, n_values, 101)
    even = np.full((101, n_values), 1 / n_values)
    assert best_temperature(scale, even, label) == 1
    sure = np.eye(n_values)[label]  # nothing is surer, and nothing is wrong
    assert best_temperature(scale, sure, label) == 1
    none = np.zeros(101, int)
    assert best_temperature(SCALES["multi-label"], np.full((101, 3), 0.5), none) == 1


def test_whole_contents_are_set_aside() -> None:
    crowd = feature_crowd(n_items=50)
    aside = held_out_items(crowd, 0.2, seed=3)
    assert len(aside) == 10 and len(np.unique(aside)) == 10
    assert held_out_items(crowd, 0.2, seed=3).tolist() == aside.tolist()
    assert held_out_items(crowd, 0.2, seed=4).tolist() != aside.tolist()


def assert_calibrated(fitted: LabelMethod, crowd: ds.Corpus) -> ds.Prediction:
    """By the items that were set aside; returns what is predicted without the temperature."""
    prediction = fitted.predict(crowd)["q"]
    scale, result = prediction.scale, fitted.temperature_.pop("q")
    bare = fitted.predict(crowd)["q"]
    expected = tempered(scale, bare.distribution, result)
    np.testing.assert_allclose(prediction.distribution, expected, rtol=1e-9)
    aside, label = held_out_items(crowd, 0.3, QUICK.seed), crowd["q"].consensus().answer
    assert result == pytest.approx(best_temperature(scale, bare.distribution[aside], label[aside]))
    return bare


@pytest.mark.parametrize("kind", SCALES)
def test_single_is_calibrated_by_items_it_does_not_learn(kind: str, tmp_path: object) -> None:
    crowd = feature_crowd(kind)
    plain = Single(encoder="features", temperature=True, held_out=0.3, training=QUICK)
    plain.begin_fit(crowd, None, None)
    (run,) = plain.trainers(crowd, None)
    aside = held_out_items(crowd, 0.3, QUICK.seed)
    assert sorted([*run.learned, *aside]) == list(range(60))
    fitted = Single(encoder="features", temperature=True, held_out=0.3, training=QUICK).fit(crowd)
    (result,) = fitted.temperature_.values()
    assert fitted.notes_ == [f"temperature of 'q': {result:.3g}"]
    assert_calibrated(fitted, crowd)


def test_a_validation_corpus_takes_the_place_of_items_aside(tmp_path: object) -> None:
    crowd, other = feature_crowd(), feature_crowd(seed=1)
    fitted = Single(encoder="features", temperature=True, training=QUICK)
    fitted.fit(crowd, validation=other)
    result = fitted.temperature_.pop("q")
    masses = fitted.predict(other)["q"].distribution
    expected = best_temperature(SCALES["nominal"], masses, other["q"].consensus().answer)
    assert result == pytest.approx(expected)


@pytest.mark.parametrize(
    "method",
    [
        SoftLabel(encoder="features"),
        LabelAndUncertainty(encoder="features"),
        Bayesian(encoder="features", hidden=(8,), passes=5),
    ],
    ids=lambda method: method.name,
)
def test_other_methods_are_calibrated_too(method: LabelMethod, tmp_path: object) -> None:
    crowd = feature_crowd()
    fitted = replace(method, temperature=True, held_out=0.3, training=QUICK).fit(crowd)
    fitted.save(f"{tmp_path}/model")
    prediction, again = (one.predict(crowd)["q"] for one in (fitted, ds.load(f"{tmp_path}/model")))
    np.testing.assert_array_equal(prediction.distribution, again.distribution)
    bare = assert_calibrated(fitted, crowd)
    assert (prediction.members is None) == (bare.members is None) != isinstance(method, Bayesian)
    assert (prediction.disagreement is not None) == isinstance(method, LabelAndUncertainty)


def test_votes_that_are_read_after_the_fit_have_no_temperature() -> None:
    crowd = feature_crowd("ordinal")
    method = Bayesian(encoder="features", hidden=(8,), passes=5, base_rates=False, training=QUICK)
    fitted = replace(method, temperature=True).fit(crowd)
    fitted.read, fitted.temperature_ = "votes", {"q": 3.0}
    prediction = fitted.predict(crowd)["q"]
    assert prediction.members is not None
    votes = SCALES["ordinal"].one_hot(prediction.members.ravel()).reshape(5, crowd.n_items, -1)
    assert len(np.unique(votes.sum(axis=0))) > 2  # some passes differ
    np.testing.assert_allclose(prediction.distribution, votes.mean(axis=0), atol=1e-12)
