"""Agreement on spans: do annotators mark the same parts, with the same labels?

Alpha of positions compares what annotators marked character by character, the unitising alpha
takes whole units and gaps. F1 is that of all pairs of annotators together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.agreement.confidence import ConfidenceInterval, jackknife_of
from dissensus.agreement.marked_parts import (
    NOT_MARKED,
    ItemSums,
    MarkedItem,
    item_sums,
    marked_items,
    matched_spans,
)
from dissensus.agreement.measure import OfSums, ratio
from dissensus.agreement.results import MeasureResult
from dissensus.corpus import Corpus

SPAN_MEASURES: dict[str, str] = {
    "span-alpha": "Krippendorff's alpha of characters (of milliseconds in a clip)",
    "unitising-alpha": "Krippendorff's alpha of units and gaps (2016)",
    "span-f1": "spans with the same ends and label, all pairs of annotators",
    "overlap-f1": "spans that overlap and have the same label, all pairs",
    "character-f1": "marked characters (milliseconds) with the same label, all pairs",
}
BOXES = "boxes have no order; only F1 of spans is defined"


@dataclass(frozen=True)
class SpanAgreement:
    """How much annotators agree on the spans of one label, or of all."""

    question: str
    label: str | None  # None: all labels
    spans: int
    items: int  # with two annotators or more
    measures: list[MeasureResult]

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        return {**vars(self), "measures": [result.to_dict() for result in self.measures]}


def span_agreement(
    corpus: Corpus,
    question: str,
    measures: Sequence[str] | None = None,
    intervals: bool = False,
) -> list[SpanAgreement]:
    """Agreement on the spans of a question: of all labels, then of each label, frequent ones first.

    Empty if the question has no spans of known annotators. A measure of one label compares the
    spans of that label with everything else. Where spans of one annotator overlap, the part has
    several labels at once.

    Args:
        measures: names of `SPAN_MEASURES`; all if left out.
        intervals: whether to compute 95 % confidence intervals (jackknife over items).

    Example:
        >>> from dissensus.simulate import text
        >>> corpus = text(n_items=50, seed=0)
        >>> both = span_agreement(corpus, "emotion", ["span-f1", "overlap-f1"])
        >>> [(result.measure, round(result.value, 2)) for result in both[0].measures]
        [('span-f1', 0.25), ('overlap-f1', 0.25)]

    Reference: Krippendorff, Mathet, Bouvry and Widlöcher (2016), On the reliability of unitizing
    textual continua, doi:10.1007/s11135-015-0266-1.
    """
    counts = _span_counts(corpus, question)
    if not counts:
        return []
    marked = marked_items(corpus, question)
    labels = [label for label, _ in counts.most_common()]
    chosen = list(SPAN_MEASURES) if measures is None else list(measures)
    n_spans = sum(counts.values())
    results = [_of_label(marked, question, None, n_spans, chosen, intervals)]
    if len(labels) > 1:
        for label in labels:
            own = [one.of_label(label) for one in marked]
            results.append(_of_label(own, question, label, counts[label], chosen, intervals))
    return results


def _span_counts(corpus: Corpus, question: str) -> Counter[str]:
    """How many spans of known annotators have each label."""
    spans = corpus.rationales
    if spans is None:
        return Counter()
    spans = spans.take(spans.annotator >= 0)
    rows = zip(spans.question.to_pylist(), spans.kind.to_pylist(), strict=True)
    return Counter(kind or "" for name, kind in rows if name == question)


def _of_label(
    marked: list[MarkedItem],
    question: str,
    label: str | None,
    n_spans: int,
    names: Sequence[str],
    intervals: bool,
) -> SpanAgreement:
    estimates = _estimates(marked, names)
    results = []
    for name in names:
        estimate = estimates.get(name)
        value = math.nan if estimate is None else estimate.value()
        ends = None
        if intervals:
            ends = ConfidenceInterval(math.nan, math.nan)
            if estimate is not None and not math.isnan(value):
                low = -1.0 if name.endswith("alpha") else 0.0
                ends = jackknife_of(estimate, np.arange(len(marked)), (low, 1.0))
        why = _why_undefined(marked, name) if math.isnan(value) else None
        results.append(MeasureResult(name, value, ends, why))
    return SpanAgreement(question, label, n_spans, len(marked), results)


def _why_undefined(marked: list[MarkedItem], name: str) -> str:
    if not marked:
        return "no item has two known annotators"
    if any(one.has_boxes for one in marked) and name not in ("span-f1", "overlap-f1"):
        return BOXES
    if not any(any(one.marks) for one in marked):
        return "no item with two annotators has a span"
    return "all annotators marked everything, or nothing, with one label"


def _estimates(marked: list[MarkedItem], names: Sequence[str]) -> dict[str, OfSums]:
    """The measures that have a formula for these spans, prepared so that items can be left out."""
    if not marked:
        return {}
    estimates: dict[str, OfSums] = {}
    if {"span-f1", "overlap-f1"} & set(names):
        matched = np.array([matched_spans(one) for one in marked])  # (n_items, 3)
        estimates["span-f1"] = OfSums((matched[:, 0], matched[:, 2]), ratio)
        estimates["overlap-f1"] = OfSums((matched[:, 1], matched[:, 2]), ratio)
    if any(one.has_boxes for one in marked) or set(names) <= set(estimates):
        return estimates
    sums = [item_sums(one) for one in marked]
    agreeing = np.array([one.agreeing for one in sums])
    values = [NOT_MARKED, *dict.fromkeys(v for one in sums for v in one.lengths if v)]
    lengths, squares = (_columns(sums, part, values) for part in ("lengths", "squares"))
    estimates["span-alpha"] = OfSums((agreeing, lengths, lengths), _alpha)
    estimates["unitising-alpha"] = OfSums((agreeing, lengths, squares), _alpha)
    both = np.array([one.both_marked for one in sums])
    either = np.array([one.either_marked for one in sums])
    estimates["character-f1"] = OfSums((both, either), ratio)
    return estimates


def _columns(sums: list[ItemSums], part: str, values: list[str]) -> np.ndarray:
    """(n_items, n_values)"""
    at = {value: place for place, value in enumerate(values)}
    table = np.zeros((len(sums), len(values)))
    for row, one in enumerate(sums):
        for value, number in getattr(one, part).items():
            table[row, at[value]] = number
    return table


def _alpha(agreeing: np.ndarray, lengths: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """1 - observed / expected disagreement, from the coincidences of values.

    Args:
        agreeing: length of coincidences on the diagonal, (n,).
        lengths: of each value, (n, n_values).
        squares: what a unit cannot be paired with, itself: the squares of the lengths of units, or
            the lengths if every position is a unit.
    """
    total = lengths.sum(axis=1)
    pairs = total**2 - squares.sum(axis=1)
    expected = ratio(total * (lengths**2 - squares).sum(axis=1), pairs)
    chance = total - expected
    return 1 - ratio(total - agreeing, np.where(chance > 1e-9 * total, chance, 0))
