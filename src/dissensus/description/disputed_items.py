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


def differing_items(annotations: Annotations) -> np.ndarray:
    """Which items have different answers of two annotators, (n_items,) booleans."""
    order = np.lexsort((annotations.answer, annotations.item))
    item, answer = annotations.item[order], annotations.answer[order]
    differs = np.zeros(annotations.n_items, dtype=bool)
    differs[item[1:][(item[1:] == item[:-1]) & (answer[1:] != answer[:-1])]] = True
    return differs & (annotations.voters() >= 2)


def most_disputed(corpus: Corpus, annotations: Annotations, most: int) -> list[Disputed]:
    """The items whose answers differ most, of two annotators or more; ties: more of them first.

    Few answers say little: items are ranked as if each had one more, as disputed as items are on
    average.
    """
    measure = MEASURES[disputed_by(annotations.scale)]
    order, dispute = disputed_order(measure(annotations), annotations.voters(), most)
    return [
        Disputed(
            corpus.items[item],
            one_line(corpus.text_of(int(item))),
            float(dispute[item]),
            answers_to(annotations, int(item)),
        )
        for item in order
    ]


def disputed_order(
    dispute: np.ndarray, voters: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """The most disputed items, and how disputed each item is, 0 with fewer than two annotators.

    Args:
        dispute: the entropy or variance of each item, (n_items,).
        voters: how many annotators answered it, (n_items,).
    """
    several = voters >= 2
    dispute = np.where(several, dispute, 0.0)
    average = float(dispute[several].mean()) if several.any() else 0.0
    disputed = np.flatnonzero(dispute > 1e-9)
    n = voters[disputed]
    rank = np.round((n * dispute[disputed] + average) / (n + 1), 9)
    if 0 < most < len(disputed):
        least = np.partition(rank, len(rank) - most)[len(rank) - most]
        disputed, n, rank = (part[rank >= least] for part in (disputed, n, rank))
    return disputed[np.lexsort((-n, -rank))[:most]], dispute


def answers_to(annotations: Annotations, item: int) -> dict[str, float]:
    """The count of each value, the most frequent first; for ratings mean, sd and number."""
    rows = annotations.take(annotations.item == item)
    ratings = ratings_of(rows)
    if ratings is not None:
        return {"mean": ratings["mean"], "sd": ratings["sd"], "answers": rows.n_answers}
    answers, which = np.unique(rows.answer, return_inverse=True)
    counts = np.bincount(which.reshape(-1), rows.weight).astype(int).tolist()
    names = [value_text(value) for value in rows.scale.decode(answers)]
    return dict(sorted(zip(names, counts, strict=True), key=lambda pair: -pair[1]))
