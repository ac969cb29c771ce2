"""Densities of annotators' ratings: learned, predicted, and the same however they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dissensus import simulate
from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, n_uniforms, rating_densities
from dissensus.methods import (
    AnnotatorHeads,
    AnnotatorMajority,
    AnnotatorOneHot,
    GridDensity,
    Job,
    Prior,
    fit_many,
)
from dissensus.methods.framework.density_loss import by_item
from dissensus.methods.framework.pairs import predicting_once
from dissensus.training import Training
from dissensus.training.stacking.groups import obstacle

QUICK = Training(epochs=3, batch_size=16, device="cpu")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Texts that four of six annotators rated on valence and activation."""
    return simulate.ratings(n_items=40, n_annotators=6, labels_per_item=4, seed=1)


def heads(**settings: object) -> AnnotatorHeads:
    known = {"encoder": "characters", "training": QUICK, "kde": RatingKde(observations=40)}
    return AnnotatorHeads(**(known | settings))  # type: ignore[arg-type]


def test_rows_become_a_table_with_a_line_for_each_item() -> None:
    values = torch.arange(6.0)[:, None]
    counts = torch.tensor([True, True, False, True, True, True])
    item = torch.tensor([0, 0, 0, 2, 2, 2])
    table, present = by_item(values, counts, item, n_items=3, most=2)
    assert table[..., 0].tolist() == [[0, 1], [0, 0], [3, 4]]  # the third of item 2 has no place
    assert present.tolist() == [[True, True], [False, False], [True, True]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "objective"),
    [
        (AnnotatorHeads, "both"),
        pytest.param(AnnotatorHeads, "density", marks=pytest.mark.slow),
        pytest.param(AnnotatorOneHot, "both", marks=pytest.mark.slow),
        pytest.param(AnnotatorOneHot, "density", marks=pytest.mark.slow),
    ],
)
def test_a_density_is_learned(corpus: Corpus, method: type, objective: str) -> None:
    training = Training(epochs=15, batch_size=16, device="cpu", learning_rate=3e-3)
    kde = RatingKde(observations=40, temperature=16)
    settings = {"encoder": "characters", "training": training, "kde": kde, "dropout": 0.0}
    fitted = method(objective=objective, loss="ccc", **settings).fit(corpus)
    losses = fitted.log_.train
    assert np.isfinite(losses).all() and losses[-1] < losses[0] - 0.1
    density = fitted.predict(corpus).densities["valence", "activation"]
    assert density.mass.shape == (40, 4, 4)
    np.testing.assert_allclose(density.cells.sum(axis=1), 1, atol=1e-6)


def test_the_gradient_of_a_density_loss_is_that_of_finite_differences(corpus: Corpus) -> None:
    kde = RatingKde(observations=40, temperature=16)
    generator = torch.Generator().manual_seed(0)
    ratings = (torch.rand(2, 3, 2, generator=generator, dtype=torch.float64) - 0.5).requires_grad_()
    present = torch.tensor([[True, True, True], [True, True, False]])
    draws = torch.rand(2, 40, n_uniforms(3, 2), generator=generator, dtype=torch.float64)

    def entropy(values: torch.Tensor) -> torch.Tensor:
        mass = kde.density(values, present, uniforms=draws)
        return -(mass * (mass + 1e-8).log()).sum()

    assert torch.autograd.gradcheck(entropy, ratings, eps=1e-6, atol=1e-4)


@pytest.mark.parametrize("losses", ["summed", "interleaved"])
def test_trainings_with_a_density_stack(corpus: Corpus, losses: str) -> None:
    """Folds of different sizes and seeds end with the weights that they would have alone."""
    training = Training(epochs=2, batch_size=16, device="cpu", losses=losses)  # type: ignore[arg-type]
    parts = [corpus.split(test_share=share, seed=0)[0] for share in (0.2, 0.4)]

    def fresh() -> list[AnnotatorHeads]:
        return [heads(objective="both", loss="ccc", training=training, init_seed=n) for n in (0, 1)]

    alone = [method.fit(part) for method, part in zip(fresh(), parts, strict=True)]
    stacked = fresh()
    fit_many([Job(method, part) for method, part in zip(stacked, parts, strict=True)], stack=True)
    for method, part in zip(fresh(), parts, strict=True):
        method.begin_fit(part, None, None)
        assert obstacle(method.trainer(part, None)) == ""  # both were members of a stack
    for one, other in zip(alone, stacked, strict=True):
        for name, weight in one.weights().items():
            np.testing.assert_allclose(other.weights()[name], weight, atol=1e-4, err_msg=name)


def test_an_item_has_the_same_density_alone_and_with_others(corpus: Corpus) -> None:
    fitted = heads(objective="both").fit(corpus)
    every = fitted.predict(corpus).densities["valence", "activation"]
    one = fitted.predict(corpus.select(items=np.arange(40) == 7)).densities["valence", "activation"]
    np.testing.assert_allclose(one.mass[0], every.mass[7], atol=1e-5)


@pytest.mark.parametrize("kind", ["soft", "plain"])
def test_any_method_predicts_a_density_on_request(corpus: Corpus, kind: str) -> None:
    for method in (heads(), Prior()):
        predictions = method.fit(corpus).predict(corpus, density=f"{kind}:bins=3,observations=40")
        density = predictions.densities["valence", "activation"]
        assert density.shape == (3, 3)
        np.testing.assert_allclose(density.cells.sum(axis=1), 1, atol=1e-6)
        assert not method.predict(corpus).densities


def test_own_and_all_annotators_have_different_densities(corpus: Corpus) -> None:
    fitted = heads(objective="both", training=Training(epochs=8, device="cpu")).fit(corpus)
    own, every = (
        fitted.predict(corpus, consensus=consensus).densities["valence", "activation"].mass
        for consensus in ("own", "all")
    )
    assert np.abs(own - every).max() > 1e-3


@pytest.mark.slow
def test_the_same_pairs_are_predicted_once_within_a_block(corpus: Corpus) -> None:
    method = AnnotatorMajority().fit(corpus)
    some = corpus.select(items=np.arange(5))
    density = "plain:observations=40"
    alone = [method.predict(part, density=density) for part in (corpus, some)]
    calls = []

    class Counting(AnnotatorMajority):
        def predict_pairs(self, *given: Any) -> Any:
            calls.append(given)
            return super().predict_pairs(*given)

    counting = Counting().fit(corpus)
    with predicting_once():
        within = [counting.predict(part, density=density) for part in (corpus, some, corpus)]
    assert len(calls) == 2  # one for each corpus
    for before, after in zip([*alone, alone[0]], within, strict=True):
        (first,), (second,) = before.densities.values(), after.densities.values()
        assert np.array_equal(first.mass, second.mass)


def test_a_grid_is_learned_directly(corpus: Corpus) -> None:
    training = Training(epochs=20, batch_size=16, device="cpu", learning_rate=1e-2)
    fitted = GridDensity(encoder="characters", training=training, dropout=0.0, bins=3).fit(corpus)
    predictions = fitted.predict(corpus)
    density = predictions.densities["valence", "activation"]
    observed = rating_densities(corpus, ["valence", "activation"], 3)

    def tvd(predicted: np.ndarray) -> float:
        return float(np.abs(predicted - observed.cells).sum(axis=1).mean() / 2)

    assert tvd(density.cells) < 0.7 * tvd(observed.cells.mean(axis=0))
    marginal = density.marginal("valence") @ np.linspace(-1, 1, 3)
    np.testing.assert_allclose(predictions["valence"].consensus, marginal, atol=1e-6)


def test_densities_of_ratings_do_not_depend_on_order_or_other_items(corpus: Corpus) -> None:
    questions = ["valence", "activation"]
    every = rating_densities(corpus, questions)
    some = rating_densities(corpus.select(items=np.arange(40) % 2 == 1), questions)
    np.testing.assert_array_equal(some.mass, every.mass[1::2])
    np.testing.assert_allclose(every.cells.sum(axis=1), 1)


def test_mass_is_where_the_ratings_are() -> None:
    from dissensus.annotations import Annotations
    from dissensus.scales import Interval, Ordinal

    rows = [("t1", "ann", 1.2), ("t1", "bob", 1.4), ("t2", "ann", 4.8), ("t2", "bob", 4.6),
            ("t3", "ann", 3.0)]  # fmt: skip
    corpus = Corpus.build(
        "small", ["t1", "t2", "t3"], {"valence": Annotations.from_rows(rows, Interval(1, 5))}
    )
    density = rating_densities(corpus, ["valence"], 4)
    assert list(density.items) == ["t1", "t2"]  # one rating is no density
    assert density.mass[0, 0] > 0.99 and density.mass[1, 3] > 0.99
    levels = Ordinal(("low", "middle", "high"))
    answers = Annotations.from_rows([("t1", "ann", "high"), ("t1", "bob", "high")], levels)
    ordinal = rating_densities(Corpus.build("levels", ["t1"], {"q": answers}), ["q"], 4)
    assert ordinal.mass[0, 3] > 0.99
