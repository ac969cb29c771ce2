"""Small made-up crowds whose answers depend on features and on who answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus
from dissensus.contents import Contents
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import changed
from dissensus.methods.method_ensemble import MethodEnsemble
from dissensus.names import Names
from dissensus.testing import SCALES
from dissensus.testing import example_corpus as feature_crowd

__all__ = [
    "FAMILIES",
    "KINDS",
    "SCALES",
    "SMALL",
    "QuickEnsemble",
    "anonymous",
    "confused_crowd",
    "feature_crowd",
    "few_answers",
    "others_slow",
    "thinned",
]

SMALL: dict[str, dict[str, object]] = {  # settings that make slow methods fast
    "bayesian": {"hidden": (16, 8), "passes": 5},
    "seed-ensemble": {"n_members": 3},
}


class QuickEnsemble(MethodEnsemble):
    """Its members train for few epochs."""

    def built_members(self) -> list[Method]:
        few = {"training.epochs": 4, "training.batch_size": 16, "training.device": "cpu"}
        members = super().built_members()
        return [changed(one, few if hasattr(one, "training") else {}) for one in members]


def anonymous(corpus: Corpus, *, counted: bool = False) -> Corpus:
    """The same answers, of nobody knows whom; or how many gave each, as a table of votes."""
    answers = corpus["q"]
    item, answer, count = answers.item, answers.answer, None
    if counted:
        pairs = np.stack([item.astype(float), answer.astype(float)], axis=1)
        distinct, count = np.unique(pairs, axis=0, return_counts=True)
        item = distinct[:, 0].astype(np.int64)
        answer = distinct[:, 1].astype(answers.scale.dtype)
    votes = Annotations.from_arrays(
        item, None, answer, answers.scale, items=corpus.items, count=count
    )
    contents = {role: (stored, corpus.content[role]) for role, stored in corpus.contents.items()}
    return Corpus.build(corpus.name, corpus.items, {"q": votes}, contents=contents)


def thinned(corpus: Corpus, share: float = 0.5, seed: int = 0) -> Corpus:
    """Some of the answers: items have from none to all of them."""
    kept = np.random.default_rng(seed).random(corpus["q"].n_rows) < share
    return replace(corpus, questions={"q": corpus["q"].take(kept)})


def confused_crowd(n_items: int = 500, seed: int = 0) -> tuple[Corpus, np.ndarray]:
    """Items of three classes, as gold labels, with five answers each; and the confusion matrices of
    18 annotators: 9 are right in 80 %, 6 guess, and 3 call the second class the first."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(3, 8)) * 1.2
    gold = generator.integers(0, 3, n_items)
    features = (centres[gold] + generator.normal(size=(n_items, 8))).astype(np.float32)
    good = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    guessing = np.full((3, 3), 1 / 3)
    confusion = np.stack([good] * 9 + [guessing] * 6 + [good[[0, 0, 2]]] * 3)
    item = np.repeat(np.arange(n_items), 5)
    annotator = np.concatenate([generator.choice(18, 5, replace=False) for _ in range(n_items)])
    below = confusion[annotator, gold[item]].cumsum(axis=1)
    answer = (generator.random(len(item))[:, None] > below[:, :2]).sum(axis=1)
    scale, items = SCALES["nominal"], Names.range(n_items)
    annotators = Names([f"p{k}" for k in range(18)])
    rows = Annotations.from_arrays(
        item, annotator, answer, scale, items=items, annotators=annotators
    )
    labels = Annotations.from_arrays(np.arange(n_items), None, gold, scale, items=items)
    contents = {"x": Contents.distinct("features", features)}
    corpus = Corpus.build("confused", items, {"q": rows}, contents=contents, gold={"q": labels})
    return corpus, confusion


def few_answers() -> Corpus:
    """A crowd in which the tenth annotator, who guesses, gave three answers."""
    corpus, _ = confused_crowd(200)
    kept = np.ones(corpus["q"].n_rows, bool)
    kept[np.flatnonzero(corpus["q"].annotator_codes("test") == 9)[3:]] = False
    return replace(corpus, questions={"q": corpus["q"].take(kept)})


# ---- which tests of methods are slow ----

FAMILIES = ("annotator-heads", "annotator-queries", "seed-ensemble")  # each with its own network
KINDS = (  # one method of each base class, and each that answers in a way of its own
    *FAMILIES,
    *("annotator-majority", "soft-label", "bayesian", "annotator-embedding"),
    *("crowd-layer", "grid-density"),
)


def others_slow(names: Iterable[str], quick: Collection[str] = FAMILIES) -> list[Any]:
    """Names of methods as parameters: some of them, and all the others in the slow tests."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]
