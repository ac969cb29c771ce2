"""Scales, answers, ratings and contents as short texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dissensus.agreement import item_entropy, item_variance
from dissensus.agreement.per_part import answers_per_value
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.scales import Interval, MultiLabel, Nominal, Scale

MOST_TEXT = 100  # characters of an item's text
QUANTILES = {"lowest": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "highest": 1.0}


def scale_text(scale: Scale) -> str:
    """A scale as a short text.

    Example:
        >>> from dissensus import Nominal
        >>> scale_text(Interval(-10, 10)), scale_text(Nominal(("no", "yes")))
        ('interval: -10..10', 'nominal: no, yes')
    """
    if isinstance(scale, Interval):
        return f"{scale.kind}: {scale.low:g}..{scale.high:g}"
    values = getattr(scale, "values", ())
    shown = ", ".join(values[:20])
    return f"{scale.kind}: {shown}" + (f", ... ({len(values)})" if len(values) > 20 else "")


def value_text(value: Any) -> str:
    """An answer as text: a set with plus signs, a number without trailing zeros."""
    if isinstance(value, tuple):
        return " + ".join(value) if value else "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def one_line(text: str, most: int = MOST_TEXT) -> str:
    """The beginning of a text, in one line and without control characters; the focus is included.

    Example:
        >>> one_line("so\\n  good!"), one_line("a long and winding [[road]] to it", most=20)
        ('so good!', '...nding [[road]]...')
    """
    if len(text) > 50 * most:  # the rest cannot be shown
        focus = text.find("]]") + 2 if "[[" in text else 0
        begin = max(focus - 25 * most, 0)
        text = text[begin : begin + 50 * most]
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(text) <= most:
        return text
    stop = text.find("]]") + 2 if "[[" in text else 0
    if stop <= most - 3:
        return text[: most - 3].rstrip() + "..."
    begin = max(stop - (most - 6), 0)
    return f"...{text[begin:stop].lstrip()}..."


def ratings_of(annotations: Annotations) -> dict[str, float] | None:
    """Mean, standard deviation and quantiles of ratings; None for other or no answers."""
    if not isinstance(annotations.scale, Interval) or not annotations.n_rows:
        return None
    rating, weight = annotations.answer, annotations.weight
    mean = np.average(rating, weights=weight)
    free = weight.sum() - 1
    sd = math.sqrt(weight @ (rating - mean) ** 2 / free) if free > 0 else math.nan
    levels = list(QUANTILES.values())
    quantiles = np.quantile(rating, levels, weights=weight, method="inverted_cdf").tolist()
    return {"mean": float(mean), "sd": sd, **dict(zip(QUANTILES, quantiles, strict=True))}


def shares_of(annotations: Annotations) -> dict[str, float] | None:
    """The share of answers with each value; on a multi-label scale they may sum to more than 1."""
    scale = annotations.scale
    if isinstance(scale, Interval) or not annotations.n_rows:
        return None
    shares = answers_per_value(annotations) / annotations.n_answers
    return dict(zip(getattr(scale, "values", ()), shares.tolist(), strict=True))


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
