"""bayesian: what it minimises, what its passes answer, and that its noise is always the same."""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dissensus as ds
from dissensus import Corpus
from dissensus.methods import Bayesian, LabelAndUncertainty, Single, SoftLabel
from dissensus.methods.bayesian import COST
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.training import Training
from dissensus.training.validation import mean_loss
from tests.crowds import SCALES, anonymous, feature_crowd, thinned
from tests.tiny import tiny_bert
from tests.training.test_stack import run_of

QUICK = Training(epochs=3, batch_size=16, weight_decay=0, device="cpu")
LONGER = dataclasses.replace(QUICK, epochs=15, learning_rate=0.02)
STILL = dataclasses.replace(QUICK, epochs=1, learning_rate=1e-12)


def bayesian(**settings: Any) -> Bayesian:
    small: dict[str, Any] = {
        "encoder": "features",
        "hidden": (12, 6),
        "passes": 8,
        "training": QUICK,
    }
    return Bayesian(**small | settings)


# ---- the network and its loss ----


def test_the_papers_network() -> None:
    method = Bayesian(encoder="features", training=QUICK)
    method.begin_fit(feature_crowd(), None, None)
    shapes = {
        n: tuple(v.shape)
        for n, v in method.trainer(feature_crowd(), None).network.state_dict().items()
    }
    means = {name: shape for name, shape in shapes.items() if name.endswith("weight.mean")}
    assert list(means.values()) == [(512, 8), (256, 512), (3, 256), (3, 3)]
    slopes = [shape for name, shape in shapes.items() if name.endswith("slope")]
    assert slopes == [(512,), (256,), (3,)]
    assert method.passes == 30


@pytest.mark.parametrize("n_items", [16, 37])
def test_the_loss_is_the_papers(n_items: int) -> None:
    """Cross-entropy of the mean softmax, and the cost of the weights by the batch's items."""
    crowd = feature_crowd(n_items=n_items)
    run = run_of(bayesian(complexity_weight=0.5), crowd)
    nothing, share = np.zeros(0, np.int64), np.ones(n_items, np.float32)
    batch = run.examples.batch(np.arange(n_items), nothing, nothing, share, noise=5)
    with torch.no_grad():
        items = run.network(batch).items
        loss = float(batch.loss(run.network(batch), run.losses))
    assert items["q"].shape == (n_items, 8, 3) and items[COST].shape == (n_items,)
    mean = items["q"].softmax(dim=-1).mean(dim=1)
    labels = crowd["q"].consensus().answer
    expected = -mean.log().numpy()[np.arange(n_items), labels].mean()
    assert loss == pytest.approx(expected + 0.5 * float(items[COST][0]) / n_items, rel=1e-9)


def test_an_epoch_is_judged_without_the_cost() -> None:
    """It says nothing about items that were not learned."""
    crowd = feature_crowd()
    run = run_of(bayesian(), crowd)
    expected = run_of(bayesian(complexity_weight=0), crowd)
    figures = [mean_loss(r.network, r.losses, r.examples, QUICK) for r in (run, expected)]
    assert figures[0] == figures[1] < 3


def test_base_rates_are_where_answers_begin() -> None:
    crowd = feature_crowd(n_items=300)
    shares = np.bincount(crowd["q"].consensus().answer, minlength=3) / 300
    predictions = {
        rates: bayesian(base_rates=rates, training=STILL).fit(crowd).predict(crowd)["q"]
        for rates in (True, False)
    }
    np.testing.assert_allclose(predictions[True].distribution.mean(axis=0), shares, atol=0.1)
    np.testing.assert_allclose(predictions[False].distribution.mean(axis=0), 1 / 3, atol=0.1)


@cache
def learned(kind: str, prior: str) -> Bayesian:
    method = bayesian(prior=prior, complexity_weight=1e-3, training=LONGER)
    return method.fit(feature_crowd(kind, 150))


QUICK_PRIORS = (("nominal", "mixture"), ("interval", "mixture"), ("nominal", "normal"))
KINDS = [
    pytest.param(kind, marks=() if (kind, "mixture") in QUICK_PRIORS else pytest.mark.slow)
    for kind in SCALES
]


# ---- what it answers ----


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_and_the_votes_of_the_passes(kind: str, tmp_path: Path) -> None:
    crowd, scale = feature_crowd(kind, 200), SCALES[kind]
    fitted = learned(kind, "mixture")
    mean = fitted.predict(crowd)["q"]
    fitted.save(tmp_path / "model")
    loaded = ds.load(tmp_path / "model")
    loaded.set_params(read="votes").save(tmp_path / "votes")
    output = ds.load(tmp_path / "votes").predict(crowd)
    votes = output["q"]
    assert mean.members is not None and mean.members.shape == (8, 200)
    np.testing.assert_array_equal(mean.members, votes.members)
    shares = np.mean([scale.one_hot(member) for member in mean.members], axis=0)
    np.testing.assert_allclose(votes.distribution, shares)
    assert np.abs(mean.distribution - votes.distribution).max() > 0.05
    for prediction in (mean, votes):
        if kind == "interval":
            np.testing.assert_allclose(prediction.consensus, mean.members.mean(axis=0))
        elif kind == "nominal" and prediction is mean:
            assert (prediction.consensus == mean.distribution.argmax(axis=1)).all()
    output.save(tmp_path / "said")
    kept = ds.Predictions.load(tmp_path / "said")["q"]
    np.testing.assert_array_equal(kept.members, votes.members)


def test_the_distribution_is_the_mean_of_what_the_passes_say() -> None:
    """Of ratings the mixture of their densities; of sets the mean marginals."""
    for kind in SCALES:
        crowd = feature_crowd(kind, 20)
        fitted = bayesian().fit(crowd)
        raw = _raw(fitted, crowd)  # (n_items, n_passes, width)
        each = [TrainedMethod.answers(fitted, "q", raw[:, number]) for number in range(8)]
        expected = np.mean([answers.distribution for answers in each], axis=0)
        prediction = fitted.predict(crowd)["q"]
        np.testing.assert_allclose(prediction.distribution, expected, atol=1e-12)
        members = np.stack([answers.value for answers in each])
        np.testing.assert_array_equal(prediction.members, members)


def _raw(fitted: Bayesian, corpus: Corpus) -> torch.Tensor:
    """What the network returns while it predicts."""
    raw: list[torch.Tensor] = []
    hook = fitted.network_.register_forward_hook(lambda _, __, out: raw.append(out.items["q"]))
    fitted.predict(corpus)
    hook.remove()
    return torch.cat(raw)


def test_gold_labels_anonymous_answers_and_items_without_any() -> None:
    crowd = feature_crowd(n_items=40)
    bayesian().fit(anonymous(crowd, counted=True))
    some = bayesian()
    some.fit(thinned(crowd, share=0.2))
    assert some.notes_[-1].endswith("items have no answer or label to learn from")
    gold = dataclasses.replace(crowd, gold={"q": crowd["q"].consensus()})
    one, other = (bayesian(label=label).fit(gold) for label in ("gold", "consensus"))
    for name, weights in one.weights().items():
        np.testing.assert_array_equal(other.weights()[name], weights)


# ---- the comparison it comes from ----


@pytest.mark.parametrize(
    "method",
    [
        Single(),
        SoftLabel(loss="kl"),
        LabelAndUncertainty(uncertainty_weight=1.0),
        Bayesian(complexity_weight=1.0, base_rates=False, hidden=(16, 8)),
    ],
)
def test_seedberts_baselines_train_as_the_paper_trained_them(
    method: TrainedMethod, tmp_path: Path
) -> None:
    """A BERT tuned whole by Adam at one rate of 5e-6, without decay, schedule or clipping."""
    from tests.training.test_stack import text_crowd

    folder = tiny_bert(tmp_path / "bert", dropout=0.1)
    training = Training(
        epochs=3, batch_size=16, optimiser="adam", learning_rate=5e-6, encoder_learning_rate=5e-6,
        weight_decay=0, schedule="constant", warm_up=0, clip=math.inf, device="cpu",
    )  # fmt: skip
    method.set_params(encoder=f"{folder}:max_length=128", tune="all", training=training)
    fitted = method.fit(text_crowd(20, 0))
    assert fitted.log_.rate == [5e-6] * 3
    assert np.isfinite(fitted.predict(text_crowd(20, 1))["q"].distribution).all()
