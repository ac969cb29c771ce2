"""Pairs without an answer are learned from similar annotators."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import cohen_kappa_score

from dissensus import Corpus
from dissensus.methods import AnnotatorHeads
from dissensus.methods.framework.similar_annotators import (
    CELL,
    labelled,
    similarities,
    soft_targets,
    with_cells,
)
from dissensus.metrics import scores
from dissensus.training import Training
from dissensus.training.examples import Table
from tests.crowds import feature_crowd, thinned


def test_similarities_are_kappas_of_common_items() -> None:
    corpus = thinned(feature_crowd(n_items=40), 0.6)
    result = similarities(corpus, "q")
    answers = np.full((4, 40), -1)
    answers[corpus["q"].annotator_codes("test"), corpus["q"].item] = corpus["q"].answer
    for a in range(4):
        for b in range(4):
            both = (answers[a] >= 0) & (answers[b] >= 0)
            kappa = 0 if a == b else cohen_kappa_score(answers[a, both], answers[b, both])
            assert result[a, b] == pytest.approx(max(0, kappa), abs=1e-6)


def test_cells_are_the_pairs_without_an_answer() -> None:
    corpus = thinned(feature_crowd(n_items=12), 0.5)
    table = Table.of_corpus(corpus, ("q",))
    both = with_cells(table, corpus, ("q",))
    items = np.unique(table.item)
    assert len(both.item) == 4 * len(items) and (np.diff(both.item) >= 0).all()
    pairs = set(zip(both.item.tolist(), both.annotator.tolist(), strict=True))
    assert pairs == {(i, a) for i in items.tolist() for a in range(4)}
    answered = both.weight["q"] > 0
    np.testing.assert_array_equal(both.weight[f"q{CELL}"], 1.0 - answered)
    np.testing.assert_array_equal(both.answer["q"][answered], table.answer["q"])


def test_soft_targets_are_means_of_similar_annotators() -> None:
    generator = np.random.default_rng(0)
    similarity = generator.random((5, 5)).astype(np.float32)
    codes = np.array([1, 2, 4])  # the annotators of the batch
    item, annotator = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    weight = np.array([1, 1, 0, 0, 0, 1], np.float32)
    shares = generator.dirichlet(np.ones(3), 6).astype(np.float32)
    batch: Any = SimpleNamespace(
        items=torch.arange(2),
        annotators=torch.tensor(codes),
        rows=SimpleNamespace(
            item=torch.tensor(item),
            annotator=torch.tensor(annotator),
            answer={f"q{CELL}": torch.tensor(similarity[codes[annotator]])},
            weight={"q": torch.tensor(weight)},
        ),
    )
    result = soft_targets(torch.tensor(shares), "q", batch).numpy()
    for r in range(6):
        others = [s for s in range(6) if item[s] == item[r] and weight[s] > 0]
        near = np.array([similarity[codes[annotator[r]], codes[annotator[s]]] for s in others])
        np.testing.assert_allclose(result[r], near / near.sum() @ shares[others], rtol=1e-5)
    certain = torch.tensor([[0.95, 0.05, 0.0], [0.6, 0.3, 0.1]])
    expected = np.array([[1, 0, 0], [0.6, 0.3, 0.1]])
    np.testing.assert_allclose(labelled(certain).numpy(), expected, rtol=1e-6)


def _sparse(share: float) -> tuple[Corpus, Corpus]:
    """Eight annotators of two kinds; training has this share of their answers."""
    corpus = feature_crowd(n_items=400, n_annotators=8)
    rows = corpus["q"]
    values = np.stack([corpus.contents["x"][code] for code in corpus.content["x"]])[rows.item]
    of_kind = values[np.arange(rows.n_rows), rows.annotator_codes("test") % 2]
    rows.answer[:] = np.digitize(of_kind, [-0.4, 0.4])
    train, test = corpus.split(0.5, seed=0)
    return thinned(train, share), test


@pytest.mark.slow
def test_sparse_answers_are_learned_better() -> None:
    train, test = _sparse(0.2)
    training = Training(epochs=20)  # as many steps as for other contents
    settings: dict[str, Any] = {"encoder": "features", "common": False, "training": training}
    fits = (AnnotatorHeads(similar=similar, **settings).fit(train) for similar in (1.0, 0.0))
    result, without = (
        scores(fitted.predict(test)["q"], test["q"])["annotator accuracy"] for fitted in fits
    )
    assert result > without + 0.02
