"""Variants of annotator heads: as published, shared heads, mixtures, moments, densities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from dissensus import simulate
from dissensus.corpus import Corpus
from dissensus.densities import Grid, RatingKde, jsd, rating_densities
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads, Job, fit_many
from dissensus.scales import Interval
from dissensus.training import Batch, Outputs, Rows, Sizes, Training
from dissensus_papers.individual.models import MODELS
from dissensus_papers.individual.variants import VariantHeads, moments_loss

QUICK = Training(epochs=4, batch_size=16, device="cpu", learning_rate=3e-3)
QUESTIONS = ("valence", "activation")
VARIANTS: dict[str, dict[str, Any]] = {
    "rank": {"rank": 2, "loss": "ccc"},
    "pretrain": {"pretrain": 0.5, "loss": "ccc"},
    "moments of a mixture": {"components": 2, "item_spread": True, "moments": 0.1},
    "temperature": {"objective": "both", "learn_temperature": True,
                    "kde": RatingKde(temperature=4, cells=16, sampling="even")},
    "calibrated": {"readout": "fixed:cells=32,sampling=even", "calibrate": "bandwidth,stretch"},
    "published": {"published": True, "question_hidden": (8,), "dropout": 0.2},
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Texts that four of six annotators rated on valence and activation."""
    return simulate.ratings(n_items=60, n_annotators=6, labels_per_item=4, seed=1)


def heads(**settings: Any) -> VariantHeads:
    known: dict[str, Any] = {"encoder": "characters", "training": QUICK}
    return VariantHeads(**known | settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_fitted_in_a_stack_as_alone(corpus: Corpus, name: str) -> None:
    parts = [corpus.split(test_share=share, seed=0)[0] for share in (0.2, 0.4)]

    def fresh() -> list[VariantHeads]:
        return [heads(init_seed=seed, **VARIANTS[name]) for seed in (0, 1)]

    alone = [method.fit(part) for method, part in zip(fresh(), parts, strict=True)]
    stacked = fresh()
    fit_many([Job(method, part) for method, part in zip(stacked, parts, strict=True)], stack=True)
    for one, other in zip(alone, stacked, strict=True):
        assert not any("one after another" in note for note in other.notes_), other.notes_
        for part, weight in one.weights().items():
            np.testing.assert_allclose(other.weights()[part], weight, atol=2e-5, err_msg=part)


def test_without_further_settings_it_is_annotator_heads(corpus: Corpus) -> None:
    known: dict[str, Any] = {"encoder": "characters", "training": QUICK}
    plain, variant = (method(**known).fit(corpus) for method in (AnnotatorHeads, VariantHeads))
    for name, weight in plain.weights().items():
        np.testing.assert_array_equal(variant.weights()[name], weight, err_msg=name)


def test_the_published_network_has_dropout_of_vectors_only(corpus: Corpus) -> None:
    for name, trunk in (("mt-answers", "trunk"), ("oh-answers", "vectors"), ("grid", "trunk")):
        built: Any = MODELS[name].built({"encoder": "characters"}, [("training.epochs", "1")])
        network: Any = built.fit(corpus).network_
        shares = [part.p for part in network.modules() if hasattr(part, "p")]
        assert shares[0] == 0.2 and not any(shares[1:]) and len(shares) > 1
        assert not getattr(network, trunk).standardises and not getattr(network, trunk).mean.any()


def test_own_heads_learn_only_after_the_common_one(corpus: Corpus) -> None:
    """While the common head is trained, heads of annotators stay as they are."""
    weights = []
    for epochs, share in ((1, 0.99), (2, 0.5)):
        training = Training(epochs=epochs, batch_size=16, device="cpu", weight_decay=0.0)
        fitted = heads(training=training, pretrain=share).fit(corpus)
        weights.append(fitted.weights()["inner.heads_0.weight"])
    assert (weights[0] == 0).all() and (weights[1] != 0).any()


def test_own_heads_have_the_rank_of_their_basis(corpus: Corpus) -> None:
    fitted = heads(rank=1, dropout=0.0).fit(corpus)
    predicted = fitted.predict(corpus, annotators="all")["valence"].by_annotator
    assert predicted is not None and fitted.weights()["embedding"].shape == (6, 1)
    values = predicted.value.reshape(corpus.n_items, -1)
    own = values - values.mean(axis=1, keepdims=True)
    own -= own.mean(axis=0)  # biases
    singular = np.linalg.svd(own)[1]
    assert singular[1] < 0.05 * singular[0]


@pytest.mark.slow
def test_a_mixture_finds_two_modes() -> None:
    """Of ratings that are far from their mean, where one normal density has its peak."""
    corpus = simulate.ratings(n_items=80, n_annotators=6, labels_per_item=4, seed=1)
    longer = Training(epochs=30, batch_size=16, device="cpu", learning_rate=1e-2)
    answers, unlikely = corpus["valence"], []
    assert isinstance(answers.scale, Interval)
    columns = answers.scale.bins(answers.answer)
    for components in (1, 2):
        fitted = heads(components=components, training=longer).fit(corpus, "valence")
        predicted = fitted.predict(corpus)["valence"].by_annotator
        assert predicted is not None and predicted.distribution is not None
        mass = predicted.distribution[np.arange(len(columns)), columns]
        unlikely.append(-np.log(mass + 1e-9).mean())
    assert unlikely[1] < unlikely[0] - 0.1


def test_moments_are_compared_as_normal_distributions() -> None:
    """Items with three ratings, two and one: the last one does not count."""
    torch.manual_seed(0)
    raw, answers = torch.randn(6, 2, dtype=torch.float64) * 0.3, torch.rand(6).double() * 2 - 1
    item, annotator = torch.tensor([0, 0, 0, 1, 1, 2]), torch.arange(6) % 3
    rows = Rows(item, annotator, {"q": answers}, {"q": torch.ones(6)})
    batch = Batch(torch.arange(3), torch.ones(3), torch.arange(3), {}, {}, {}, {}, {}, rows, {}, 0)
    loss = moments_loss(Sizes({"q": Interval(1, 5)}, 3, {}), 0.5)
    given, mean = answers[:3], raw[:3, 0]
    variance = (2 * raw[:3, 1]).exp().mean() + mean.var(correction=0)
    target = Normal(given.mean(), given.std(correction=0))
    expected = kl_divergence(Normal(mean.mean(), variance.sqrt()), target)
    result = loss.function(Outputs(rows={"q": raw}), batch)
    assert float(result[0]) == pytest.approx(0.5 * float(expected), rel=1e-6)
    assert loss.weight is not None and loss.weight(batch).tolist() == [1, 1, 0]
    raw.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: loss.function(Outputs(rows={"q": x}), batch)[:2], (raw,)
    )


def test_a_calibrated_density_is_nearer_to_the_ratings(corpus: Corpus) -> None:
    train, validation = corpus.split(test_share=0.3, seed=0)
    target, grid = rating_densities(validation, QUESTIONS).mass, Grid((4, 4))
    settings = {"readout": "fixed:cells=32,sampling=even,bandwidth=0.8", "calibrate_by": "jsd"}
    distances = []
    for calibrate in ("", "bandwidth"):
        fitted = heads(calibrate=calibrate, **settings).fit(train, validation=validation)
        predicted = fitted.predict(validation).densities[QUESTIONS].mass
        distances.append(jsd(target, predicted, grid).mean())
    assert distances[1] < distances[0] and fitted.kde_ is not None and fitted.kde_.bandwidth < 0.8
    assert fitted.notes_ == []  # of the last prediction
    with pytest.raises(ModelError, match="calibrate must name some of temperature, .*not 'bins'"):
        heads(calibrate="bandwidth,bins").fit(corpus)


def test_a_temperature_that_is_too_low_rises(corpus: Corpus) -> None:
    fitted = heads(**VARIANTS["temperature"]).fit(corpus)
    assert fitted.kde_ is not None and fitted.kde_.temperature > 4.01
