"""A small corpus on any scale, whose answers depend on features and on the annotator."""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

SCALES: dict[str, Scale] = {
    "nominal": Nominal(("a", "b", "c")),
    "ordinal": Ordinal(("-2", "-1", "1", "2")),
    "interval": Interval(0, 10),
    "multi-label": MultiLabel(("joy", "fear", "anger")),
}


def example_corpus(
    kind: str = "nominal",
    n_items: int = 60,
    n_annotators: int = 4,
    seed: int = 0,
    name: str = "made-up",
) -> Corpus:
    """A corpus with one question, "q", that every annotator (p0, p1, ...) answered for every item.

    An item shows a vector of 8 features. The first feature decides the answer, shifted by the
    annotator; on a multi-label scale the second one does too.

    Example:
        >>> corpus = example_corpus("ordinal", n_items=3, n_annotators=2)
        >>> corpus["q"].answers()
        ['-1', '2', '-2', '1', '-2', '1']
    """
    scale = SCALES[kind]
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n_items, 8)).astype(np.float32)
    item = np.repeat(np.arange(n_items), n_annotators)
    annotator = np.tile(np.arange(n_annotators), n_items)
    shift = np.linspace(-1, 1, n_annotators)[annotator]
    position = features[item, 0] + shift + 0.2 * generator.normal(size=len(item))
    answers = Annotations.from_arrays(
        item,
        annotator,
        _answer(position, features[item, 1], scale),
        scale,
        annotators=Names([f"p{k}" for k in range(n_annotators)]),
    )
    contents = {"x": Contents.distinct("features", features)}
    return Corpus.build(name, Names.range(n_items), {"q": answers}, contents=contents)


def _answer(position: np.ndarray, other: np.ndarray, scale: Scale) -> np.ndarray:
    if isinstance(scale, Interval):
        return np.clip(5 + 2 * position, 0, 10)
    if isinstance(scale, MultiLabel):
        return (position > 0).astype(np.int64) + 2 * (other > 0) + 4 * (position + other > 1)
    levels = scale.n_columns
    return np.clip(np.floor(position + levels / 2), 0, levels - 1).astype(np.int64)
