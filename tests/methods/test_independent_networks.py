"""D-LEMA, PADL and QuMATL's Base: their formulas in numpy, and what they learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import entropy

from dissensus import Corpus
from dissensus.methods import AnnotatorHeads, DLema, Padl, build
from dissensus.methods.d_lema import certainty
from dissensus.scales import MultiLabel, Nominal
from dissensus.testing import quick
from dissensus.training import Training
from tests.crowds import feature_crowd

TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}


def _features(corpus: Corpus) -> np.ndarray:
    return np.stack([corpus.contents["x"][code] for code in corpus.content["x"]])


def _by_annotator(fitted: Any, corpus: Corpus) -> np.ndarray:
    pairs = fitted.predict(corpus, annotators="all")["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    return np.asarray(pairs.distribution.reshape(corpus.n_items, corpus.n_annotators, -1))


# ---- D-LEMA ----


def test_networks_of_annotators_are_independent() -> None:
    """Without dropout, a network is a perceptron with one hidden layer; other annotators' answers
    change nothing."""
    corpus = feature_crowd(n_items=30)
    fitted = quick(DLema(dropout=0.0)).fit(corpus)
    weights = fitted.weights()
    values = (_features(corpus) - weights["vectors.mean"]) / weights["vectors.spread"]
    for a in range(4):
        hidden = np.maximum(values @ weights["weights.0"][a] + weights["biases.0"][a], 0)
        logits = hidden @ weights["weights.1"][a] + weights["start_0"][a]
        result = _by_annotator(fitted, corpus)[:, a]
        np.testing.assert_allclose(result, softmax(logits, axis=1), **TOLERANCE)
    changed = feature_crowd(n_items=30)
    others = changed["q"].annotator_codes("test") != 0
    changed["q"].answer[others] = 2 - changed["q"].answer[others]
    settings = {"dropout": 0.0, "training": Training(epochs=4, clip=np.inf, device="cpu")}
    first, second = (
        _by_annotator(DLema(encoder="features", **settings).fit(each), each)  # type: ignore[arg-type]
        for each in (corpus, changed)
    )
    assert np.abs(first[:, 0] - second[:, 0]).max() < 0.02  # base rates are shrunk to all answers
    assert np.abs(first[:, 1] - second[:, 1]).max() > 0.1


def test_passes_differ_and_answers_are_their_mean() -> None:
    corpus = feature_crowd(n_items=40)
    fitted = quick(DLema(passes=200)).fit(corpus)
    many = _by_annotator(fitted, corpus)
    network: Any = fitted.network_  # type: ignore[attr-defined]
    for part in (network, *network.masks):
        part.passes = 1
    one = _by_annotator(fitted, corpus)
    assert np.abs(one - many).max() > 0.02
    np.testing.assert_allclose(many.sum(axis=-1), 1, **TOLERANCE)


def test_annotators_who_are_certain_weigh_more() -> None:
    corpus = feature_crowd(n_items=40)
    fitted: Any = quick(DLema()).fit(corpus)
    each = _by_annotator(fitted, corpus)
    weights = 1 - entropy(each, axis=-1) / np.log(3)
    expected = (weights[..., None] * each).sum(axis=1) / weights.sum(axis=1)[:, None]
    result = fitted.predict(corpus)["q"].distribution
    np.testing.assert_allclose(result, expected, **TOLERANCE)
    fitted.fused = False
    result = fitted.predict(corpus)["q"].distribution
    np.testing.assert_allclose(result, each.mean(axis=1), **TOLERANCE)


def test_certainty_of_distributions() -> None:
    shares = np.array([[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]])
    result = certainty(Nominal(("a", "b", "c")), shares)
    np.testing.assert_allclose(result, [1, 1e-6, 1 - np.log(2) / np.log(3)], rtol=1e-6, atol=1e-9)
    marginals = np.array([[1.0, 0.5], [0.5, 0.5]])
    result = certainty(MultiLabel(("a", "b")), marginals)
    np.testing.assert_allclose(result, [0.5, 0], atol=1e-5)


# ---- PADL ----


@pytest.mark.parametrize("kind", ["nominal", "multi-label"])
def test_deviations_are_those_of_the_formula(kind: str) -> None:
    corpus = feature_crowd(kind, n_items=20)
    fitted = quick(Padl()).fit(corpus)
    weights = fitted.weights()
    values = (_features(corpus) - weights["trunk.mean"]) / weights["trunk.spread"]
    hidden = values @ weights["trunk.layers.1.weight"].T + weights["trunk.layers.1.bias"]
    features = np.maximum(hidden, 0)
    mean = features @ weights["truth_0.weight"].T + weights["truth_0.bias"]
    result = _by_annotator(fitted, corpus)
    for i in range(20):
        if kind == "nominal":
            uncertain = entropy(softmax(mean[i])) / np.log(3)
        else:
            uncertain = np.mean([entropy([p, 1 - p], base=2) for p in expit(mean[i])])
        for a in range(4):
            own = features[i] @ weights["branch_0.own_features"][a, 0]
            own = (own - own.mean()) / np.sqrt(own.var() + 1e-5)
            own = np.concatenate([(1 + uncertain) * np.maximum(own, 0), mean[i]])
            deviation = (
                own @ weights["branch_0.own_layers"][a, 0] + weights["branch_0.own_biases"][a, 0]
            )
            expected = (softmax if kind == "nominal" else expit)(mean[i] + deviation)
            np.testing.assert_allclose(result[i, a], expected, **TOLERANCE)
    shared = softmax(mean, axis=1) if kind == "nominal" else expit(mean)
    np.testing.assert_allclose(fitted.predict(corpus)["q"].distribution, shared, **TOLERANCE)


# ---- QuMATL's Base ----


def test_base_is_annotator_heads_with_other_settings() -> None:
    corpus = feature_crowd()
    base = quick(build("base-heads")).fit(corpus)
    heads = quick(AnnotatorHeads(common=False, hidden=(256,))).fit(corpus)
    np.testing.assert_array_equal(_by_annotator(base, corpus), _by_annotator(heads, corpus))
    assert base.get_params() == heads.get_params()
