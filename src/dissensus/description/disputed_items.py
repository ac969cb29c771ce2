"""The items about which annotators disagree most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.agreement import item_entropy, item_variance
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description.texts import one_line, ratings_of, value_text
from dissensus.scales import MultiLabel, Nominal, Scale

MEASURES = {"entropy": item_entropy, "variance": item_variance}


@dataclass(frozen=True)
class Disputed:
    """An item about which annotators disagree."""

    item: str
    text: str  # its beginning, in one line
    dispute: float  # the entropy or variance of its answers
    answers: dict[str, float]  # how often each value was given; for ratings what they are like


def disputed_by(scale: Scale) -> Literal["entropy", "variance"]:
    """What tells how much answers differ: the variance where they have an order."""
    return "entropy" if isinstance(scale, Nominal | MultiLabel) else "variance"


def most_disputed(corpus: Corpus, annotations: Annotations, most: int) -> list[Disputed]:
    """The items with two answers or more that differ most; of equals those with more answers."""
    measure = MEASURES[disputed_by(annotations.scale)]
    per_item = annotations.per_item()
    dispute = np.where(per_item >= 2, measure(annotations), 0.0)
    order = np.lexsort((-per_item, -np.round(dispute, 9)))[:most]
    return [
        Disputed(
            corpus.items[item],
            one_line(corpus.text_of(int(item))),
            float(dispute[item]),
            _answers_to(annotations, int(item)),
        )
        for item in order
        if dispute[item] > 1e-9
    ]


def _answers_to(annotations: Annotations, item: int) -> dict[str, float]:
    """How often each value was given, the most frequent first; of ratings mean, sd and number."""
    rows = annotations.take(annotations.item == item)
    ratings = ratings_of(rows)
    if ratings is not None:
        return {"mean": ratings["mean"], "sd": ratings["sd"], "answers": rows.n_answers}
    answers, which = np.unique(rows.answer, return_inverse=True)
    counts = np.bincount(which.reshape(-1), rows.weight).astype(int).tolist()
    names = [value_text(value) for value in rows.scale.decode(answers)]
    return dict(sorted(zip(names, counts, strict=True), key=lambda pair: -pair[1]))
