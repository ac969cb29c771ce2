"""Heads that predict a mixture, a spread that depends on the item, or the moments of an item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus import load, simulate
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads, Job, fit_many
from dissensus.scales import Interval
from dissensus.training import Training
from tests.crowds import feature_crowd

QUICK = Training(epochs=4, batch_size=16, device="cpu", learning_rate=3e-3)
VARIANTS: dict[str, dict[str, object]] = {
    "mixture": {"components": 2},
    "spread": {"item_spread": True},
    "moments": {"item_spread": True, "moments": 0.1, "loss": "ccc"},
    "all": {"components": 2, "item_spread": True, "moments": 0.1, "aggregate": True},
}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Texts with one clause, or two that annotators rate differently: two modes."""
    return simulate.ratings(n_items=80, n_annotators=6, labels_per_item=4, seed=1)


def heads(**settings: object) -> AnnotatorHeads:
    return AnnotatorHeads(**({"encoder": "characters", "training": QUICK} | settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_fitted_in_groups_as_alone_and_saved(
    corpus: Corpus, name: str, tmp_path: Path
) -> None:
    def fresh() -> list[AnnotatorHeads]:
        return [heads(init_seed=seed, **VARIANTS[name]) for seed in (0, 1)]

    alone, stacked = [method.fit(corpus) for method in fresh()], fresh()
    fit_many([Job(method, corpus) for method in stacked], stack=True)
    for one, other in zip(alone, stacked, strict=True):
        for part, weight in one.weights().items():
            np.testing.assert_allclose(other.weights()[part], weight, atol=2e-5, err_msg=part)
    alone[0].save(tmp_path / "model")
    again = load(tmp_path / "model").predict(corpus)["valence"]
    before = alone[0].predict(corpus)["valence"]
    np.testing.assert_allclose(again.distribution, before.distribution, atol=1e-6)
    np.testing.assert_allclose(before.distribution.sum(axis=1), 1, atol=1e-6)


def test_a_mixture_finds_two_modes(corpus: Corpus) -> None:
    """Of ratings that are far from their mean, where one normal density has its peak."""
    longer = Training(epochs=30, batch_size=16, device="cpu", learning_rate=1e-2)
    answers = corpus["valence"]
    assert isinstance(answers.scale, Interval)
    columns = answers.scale.bins(answers.answer)
    unlikely = []
    for components in (1, 2):
        fitted = heads(components=components, training=longer).fit(corpus, "valence")
        predicted = fitted.predict(corpus)["valence"].by_annotator
        assert predicted is not None and predicted.distribution is not None
        mass = predicted.distribution[np.arange(len(columns)), columns]
        unlikely.append(-np.log(mass + 1e-9).mean())
    assert unlikely[1] < unlikely[0] - 0.1


def test_wrong_settings_are_refused(corpus: Corpus) -> None:
    with pytest.raises(ModelError, match="components must be at least 1, and moments at least 0"):
        heads(components=0).fit(corpus)
    with pytest.raises(ModelError, match="a mixture is learned by its likelihood"):
        heads(components=2, loss="ccc").fit(corpus)
    votes = feature_crowd("nominal")
    with pytest.raises(ModelError, match="'q' is nominal; leave them out"):
        AnnotatorHeads(components=2).fit(votes)
    with pytest.raises(ModelError, match="moments needs ordinal or interval answers"):
        AnnotatorHeads(moments=1.0).fit(votes)
