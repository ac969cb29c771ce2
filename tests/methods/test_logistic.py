"""Logistic and ridge regression, against scikit-learn's on the same vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from dissensus import Corpus
from dissensus.methods import AnnotatorLogistic, Logistic
from tests.crowds import confused_crowd, feature_crowd


def standardised(corpus: Corpus) -> np.ndarray:
    (role,) = corpus.contents
    vectors = np.array(corpus.contents[role].values.to_pylist())[corpus.content[role]]
    return np.asarray((vectors - vectors.mean(axis=0)) / vectors.std(axis=0))


def reference(x: np.ndarray, y: np.ndarray, c: float, weight: Any = None) -> np.ndarray:
    fitted = LogisticRegression(C=c, tol=1e-9, max_iter=5000).fit(x, y, sample_weight=weight)
    return np.asarray(fitted.predict_proba(x))


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_labels_votes_and_annotators_as_scikit_learn_learns_them(kind: str) -> None:
    corpus = feature_crowd(kind, n_items=150)
    x, answers, labels = standardised(corpus), corpus["q"], corpus["q"].consensus()
    fitted = Logistic(encoder="features").fit(corpus)
    c = 1 / (fitted.penalty_["q"] * len(x))
    expected = reference(x[labels.item], labels.answer, c)
    columns = np.unique(labels.answer)
    np.testing.assert_allclose(
        fitted.predict(corpus)["q"].distribution[:, columns], expected, atol=2e-3
    )
    votes = Logistic(encoder="features", target="soft-vote").fit(corpus)
    weight = 1.0 / answers.per_item()[answers.item]
    c = 1 / (votes.penalty_["q"] * len(x))
    expected = reference(x[answers.item], answers.answer, c, weight)[:: corpus.n_annotators]
    np.testing.assert_allclose(votes.predict(corpus)["q"].distribution, expected, atol=2e-3)
    own = AnnotatorLogistic(encoder="features").fit(corpus)
    one_hot = np.eye(corpus.n_annotators)[answers.annotator_codes("")]
    both = np.hstack([x[answers.item], one_hot])
    expected = reference(both, answers.answer, 1 / (own.penalty_["q"] * len(both)))
    pairs = own.predict(corpus)["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    np.testing.assert_allclose(pairs.distribution, expected, atol=2e-3)


def test_ratings_are_ridge_regressions() -> None:
    corpus = feature_crowd("interval", n_items=150)
    x, answers = standardised(corpus), corpus["q"]
    own = AnnotatorLogistic(encoder="features").fit(corpus)
    one_hot = np.eye(corpus.n_annotators)[answers.annotator_codes("")]
    both = np.hstack([x[answers.item], one_hot])
    ridge = Ridge(alpha=own.penalty_["q"] * len(both)).fit(both, answers.answer)
    pairs = own.predict(corpus)["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    np.testing.assert_allclose(pairs.value, ridge.predict(both).clip(0, 10), atol=0.01)


def test_several_labels_are_a_regression_each() -> None:
    corpus = feature_crowd("multi-label", n_items=150)
    x, labels = standardised(corpus), corpus["q"].consensus()
    fitted = Logistic(encoder="features").fit(corpus)
    c = 1 / (fitted.penalty_["q"] * len(x))
    for column, yes in enumerate(labels.scale.one_hot(labels.answer).T):
        expected = reference(x[labels.item], yes, c)[:, 1]
        found = fitted.predict(corpus)["q"].distribution[:, column]
        np.testing.assert_allclose(found, expected, atol=2e-3)


def test_a_truth_is_learned_from_what_an_aggregator_finds() -> None:
    crowd, _ = confused_crowd()
    new, _ = confused_crowd(seed=1)
    found = {
        target: Logistic(target=target).fit(crowd).predict(new)["q"].consensus
        for target in ("consensus", "dawid-skene")
    }
    right = {target: np.mean(of == new.gold["q"].answer) for target, of in found.items()}
    assert right["dawid-skene"] > right["consensus"] > 0.5
