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
    answers: dict[str, float]  # the count of each value; for ratings mean, sd and number


def disputed_by(scale: Scale) -> Literal["entropy", "variance"]:
    """The measure of dispute: the variance if answers have an order, else the entropy."""
    return "entropy" if isinstance(scale, Nominal | MultiLabel) else "variance"


def most_disputed(corpus: Corpus, annotations: Annotations, most: int) -> list[Disputed]:
    """The items whose answers differ most, with two answers or more; ties: more answers first.

    Few answers say little: items are ranked as if each had one answer more, as disputed as items
    are on average.
    """
    measure = MEASURES[disputed_by(annotations.scale)]
    per_item = annotations.per_item()
    several = per_item >= 2
    dispute = np.where(several, measure(annotations), 0.0)
    average = float(dispute[several].mean()) if several.any() else 0.0
    rank = np.where(several, (per_item * dispute + average) / (per_item + 1), 0.0)
    order = np.lexsort((-per_item, -np.round(rank, 9), dispute <= 1e-9))[:most]
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
    """The count of each value, the most frequent first; for ratings mean, sd and number."""
    rows = annotations.take(annotations.item == item)
    ratings = ratings_of(rows)
    if ratings is not None:
        return {"mean": ratings["mean"], "sd": ratings["sd"], "answers": rows.n_answers}
    answers, which = np.unique(rows.answer, return_inverse=True)
    counts = np.bincount(which.reshape(-1), rows.weight).astype(int).tolist()
    names = [value_text(value) for value in rows.scale.decode(answers)]
    return dict(sorted(zip(names, counts, strict=True), key=lambda pair: -pair[1]))
