"""Heads that share strength: a basis of heads, and a common head that they begin from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus import load, simulate
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads, Job, fit_many
from dissensus.training import Training

QUICK = Training(epochs=4, batch_size=16, device="cpu", learning_rate=3e-3)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Texts that four of six annotators rated on valence and activation."""
    return simulate.ratings(n_items=40, n_annotators=6, labels_per_item=4, seed=1)


def heads(**settings: object) -> AnnotatorHeads:
    return AnnotatorHeads(**({"encoder": "characters", "training": QUICK} | settings))  # type: ignore[arg-type]


def answers(fitted: AnnotatorHeads, corpus: Corpus) -> np.ndarray:
    """The predicted valence of every pair, (n_items, n_annotators)."""
    predicted = fitted.predict(corpus, annotators="all")["valence"].by_annotator
    assert predicted is not None
    return predicted.value.reshape(corpus.n_items, -1)


@pytest.mark.parametrize(
    "settings", [{"rank": 2}, {"pretrain": 0.5}, {"rank": 1, "pretrain": 0.25}]
)
def test_shared_heads_are_fitted_in_groups_as_alone(corpus: Corpus, settings: dict) -> None:  # type: ignore[type-arg]
    parts = [corpus.split(test_share=share, seed=0)[0] for share in (0.2, 0.4)]

    def fresh() -> list[AnnotatorHeads]:
        return [heads(init_seed=seed, loss="ccc", **settings) for seed in (0, 1)]

    alone = [method.fit(part) for method, part in zip(fresh(), parts, strict=True)]
    stacked = fresh()
    fit_many([Job(method, part) for method, part in zip(stacked, parts, strict=True)], stack=True)
    for one, other in zip(alone, stacked, strict=True):
        for name, weight in one.weights().items():
            np.testing.assert_allclose(other.weights()[name], weight, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("settings", [{"rank": 2}, {"pretrain": 0.5}])
def test_shared_heads_are_saved_and_loaded(
    corpus: Corpus,
    tmp_path: Path,
    settings: dict,  # type: ignore[type-arg]
) -> None:
    fitted = heads(**settings).fit(corpus)
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, AnnotatorHeads)
    np.testing.assert_allclose(answers(again, corpus), answers(fitted, corpus), atol=1e-6)


def test_own_heads_have_the_rank_of_their_basis(corpus: Corpus) -> None:
    fitted = heads(rank=1, dropout=0.0).fit(corpus)
    weights = fitted.weights()
    assert weights["embedding"].shape == (6, 1)
    assert weights["heads_0.basis"].shape[0] == 1 and np.abs(weights["heads_0.basis"]).max() > 0
    own = answers(fitted, corpus) - answers(fitted, corpus).mean(axis=1, keepdims=True)
    own -= own.mean(axis=0)  # biases
    values = np.linalg.svd(own)[1]
    assert values[1] < 0.05 * values[0]


def test_own_heads_learn_only_after_the_common_one(corpus: Corpus) -> None:
    """While the common head is trained, heads of annotators stay as they are."""
    short = Training(epochs=1, batch_size=16, device="cpu", weight_decay=0.0)
    longer = Training(epochs=2, batch_size=16, device="cpu", weight_decay=0.0)
    first = heads(training=short, pretrain=0.99).fit(corpus).weights()
    assert (first["heads_0.weight"] == 0).all()
    assert not (
        heads(training=longer, pretrain=0.5).fit(corpus).weights()["heads_0.weight"] == 0
    ).all()


def test_a_pretrained_fit_resumes(corpus: Corpus, tmp_path: Path) -> None:
    from dissensus.training.loop import Trainer

    whole = heads(pretrain=0.5).fit(corpus)
    stopped = heads(pretrain=0.5)
    original = Trainer.end_epoch

    def interrupted(self: Trainer, loss: float, rate: float) -> None:
        original(self, loss, rate)
        if self.epoch == 2:
            self.consistent = True
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "end_epoch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stopped.fit(corpus, checkpoint=tmp_path / "state")
    resumed = heads(pretrain=0.5).fit(corpus, checkpoint=tmp_path / "state")
    for name, weight in whole.weights().items():
        np.testing.assert_allclose(resumed.weights()[name], weight, atol=1e-6, err_msg=name)


def test_wrong_settings_are_refused(corpus: Corpus) -> None:
    with pytest.raises(ModelError, match="rank and pretrain need a head that annotators share"):
        heads(rank=2, common=False).fit(corpus)
    with pytest.raises(ModelError, match="pretrain at least 0 and below 1; found 0 and 1"):
        heads(pretrain=1.0).fit(corpus)
