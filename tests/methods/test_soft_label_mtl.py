"""soft-label-mtl: its two tasks, their losses, and what answers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

import dissensus as ds
from dissensus import Corpus
from dissensus.aggregation import DawidSkene, SoftmaxVote
from dissensus.methods import RepeatedLabel, Single, SoftLabel, SoftLabelMtl
from dissensus.methods.framework.base import Method
from dissensus.training import Training
from tests.crowds import SCALES, feature_crowd, thinned

QUICK = Training(epochs=20, batch_size=16, learning_rate=0.02, device="cpu")
SETTINGS: dict[str, Any] = {"encoder": "features", "dropout": 0, "training": QUICK}


def mtl(**settings: Any) -> SoftLabelMtl:
    return SoftLabelMtl(**SETTINGS | settings)


def with_gold(corpus: Corpus, items: np.ndarray | None = None) -> Corpus:
    """Gold labels for some items: the majority, one value further on."""
    labels = corpus["q"].consensus()
    gold = dataclasses.replace(labels, answer=(labels.answer + 1) % len(SCALES["nominal"]))  # type: ignore[arg-type]
    kept = np.ones(gold.n_rows, bool) if items is None else np.isin(gold.item, items)
    return dataclasses.replace(corpus, gold={"q": gold.take(kept)})


def _losses(method: SoftLabelMtl, corpus: Corpus) -> tuple[float, torch.Tensor, torch.Tensor]:
    """The loss of all items, and what both tasks say of them before the first step."""
    method.begin_fit(corpus, None, None)
    run = method.trainer(corpus, None)
    run.network.eval()
    everything = np.arange(corpus.n_items)
    nothing = np.zeros(0, np.int64)
    share = np.ones(corpus.n_items, np.float32)
    batch = run.examples.batch(everything, nothing, nothing, share)
    with torch.no_grad():
        items = run.network(batch).items
        loss = batch.loss(run.network(batch), run.losses)
    return float(loss), items["q"].double(), items.get("q.soft", items["q"]).double()


def _bits(kind: str, p: np.ndarray, q: np.ndarray) -> float:
    """The paper's equations, over items."""
    if kind == "kl":
        return float((p * np.log2(p / q)).sum(axis=1).mean())
    if kind == "inverse-kl":
        return float((q * np.log2(q / p)).sum(axis=1).mean())
    return float(-(p * np.log2(q)).sum(axis=1).mean())


@pytest.mark.parametrize("kind", ["kl", "inverse-kl", "ce"])
def test_the_loss_is_the_papers_sum(kind: str) -> None:
    crowd = with_gold(feature_crowd(n_items=40))
    loss, main, soft = _losses(mtl(label="gold", soft_loss=kind), crowd)
    gold = crowd.gold["q"].answer
    hard = -main.log_softmax(1).numpy()[np.arange(40), gold].mean()
    target = SoftmaxVote().fit(crowd["q"]).distribution_
    expected = hard + _bits(kind, target, soft.softmax(1).numpy())
    assert loss == pytest.approx(expected, rel=1e-5)


def test_without_the_second_task_it_is_single() -> None:
    crowd, test = feature_crowd(), feature_crowd(seed=1)
    for branch in ("output", "attention"):
        training = Training(epochs=3, device="cpu")
        alone = mtl(soft_loss="none", branch=branch, training=training).fit(crowd)
        single = Single(**SETTINGS | {"branch": branch, "training": training}).fit(crowd)
        assert set(alone.weights()) == set(single.weights())
        np.testing.assert_array_equal(
            alone.predict(test)["q"].distribution, single.predict(test)["q"].distribution
        )


def test_items_with_a_label_or_answers_only_count_for_one_task() -> None:
    crowd = with_gold(thinned(feature_crowd(n_items=30), share=0.3), items=np.arange(10))
    answered = np.flatnonzero(crowd["q"].per_item())
    assert np.setdiff1d(np.arange(10), answered).size  # else there is nothing to see
    method = mtl(label="gold")
    method.begin_fit(crowd, None, None)
    built = method.targets(crowd)
    labelled = crowd.gold["q"].item
    assert np.flatnonzero(built["q.weight"]).tolist() == labelled.tolist()
    assert np.flatnonzero(built["q.soft.weight"]).tolist() == answered.tolist()
    assert np.isfinite(built["q.soft"]).all()
    assert method.learns(crowd).tolist() == np.union1d(labelled, answered).tolist()
    loss, main, soft = _losses(method, crowd)
    hard = -main.log_softmax(1).numpy()[labelled, crowd.gold["q"].answer].mean()
    target = SoftmaxVote().fit(crowd["q"]).distribution_[answered]
    expected = hard + _bits("kl", target, soft.softmax(1).numpy()[answered])
    assert loss == pytest.approx(expected, rel=1e-5)


def test_each_task_answers_for_itself(tmp_path: Any) -> None:
    """Gold says the opposite of people: the tasks must differ."""
    crowd = with_gold(feature_crowd(n_items=200))
    fitted = mtl(label="gold", soft_loss="ce").fit(crowd)
    label = fitted.predict(crowd)["q"]
    soft = fitted.set_params(answer="soft").predict(crowd)["q"]
    assert (label.consensus == crowd.gold["q"].answer).mean() > 0.7
    assert (soft.consensus == crowd["q"].consensus().answer).mean() > 0.7
    fitted.save(tmp_path / "model")
    again = ds.load(tmp_path / "model").predict(crowd)["q"]
    np.testing.assert_array_equal(again.distribution, soft.distribution)


def test_labels_of_any_aggregator() -> None:
    crowd = thinned(feature_crowd(n_items=100), share=0.8)
    expected = DawidSkene().fit(crowd["q"]).consensus_
    for method in (mtl(label="dawid-skene"), Single(**SETTINGS | {"label": "dawid-skene"})):
        method.begin_fit(crowd, None, None)
        built = method.targets(crowd)
        assert built["q"][expected.item].tolist() == expected.answer.tolist()
        assert np.flatnonzero(built["q.weight"]).tolist() == expected.item.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Single, SoftLabel, RepeatedLabel, SoftLabelMtl])
def test_every_method_has_the_papers_network(cls: type[Method]) -> None:
    training = Training(epochs=6, learning_rate=1e-3, batch_size=16, device="cpu")
    settings = SETTINGS | {"training": training, "dropout": 0.1, "branch": "attention"}
    train, test = feature_crowd(n_items=200), feature_crowd(n_items=100, seed=1)
    fitted = cls(**settings).fit(train)
    shapes = {name: stored.shape for name, stored in fitted.weights().items()}
    assert shapes["trunk.block.layers.1.outer.weight"] == (8, 2048)
    assert shapes["head_0.0.layers.1.inner.weight"] == (2048, 8)
    assert shapes["head_0.1.weight"] == (4, 8) and shapes["head_0.2.weight"] == (3, 4)
    assert not any("mean" in name for name in shapes)  # nothing is standardised
    prediction = fitted.predict(test)["q"]
    assert (prediction.consensus == test["q"].consensus().answer).mean() > 0.6
