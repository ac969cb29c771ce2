"""Embeddings of annotators: formulas in numpy, and annotators known by attributes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import softmax

import dissensus as ds
from dissensus import Corpus
from dissensus.methods import AnnotatorEmbedding
from dissensus.metrics import scores
from dissensus.testing import CHECKS, quick
from dissensus.training import Training
from tests.crowds import feature_crowd


def _with_attributes(corpus: Corpus, **columns: Any) -> Corpus:
    attributes = {name: pa.array(values) for name, values in columns.items()}
    return replace(corpus, annotator_attributes=attributes)


@pytest.mark.parametrize(
    "settings", [{}, {"embeddings": "annotations"}, {"embeddings": "both", "gated": False}], ids=str
)
def test_answers_are_those_of_the_formula(settings: dict[str, Any]) -> None:
    corpus = feature_crowd(n_items=20)
    fitted = quick(AnnotatorEmbedding(**settings)).fit(corpus)
    weights = fitted.weights()
    features = np.stack([corpus.contents["x"][code] for code in corpus.content["x"]])
    values = (features - weights["vectors.mean"]) / weights["vectors.spread"]
    hidden = values @ weights["first.0.weight"].T + weights["first.0.bias"]

    def gated(number: int, features: np.ndarray, embedding: np.ndarray) -> np.ndarray:
        if not settings.get("gated", True):
            return embedding
        of_item = weights[f"gates.{number}.of_item.weight"] @ features
        of_embedding = weights[f"gates.{number}.of_embedding.weight"] @ embedding
        return np.asarray((of_item @ of_embedding) * embedding)

    pairs = fitted.predict(corpus, annotators="all")["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    result = pairs.distribution.reshape(20, 4, 3)
    annotator, answer = corpus["q"].annotator_codes("test"), corpus["q"].answer
    for i in range(20):
        for a in range(4):
            inputs = hidden[i].astype(float)
            if "own" in weights:
                inputs = inputs + gated(0, hidden[i], weights["own"][a])
            if "values_0" in weights:
                mean = weights["values_0"][answer[annotator == a]].mean(axis=0)
                inputs = inputs + gated(1, hidden[i], mean)
            inputs = (inputs - inputs.mean()) / np.sqrt(inputs.var() + 1e-5)
            inputs = np.maximum(inputs * weights["norm.weight"] + weights["norm.bias"], 0)
            expected = softmax(weights["head_0.weight"] @ inputs + weights["head_0.bias"])
            np.testing.assert_allclose(result[i, a], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("promise", ["save and load", "stacked equals alone", "resume"])
def test_promises_with_other_settings(promise: str) -> None:
    CHECKS[promise](quick(AnnotatorEmbedding(embeddings="both")))


# ---- attributes ----


def _two_groups() -> Corpus:
    """Twelve annotators of two groups, which give opposite answers."""
    corpus = feature_crowd(n_items=300, n_annotators=12)
    north = np.arange(12) % 2 == 0
    rows = corpus["q"]
    high = np.stack([corpus.contents["x"][c] for c in corpus.content["x"]])[rows.item, 0] > 0
    rows.answer[:] = np.where(high == north[rows.annotator_codes("test")], 2, 0)
    group = ["north" if of_annotator else "south" for of_annotator in north]
    age = [30 + k if k % 3 else None for k in range(12)]
    return _with_attributes(corpus, group=group, age=age, parts=[[k] for k in range(12)])


def test_annotators_never_seen_are_predicted_by_their_attributes(tmp_path: Path) -> None:
    corpus = _two_groups()
    seen = [f"p{k}" for k in range(8)]
    train = corpus.select(annotators=seen, items=np.arange(200))
    test = corpus.select(annotators=["p8", "p9", "p10", "p11"], items=np.arange(200, 300))
    training = Training(epochs=20, learning_rate=0.01, device="cpu")
    method = AnnotatorEmbedding(encoder="features", attributes="group", training=training)
    fitted = method.fit(train)
    by_attributes, of_all = (
        scores(fitted.predict(test, unknown=how)["q"], test["q"])["annotator accuracy"]
        for how in ("attributes", "mean")
    )
    assert of_all < 0.65 and by_attributes > 0.9
    fitted.predict(test, unknown="attributes")
    assert fitted.notes_ == [
        "no answer in training from annotator 'p8', 'p9', 'p10', 'p11'; predicted as an annotator "
        "with these attributes"
    ]
    fitted.save(tmp_path / "model")
    loaded = ds.load(tmp_path / "model")
    first, second = (m.predict(test, unknown="attributes")["q"] for m in (fitted, loaded))
    np.testing.assert_array_equal(first.distribution, second.distribution)

    strangers = _with_attributes(test, group=["west"] * 4, age=[None] * 4)
    pairs = fitted.predict(strangers, unknown="attributes")["q"].by_annotator
    mean = fitted.predict(strangers, unknown="mean")["q"].by_annotator
    assert pairs is not None and mean is not None
    np.testing.assert_array_equal(pairs.distribution, mean.distribution)
    assert fitted.predict(test, unknown="drop")["q"].by_annotator is None


def test_known_annotators_are_predicted_by_themselves() -> None:
    corpus = _two_groups()
    fitted = quick(AnnotatorEmbedding(attributes="all")).fit(corpus)
    first, second = (
        fitted.predict(corpus, unknown=how)["q"].distribution for how in ("error", "attributes")
    )
    np.testing.assert_array_equal(first, second)
