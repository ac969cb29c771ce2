"""Small made-up crowds whose answers depend on features and on who answers."""

from __future__ import annotations

import numpy as np

from dissensus import Annotations, Corpus, Interval, MultiLabel, Names, Nominal, Ordinal
from dissensus.contents import Contents
from dissensus.scales import Scale

SCALES: dict[str, Scale] = {
    "nominal": Nominal(("a", "b", "c")),
    "ordinal": Ordinal(("-2", "-1", "1", "2")),
    "interval": Interval(0, 10),
    "multi-label": MultiLabel(("joy", "fear", "anger")),
}

SMALL: dict[str, dict[str, object]] = {  # settings that make slow methods fast
    "bayesian": {"hidden": (16, 8), "passes": 5},
    "seed-ensemble": {"n_members": 3},
}


def feature_crowd(
    kind: str = "nominal",
    n_items: int = 60,
    n_annotators: int = 4,
    seed: int = 0,
    name: str = "made-up",
) -> Corpus:
    """Everyone answers every item; a direction in feature space decides, shifted per person."""
    scale = SCALES[kind]
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n_items, 8)).astype(np.float32)
    item = np.repeat(np.arange(n_items), n_annotators)
    annotator = np.tile(np.arange(n_annotators), n_items)
    lean = np.linspace(-1, 1, n_annotators)[annotator]
    place = features[item, 0] + lean + 0.2 * generator.normal(size=len(item))
    people = Names([f"p{k}" for k in range(n_annotators)])
    asked = Annotations.from_arrays(
        item, annotator, _answer(place, features[item, 1], scale), scale, annotators=people
    )
    return Corpus.build(
        name,
        Names.range(n_items),
        {"q": asked},
        contents={"x": Contents.distinct("features", features)},
    )


def _answer(place: np.ndarray, other: np.ndarray, scale: Scale) -> np.ndarray:
    if isinstance(scale, Interval):
        return np.clip(5 + 2 * place, 0, 10)
    if isinstance(scale, MultiLabel):
        return (place > 0).astype(np.int64) + 2 * (other > 0) + 4 * (place + other > 1)
    levels = len(scale)  # type: ignore[arg-type]
    return np.clip(np.floor(place + levels / 2), 0, levels - 1).astype(np.int64)


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
