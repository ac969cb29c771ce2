"""Annotators with few answers: a prior draws them to what all annotators share."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Corpus
from dissensus.contents import Contents
from dissensus.methods import (
    AnnotatorEmbedding,
    AnnotatorHeads,
    AnnotatorQueries,
    Job,
    fit_many,
)
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Training, sparse_tables
from dissensus.training.examples import batches
from tests.crowds import feature_crowd, few_answers

QUICK = Training(epochs=10, learning_rate=1e-2, device="cpu")


@pytest.fixture(scope="module")
def few() -> Corpus:
    return few_answers()


def heads(**settings: object) -> AnnotatorHeads:
    return AnnotatorHeads(**({"encoder": "features", "training": QUICK} | settings))  # type: ignore[arg-type]


def norms(fitted: AnnotatorHeads) -> np.ndarray:
    """The length of each annotator's own weights, (n_annotators,)."""
    return np.asarray(np.sqrt((fitted.weights()["heads_0.weight"] ** 2).sum(axis=(1, 2))))


def test_the_loss_is_the_likelihood_with_the_prior(few: Corpus) -> None:
    fitted = heads(spread=0.7)
    fitted.begin_fit(few, None, None)
    run = fitted.trainer(few, None)
    network = run.network.train()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    [(batch, _)] = batches(run.examples, np.arange(few.n_items), few.n_items)
    outputs = network(batch)
    [loss] = run.losses
    value, weight = loss.weighted(outputs, batch)
    family = likelihood(few["q"].scale)
    plain = family.loss(outputs.rows["q"], batch.rows.answer["q"]).sum()
    weights, bias = (dict(network.named_parameters())[f"heads_0.{n}"] for n in ("weight", "bias"))
    prior = 64 * weights.square().sum() + bias.square().sum()  # 64 hidden units
    torch.testing.assert_close(value, plain + 0.5 / 0.7**2 * prior, rtol=1e-5, atol=1e-3)
    assert float(weight) == few["q"].n_rows


@pytest.mark.slow
def test_only_some_rows_are_stepped_with_the_same_prior(
    few: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = replace(QUICK, epochs=1, optimiser="sgd", learning_rate=0.05)
    whole = heads(training=training, aggregate=True).fit(few)
    monkeypatch.setattr(sparse_tables, "LARGE", 1)
    np.testing.assert_allclose(
        norms(heads(training=training, aggregate=True).fit(few)), norms(whole), rtol=1e-4
    )


@pytest.mark.parametrize("settings", [{"common": False}, {"spread": math.inf}])
def test_heads_without_a_prior(few: Corpus, settings: dict[str, object]) -> None:
    method = heads(**settings)
    assert not method.has_prior
    assert "n_answers_0" not in method.fit(few).weights()


@pytest.mark.parametrize("kind", ["ordinal", "interval", "multi-label"])
def test_every_scale_has_a_prior(kind: str) -> None:
    corpus = feature_crowd(kind, 32)
    fitted = heads(training=replace(QUICK, epochs=2)).fit(corpus)
    assert np.isfinite(fitted.log_.train).all()


# ---- embeddings and queries ----


FEATURES: dict[str, Any] = {"encoder": "features", "training": QUICK}


def embedding(**settings: Any) -> AnnotatorEmbedding:
    return AnnotatorEmbedding(**(FEATURES | settings))


def queries(**settings: Any) -> AnnotatorQueries:
    return AnnotatorQueries(**(FEATURES | settings))


class _CrowdQueries(AnnotatorQueries):
    panel = 4  # with more annotators, heads are low-rank


def crowd_queries(**settings: Any) -> AnnotatorQueries:
    return _CrowdQueries(**(FEATURES | settings))


OTHERS: list[tuple[Any, dict[str, Any], str]] = [
    (embedding, {}, "own"),
    (queries, {}, "queries"),
    (crowd_queries, {}, "queries"),
]


def squares_of(parameters: dict[str, torch.Tensor], of_queries: float = 1) -> torch.Tensor:
    """The squares of what annotators have of their own, as many times as the prior counts them."""
    times = {
        "own": 1,
        "queries": of_queries,
        "classifiers.0.head.bias": 1,
        "classifiers.0.head.weight": 64,  # their number
    }
    own = [times[name] * p.square().sum() for name, p in parameters.items() if name in times]
    if "embedding" in parameters:  # of low-rank heads
        basis = parameters["classifiers.0.head.basis"]
        heads_of_all = torch.einsum("ar,row->aow", parameters["embedding"], basis)
        own.append(64 * heads_of_all.square().sum())
    return torch.stack(own).sum()


@pytest.mark.parametrize(("method", "settings", "table"), OTHERS)
def test_the_loss_of_others_is_the_likelihood_with_the_prior(
    few: Corpus, method: Any, settings: dict[str, Any], table: str
) -> None:
    fitted = method(spread=0.7, dropout=0.0, **settings)
    fitted.begin_fit(few, None, None)
    run = fitted.trainer(few, None)
    network = run.network.train()
    with torch.no_grad():
        network.get_parameter(table).add_(0.3)
        if settings:
            network.get_parameter("classifiers.0.head.basis").normal_()
    [(batch, _)] = batches(run.examples, np.arange(few.n_items), few.n_items)
    outputs = network(batch)
    [loss] = run.losses
    value, _ = loss.weighted(outputs, batch)
    plain = likelihood(few["q"].scale).loss(outputs.rows["q"], batch.rows.answer["q"]).sum()
    prior = squares_of(dict(network.named_parameters()))
    torch.testing.assert_close(value, plain + 0.5 / 0.7**2 * prior, rtol=1e-5, atol=1e-3)


def test_queries_that_choose_between_positions_may_deviate_more(few: Corpus) -> None:
    vectors = np.random.default_rng(0).normal(size=(few.n_items, 3, 8)).astype(np.float32)
    contents, content = Contents.distinct("features", list(vectors))
    corpus = replace(few, contents={"x": contents}, content={"x": content})
    fitted = queries(spread=0.7, dropout=0.0, vector_dropout=0.0)
    fitted.begin_fit(corpus, None, None)
    run = fitted.trainer(corpus, None)
    network = run.network.train()
    with torch.no_grad():
        network.get_parameter("queries").add_(0.3)
    [(batch, _)] = batches(run.examples, np.arange(corpus.n_items), corpus.n_items)
    outputs = network(batch)
    value, _ = run.losses[0].weighted(outputs, batch)
    plain = likelihood(corpus["q"].scale).loss(outputs.rows["q"], batch.rows.answer["q"]).sum()
    prior = squares_of(dict(network.named_parameters()), of_queries=1 / 4)
    torch.testing.assert_close(value, plain + 0.5 / 0.7**2 * prior, rtol=1e-5, atol=1e-3)


def test_methods_that_know_annotators_have_a_prior_by_default() -> None:
    assert [cls().spread for cls in (AnnotatorHeads, AnnotatorEmbedding, AnnotatorQueries)] == [
        *(0.5, 0.5, 0.25)
    ]
    assert not AnnotatorQueries.published().has_prior


@pytest.mark.parametrize(
    ("method", "settings", "table"),
    [OTHERS[0], *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHERS[1:])],
)
def test_few_answers_keep_others_close_to_what_is_shared(
    few: Corpus, method: Any, settings: dict[str, Any], table: str
) -> None:
    training = replace(QUICK, epochs=30)
    fitted = method(spread=0.5, training=training, **settings).fit(few)
    lengths = np.sqrt((fitted.weights()[table] ** 2).sum(axis=1))
    assert lengths[9] < lengths[10:15].min()  # of those who guess too


@pytest.mark.parametrize(("method", "settings", "table"), OTHERS)
def test_others_with_a_prior_run_as_a_stack_and_by_rows(
    few: Corpus, method: Any, settings: dict[str, Any], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = replace(QUICK, epochs=2, optimiser="sgd", learning_rate=0.05)
    own: dict[str, Any] = {"spread": 0.5, "training": training, "dropout": 0.0} | settings
    parts = [few.select(items=np.arange(n)) for n in (120, 160)]
    alone = [method(init_seed=n, **own).fit(part) for n, part in enumerate(parts)]
    stacked = [method(init_seed=n, **own) for n in range(2)]
    fit_many([Job(one, part) for one, part in zip(stacked, parts, strict=True)], stack=True)
    monkeypatch.setattr(sparse_tables, "LARGE", 1)
    by_rows = [method(init_seed=n, **own).fit(part) for n, part in enumerate(parts)]
    for one, *others in zip(alone, stacked, by_rows, strict=True):
        for other in others:
            np.testing.assert_allclose(
                other.weights()[table], one.weights()[table], rtol=1e-3, atol=1e-4
            )


# ---- first biases ----


@pytest.mark.parametrize(("method", "n_added"), [(heads, 64), (queries, 256)])
def test_biases_start_as_if_the_prior_were_answers(
    few: Corpus, method: Any, n_added: float
) -> None:
    """As many answers of the crowd as the prior is worth, 16 / spread^2, are added to one's own."""
    rows = few["q"]
    of_crowd = np.bincount(rows.answer, minlength=3)
    own = np.bincount(rows.answer[rows.annotator_codes("test") == 9], minlength=3)
    assert own.sum() == 3
    for fitted, added in ((method(), n_added), (method(spread=math.inf), 5)):
        drawn = own + (added + 1) * (of_crowd + 1) / (of_crowd + 1).sum()
        expected = np.log(drawn / drawn.sum())
        np.testing.assert_allclose(fitted.start(few, "q")[1 + 9], expected, rtol=1e-6)


def test_biases_of_ratings_start_alike_with_and_without_a_prior() -> None:
    corpus = feature_crowd("interval", 32)
    starts = [heads(spread=spread).start(corpus, "q") for spread in (0.5, math.inf)]
    np.testing.assert_array_equal(starts[0], starts[1])
