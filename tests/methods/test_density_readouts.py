"""Densities past the paper: a read-out that is calibrated on held-out items, with noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from dissensus import load, simulate
from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, rating_densities
from dissensus.densities.distances import tvd
from dissensus.densities.grid import Grid
from dissensus.errors import DataError, ModelError
from dissensus.methods import AnnotatorHeads, AnnotatorOneHot, Job, fit_many
from dissensus.methods.framework.density_calibration import calibrate_density
from dissensus.methods.framework.predicted_densities import PredictedRatings
from dissensus.training import Training

QUICK = Training(epochs=3, batch_size=16, device="cpu")
QUESTIONS = ("valence", "activation")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Texts that four of six annotators rated on valence and activation."""
    return simulate.ratings(n_items=60, n_annotators=6, labels_per_item=4, seed=1)


def heads(**settings: object) -> AnnotatorHeads:
    known = {
        "encoder": "characters",
        "training": QUICK,
        "readout": "fixed:cells=32,sampling=even",
        "calibrate": "bandwidth",
        "held_out": 0.3,
    }
    return AnnotatorHeads(**(known | settings))  # type: ignore[arg-type]


def _means(corpus: Corpus) -> PredictedRatings:
    """Every annotator is predicted to give the mean rating of the item, with the right spread."""
    joint = corpus.joint(*QUESTIONS)
    ratings = np.stack([joint.answers[question] for question in QUESTIONS], axis=1)
    by_item = ratings[np.argsort(joint.item, kind="stable")].reshape(corpus.n_items, -1, 2)
    means = np.broadcast_to(by_item.mean(axis=1, keepdims=True), by_item.shape).copy()
    spread = by_item.std(axis=1, keepdims=True) * np.ones_like(by_item)
    knots = np.arange(-2.0, 2.25, 0.5)
    present = np.ones(means.shape[:2], dtype=bool)
    return PredictedRatings(means, present, spread[..., None] * knots)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "by", ["cross-entropy", pytest.param("tvd", marks=SLOW), pytest.param("jsd", marks=SLOW)]
)
def test_a_calibrated_density_is_nearer_to_the_ratings(corpus: Corpus, by: str) -> None:
    target = rating_densities(corpus, QUESTIONS).mass
    predicted = _means(corpus)
    start = RatingKde("fixed", cells=32, bandwidth=0.8, sampling="even")
    chosen = calibrate_density(start, ["bandwidth"], predicted, target, by)  # type: ignore[arg-type]
    assert chosen.kde.bandwidth < 0.4 and chosen.after < chosen.before
    assert dataclasses.replace(chosen.kde, bandwidth=0.8) == start  # nothing else was changed
    with_noise = calibrate_density(chosen.kde, ["bandwidth", "noise"], predicted, target, by)  # type: ignore[arg-type]
    assert with_noise.kde.noise > 0 and with_noise.after < chosen.after


def test_noise_has_the_mean_over_the_ratings_that_it_makes_possible(corpus: Corpus) -> None:
    """With noise, means with a spread are closer to the densities of the ratings than without."""
    target, grid = rating_densities(corpus, QUESTIONS).mass, Grid((4, 4))
    predicted = _means(corpus)
    kde = RatingKde("plain", cells=32, sampling="even")
    distances = [
        tvd(target, predicted.density(dataclasses.replace(kde, noise=noise)), grid).mean()
        for noise in (0.0, 0.5, 1.0)
    ]
    assert distances[1] < distances[0] and distances[2] < distances[0]


def test_a_calibrated_model_is_saved_loaded_and_described(corpus: Corpus, tmp_path: str) -> None:
    fitted = heads().fit(corpus)
    chosen = fitted.calibrated_
    assert chosen is not None and fitted.kde_ == chosen and chosen.kind == "fixed"
    assert any(
        note.startswith("density calibrated on 18 items: bandwidth") for note in fitted.notes_
    )
    fitted.save(f"{tmp_path}/model")
    again = load(f"{tmp_path}/model")
    assert again.kde_ == chosen
    before, after = (each.predict(corpus).densities[QUESTIONS].mass for each in (fitted, again))
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_it_is_chosen_on_the_validation_corpus_if_there_is_one(corpus: Corpus) -> None:
    train, validation = corpus.split(test_share=0.3, seed=0)
    fitted = heads().fit(train, validation=validation)
    assert any("calibrated on 18 items" in note for note in fitted.notes_)


def test_calibrated_fits_stack(corpus: Corpus) -> None:
    """Folds of different sizes and seeds choose what they would choose alone."""
    parts = [corpus.split(test_share=share, seed=0)[0] for share in (0.2, 0.4)]

    def fresh() -> list[AnnotatorHeads]:
        return [heads(init_seed=seed, calibrate="bandwidth,stretch") for seed in (0, 1)]

    alone = [method.fit(part) for method, part in zip(fresh(), parts, strict=True)]
    stacked = fresh()
    fit_many([Job(method, part) for method, part in zip(stacked, parts, strict=True)], stack=True)
    for one, other in zip(alone, stacked, strict=True):
        assert other.calibrated_ == one.calibrated_
        for name, weight in one.weights().items():
            np.testing.assert_allclose(other.weights()[name], weight, atol=2e-5, err_msg=name)


def test_with_noise_an_item_has_the_same_density_alone_and_with_others(corpus: Corpus) -> None:
    settings = "plain:cells=32,sampling=even,noise=0.7,shared=0.5,correlation=0.3"
    fitted = heads(readout=settings, calibrate="").fit(corpus)
    every = fitted.predict(corpus).densities[QUESTIONS]
    one = fitted.predict(corpus.select(items=np.arange(60) == 7)).densities[QUESTIONS]
    np.testing.assert_allclose(one.mass[0], every.mass[7], atol=1e-5)
    np.testing.assert_allclose(every.cells.sum(axis=1), 1, atol=1e-6)
    without = fitted.predict(corpus, density="plain:cells=32,sampling=even").densities[QUESTIONS]
    assert np.abs(without.mass - every.mass).max() > 0.05


@pytest.mark.parametrize("method", [AnnotatorHeads, AnnotatorOneHot])
def test_a_temperature_is_learned_in_a_stack_and_saved(
    corpus: Corpus, method: type, tmp_path: str
) -> None:
    """From a temperature that is too low, it rises; the same in a stack as alone."""
    settings = {
        "encoder": "characters",
        "training": Training(epochs=2, batch_size=16, device="cpu", learning_rate=3e-3),
        "objective": "both",
        "learn_temperature": True,
        "kde": RatingKde(temperature=4, cells=16, sampling="even"),
    }
    parts = [corpus.split(test_share=share, seed=0)[0] for share in (0.2, 0.4)]
    alone = [method(**settings).fit(part) for part in parts]
    stacked = [method(**settings) for _ in parts]
    fit_many([Job(each, part) for each, part in zip(stacked, parts, strict=True)], stack=True)
    for one, other in zip(alone, stacked, strict=True):
        assert one.kde_.temperature > 4.01
        assert other.kde_.temperature == pytest.approx(one.kde_.temperature, rel=1e-4)
        assert not any("one after another" in note for note in other.notes_), other.notes_
    assert "temperature of the density: " in alone[0].notes_[-1]
    alone[0].save(f"{tmp_path}/model")
    assert load(f"{tmp_path}/model").kde_ == alone[0].kde_


def test_the_gradient_of_a_temperature_is_that_of_finite_differences() -> None:
    generator = torch.Generator().manual_seed(0)
    ratings = torch.rand(2, 3, 2, generator=generator, dtype=torch.float64) - 0.5
    temperature = torch.tensor(9.0, dtype=torch.float64, requires_grad=True)
    kde = RatingKde(cells=32, sampling="even")

    def mass(value: torch.Tensor) -> torch.Tensor:
        density: torch.Tensor = kde.density(ratings, temperature=value)
        return density

    assert torch.autograd.gradcheck(mass, temperature, eps=1e-5, atol=1e-5)


def test_what_cannot_be_calibrated_is_refused(corpus: Corpus) -> None:
    nominal = simulate.text(n_items=20, n_annotators=4, labels_per_item=3)
    with pytest.raises(ModelError, match="a density needs ordinal or interval answers"):
        heads().fit(nominal)
    with pytest.raises(ModelError, match="calibrate must name settings of a density .*not 'bins'"):
        heads(calibrate="bandwidth,bins").fit(corpus)
    with pytest.raises(ModelError, match="calibrate_by must be one of cross-entropy, tvd, jsd"):
        heads(calibrate_by="mse").fit(corpus)
    with pytest.raises(ModelError, match="a temperature is learned with a density; set objective"):
        heads(learn_temperature=True).fit(corpus)
    with pytest.raises(DataError, match="a density has no setting 'band'"):
        heads(readout="fixed:band=1").fit(corpus)
    with pytest.raises(DataError, match="1 items with answers cannot be split to calibrate"):
        heads().fit(corpus.select(items=np.arange(60) == 0))
    with pytest.raises(DataError, match="shared of a density must be from 0 to 1, found 1.5"):
        RatingKde(shared=1.5)
