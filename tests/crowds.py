"""Small made-up crowds whose answers depend on features and on who answers."""

from __future__ import annotations

import numpy as np

from dissensus import Annotations, Corpus
from dissensus.testing import SCALES
from dissensus.testing import example_corpus as feature_crowd

__all__ = ["SCALES", "SMALL", "anonymous", "feature_crowd", "thinned"]

SMALL: dict[str, dict[str, object]] = {  # settings that make slow methods fast
    "bayesian": {"hidden": (16, 8), "passes": 5},
    "seed-ensemble": {"n_members": 3},
}


def anonymous(corpus: Corpus, *, counted: bool = False) -> Corpus:
    """The same answers, of nobody knows whom; or how many gave each, as a table of votes."""
    asked = corpus["q"]
    item, answer, count = asked.item, asked.answer, None
    if counted:
        pairs = np.stack([item.astype(float), answer.astype(float)], axis=1)
        distinct, count = np.unique(pairs, axis=0, return_counts=True)
        item = distinct[:, 0].astype(np.int64)
        answer = distinct[:, 1].astype(asked.scale.dtype)
    votes = Annotations.from_arrays(
        item, None, answer, asked.scale, items=corpus.items, count=count
    )
    contents = {role: (held, corpus.content[role]) for role, held in corpus.contents.items()}
    return Corpus.build(corpus.name, corpus.items, {"q": votes}, contents=contents)


def thinned(corpus: Corpus, share: float = 0.5, seed: int = 0) -> Corpus:
    """Some of the answers: items have from none to all of them."""
    kept = np.random.default_rng(seed).random(corpus["q"].n_rows) < share
    contents = {role: (held, corpus.content[role]) for role, held in corpus.contents.items()}
    return Corpus.build(corpus.name, corpus.items, {"q": corpus["q"].take(kept)}, contents=contents)
