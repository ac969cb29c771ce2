"""One more annotator learns the consensus, and predicts annotators whom nobody knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dissensus as ds
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads, AnnotatorOneHot
from dissensus.training import Training
from dissensus.training.examples import Table, batches
from tests.crowds import feature_crowd

QUICK = Training(epochs=3, batch_size=8, device="cpu")
METHODS: list[Any] = [AnnotatorHeads, AnnotatorOneHot]
KINDS = ["nominal", "ordinal", "interval", "multi-label"]


@pytest.mark.parametrize("kind", KINDS)
def test_its_answers_are_the_consensus_of_each_item(kind: str) -> None:
    crowd = feature_crowd(kind, n_items=20)
    method = AnnotatorHeads(encoder="features", aggregate=True)
    method.begin_fit(crowd, None, None)
    rows, plain = method.rows(crowd), Table.of_corpus(crowd, ("q",))
    assert (np.diff(rows.item) >= 0).all()
    own = rows.annotator == crowd.n_annotators
    labels = crowd["q"].consensus()
    np.testing.assert_array_equal(rows.item[own], labels.item)
    expected = Table.of_corpus(replace(crowd, questions={"q": labels}), ("q",))
    np.testing.assert_array_equal(rows.answer["q"][own], expected.answer["q"])
    for table, kept in ((rows.answer, plain.answer), (rows.weight, plain.weight)):
        np.testing.assert_array_equal(table["q"][~own], kept["q"])
    np.testing.assert_array_equal(rows.annotator[~own], plain.annotator)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_it_predicts_newcomers_and_is_in_no_consensus(
    method: Any, kind: str, tmp_path: Path
) -> None:
    crowd = feature_crowd(kind, n_items=40)
    model = method(encoder="features", aggregate=True, training=QUICK).fit(crowd)
    prediction = model.predict(
        crowd, annotators=["p1", "zoe"], consensus="all", unknown="aggregate"
    )
    note = "no answer in training from annotator 'zoe'; predicted as the aggregate annotator, who"
    assert model.notes_ == [f"{note} learned the consensus"]
    pairs = prediction["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    item, code = np.arange(40), len(crowd.annotators)
    direct = model.predict_pairs(crowd, item, np.full(40, code))["q"]
    np.testing.assert_allclose(pairs.distribution[1::2], direct.distribution, atol=1e-6)
    everyone = [model.predict_pairs(crowd, item, np.full(40, a))["q"] for a in range(code)]
    mean = np.mean([answers.distribution for answers in everyone], axis=0)
    np.testing.assert_allclose(prediction["q"].distribution, mean, atol=1e-6)
    named = model.predict(crowd, annotators="all")["q"].by_annotator
    assert named is not None and list(named.annotators) == list(crowd.annotators)
    assert list(model.learned_.annotators) == list(crowd.annotators)
    model.save(tmp_path / "m")
    again = ds.load(tmp_path / "m").predict(crowd, annotators=["zoe"], unknown="aggregate")["q"]
    assert again.by_annotator is not None
    np.testing.assert_array_equal(again.by_annotator.value, pairs.value[1::2])


def test_it_learns_the_mean_of_ratings() -> None:
    crowd = feature_crowd("interval", n_items=150)
    training = Training(epochs=40, device="cpu")
    model = AnnotatorHeads(encoder="features", aggregate=True, dropout=0.1, training=training)
    model.fit(crowd)
    pairs = model.predict(crowd, annotators=["zoe"], unknown="aggregate")["q"].by_annotator
    assert pairs is not None
    mean = crowd["q"].consensus().answer
    assert np.corrcoef(pairs.value, mean)[0, 1] > 0.8
    # one annotator more does not change what a newcomer without the setting gets
    old = AnnotatorHeads(encoder="features", training=QUICK)
    assert old.aggregate is False and old.fit(crowd).n_annotators == crowd.n_annotators


@pytest.mark.parametrize("method", METHODS)
def test_it_is_no_part_of_a_density_that_is_learned(method: Any) -> None:
    """The loss of the density is the same, whatever the aggregate's head predicts."""
    crowd = feature_crowd("interval", n_items=24)
    settings: dict[str, Any] = {"encoder": "features", "objective": "both", "training": QUICK}
    runs = []
    for shift in (0.0, 5.0):
        built = method(**settings, aggregate=True)
        built.begin_fit(crowd, None, None)
        run = built.trainer(crowd, None)
        tables = [t for t in run.network.tables() if t.shape[0] == crowd.n_annotators + 1]
        assert tables
        for table in tables:
            table.data[-1] += shift
        batch, _ = next(iter(batches(run.examples, np.arange(24), 24)))
        run.network.eval()
        runs.append(float(run.loss(batch, run.losses[-1:]).detach()))
    assert runs[0] == runs[1]
    says = "^an aggregate annotator learns from answers; set objective to answers or both$"
    with pytest.raises(ModelError, match=says):
        method(**settings | {"objective": "density"}, aggregate=True).fit(crowd)
