"""Agreement on spans: do annotators mark the same parts, with the same labels?

Alpha of positions compares what annotators marked character by character, the unitising alpha
takes whole units and gaps. F1 is that of all pairs of annotators together. A part of a text is
counted in characters, one of a clip in milliseconds. An annotator who answered the question and
marked nothing in an item counts; one who did not answer does not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dissensus.agreement.estimates import OfSums, ratio
from dissensus.agreement.intervals import NONE, jackknife_of
from dissensus.agreement.summary import MeasureResult
from dissensus.corpus import Corpus, Rationales

SPAN_MEASURES: dict[str, str] = {
    "span-alpha": "Krippendorff's alpha of characters (of milliseconds in a clip)",
    "unitising-alpha": "Krippendorff's alpha of units and gaps (2016)",
    "span-f1": "spans with the same ends and label, all pairs of annotators",
    "overlap-f1": "spans that overlap and have the same label, all pairs",
    "character-f1": "marked characters (milliseconds) with the same label, all pairs",
}
MILLISECONDS = 1000  # in a second
NOT_MARKED, NO_LABEL = "", "?"
Ends = tuple[float, float]
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
    corpus: Corpus, question: str, measures: Sequence[str] | None = None, intervals: bool = False
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
            ends = NONE
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
        estimates["span-f1"] = OfSums.of((matched[:, 0], matched[:, 2]), ratio)
        estimates["overlap-f1"] = OfSums.of((matched[:, 1], matched[:, 2]), ratio)
    if any(one.has_boxes for one in marked) or set(names) <= set(estimates):
        return estimates
    sums = [item_sums(one) for one in marked]
    agreeing = np.array([one.agreeing for one in sums])
    values = [NOT_MARKED, *dict.fromkeys(v for one in sums for v in one.lengths if v)]
    lengths, squares = (_columns(sums, part, values) for part in ("lengths", "squares"))
    estimates["span-alpha"] = OfSums.of((agreeing, lengths, lengths), _alpha)
    estimates["unitising-alpha"] = OfSums.of((agreeing, lengths, squares), _alpha)
    both = np.array([one.both_marked for one in sums])
    either = np.array([one.either_marked for one in sums])
    estimates["character-f1"] = OfSums.of((both, either), ratio)
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


# ---- what annotators marked ----


@dataclass(frozen=True)
class Mark:
    """A span of one annotator in one item; half-open, with one axis or two."""

    label: str
    start: tuple[float, ...]
    stop: tuple[float, ...]


@dataclass(frozen=True)
class MarkedItem:
    """What the annotators of one item marked, each span once."""

    item: int
    length: float | None  # of the text; None: up to the last mark
    marks: tuple[tuple[Mark, ...], ...]  # of each annotator who answered, perhaps none

    @property
    def n_annotators(self) -> int:
        return len(self.marks)

    @property
    def has_boxes(self) -> bool:
        return any(len(mark.start) > 1 for marks in self.marks for mark in marks)

    def of_label(self, label: str) -> MarkedItem:
        """The same with the spans of one label only."""
        kept = tuple(tuple(m for m in marks if m.label == label) for marks in self.marks)
        return MarkedItem(self.item, self.length or self.last, kept)

    @property
    def last(self) -> float:
        """Where the last span ends."""
        return max((mark.stop[0] for marks in self.marks for mark in marks), default=0.0)


@dataclass(frozen=True)
class ItemSums:
    """What an item adds to the measures; lengths are summed over annotators.

    The value of a part is the label that an annotator gave it, or labels if spans overlap; the
    first value is "not marked".
    """

    agreeing: float  # length of pairs with the same value, divided by the annotators less one
    lengths: dict[str, float]  # of all parts with a value
    squares: dict[str, float]  # of the lengths of units; for what is not marked, the lengths
    both_marked: float  # twice the length that two annotators marked alike, over all pairs
    either_marked: float  # the length that they marked, over all pairs


def marked_items(corpus: Corpus, question: str) -> list[MarkedItem]:
    """The items of a question in which two or more known annotators could mark something."""
    spans = corpus.rationales
    answers = corpus[question]
    if spans is None or answers.annotator is None:
        return []
    chosen = np.array([name == question for name in spans.question.to_pylist()], dtype=bool)
    spans = spans.take(chosen & (spans.annotator >= 0))
    by_item: dict[int, dict[int, dict[Mark, None]]] = {}
    for item, annotator in zip(answers.item.tolist(), answers.annotator.tolist(), strict=True):
        by_item.setdefault(item, {}).setdefault(annotator, {})
    for item, annotator, mark in _marks(corpus, spans):
        by_item.setdefault(item, {}).setdefault(annotator, {})[mark] = None
    lengths = _lengths(corpus, spans)
    return [
        MarkedItem(item, lengths.get(item), tuple(tuple(m) for m in of_annotators.values()))
        for item, of_annotators in by_item.items()
        if len(of_annotators) > 1
    ]


def _marks(corpus: Corpus, spans: Rationales) -> Iterable[tuple[int, int, Mark]]:
    roles, kinds = spans.role.to_pylist(), spans.kind.to_pylist()
    for row in range(len(spans)):
        axes = np.isfinite(spans.start[row]) & np.isfinite(spans.stop[row])
        role = roles[row]
        kind = corpus.contents[role].kind if role in corpus.contents else role
        unit = 1 if kind in ("text", "features", "image") else MILLISECONDS
        start = tuple(max(float(x), 0.0) * unit for x in spans.start[row][axes])
        stop = tuple(float(x) * unit for x in spans.stop[row][axes])
        if start and all(a < b for a, b in zip(start, stop, strict=True)):
            mark = Mark(kinds[row] or "", start, stop)
            yield int(spans.item[row]), int(spans.annotator[row]), mark


def _lengths(corpus: Corpus, spans: Rationales) -> dict[int, float]:
    """The length of each item's text, if spans are in a text."""
    roles = [role for role in dict.fromkeys(spans.role.to_pylist()) if role in corpus.contents]
    texts = [role for role in roles if corpus.contents[role].kind == "text"]
    if len(texts) != 1 or len(roles) != 1:
        return {}
    codes, contents = corpus.content[texts[0]], corpus.contents[texts[0]]
    return {item: float(len(contents[c])) for item, c in enumerate(codes.tolist()) if c >= 0}


# ---- sums ----


def item_sums(marked: MarkedItem) -> ItemSums:
    """What an item adds to the alphas and to the F1 of characters."""
    length = max(marked.length or 0.0, marked.last)
    if not any(marked.marks):
        gaps = {NOT_MARKED: length * marked.n_annotators}
        return ItemSums(length * marked.n_annotators, gaps, gaps, 0.0, 0.0)
    units = [_units(marks, length) for marks in marked.marks]
    cuts = sorted({0.0, length, *(end for own in units for ends, _ in own for end in ends)})
    n_pairs = marked.n_annotators - 1
    widths = np.diff(cuts)
    counts: dict[str, np.ndarray] = {}
    lengths: dict[str, float] = {}
    squares: dict[str, float] = {}
    place = {end: at for at, end in enumerate(cuts)}
    for own in units:
        for (start, stop), value in own:
            here = counts.setdefault(value, np.zeros(len(widths)))
            here[place[start] : place[stop]] += 1
            width = stop - start
            lengths[value] = lengths.get(value, 0.0) + width
            square = width if value == NOT_MARKED else width**2
            squares[value] = squares.get(value, 0.0) + square
    alike = {value: float(widths @ (n * (n - 1))) for value, n in counts.items()}
    return ItemSums(
        sum(alike.values()) / n_pairs,
        lengths,
        squares,
        sum(total for value, total in alike.items() if value != NOT_MARKED),
        n_pairs * sum(total for value, total in lengths.items() if value != NOT_MARKED),
    )


def _units(marks: Sequence[Mark], length: float) -> list[tuple[Ends, str]]:
    """The whole item as units and gaps, in order: the spans of one annotator with their labels.

    Where spans of one label overlap they are one unit; where spans of several labels overlap, the
    overlap is a unit of its own with all their labels.
    """
    spans = [
        (ends, label)
        for label in dict.fromkeys(mark.label for mark in marks)
        for ends in merged((m.start[0], m.stop[0]) for m in marks if m.label == label)
    ]
    starts, stops = _by_place(spans, 0), _by_place(spans, 1)
    active: set[tuple[Ends, str]] = set()
    units: list[tuple[Ends, str]] = []
    cuts = sorted({0.0, length, *starts, *stops})
    for start, stop in zip(cuts, cuts[1:], strict=False):
        active = (active - stops.get(start, set())) | starts.get(start, set())
        value = " + ".join(sorted({label or NO_LABEL for _, label in active})) or NOT_MARKED
        units.append(((start, stop), value))
    return units


def _by_place(
    spans: Iterable[tuple[Ends, str]], end: Literal[0, 1]
) -> dict[float, set[tuple[Ends, str]]]:
    """The spans that start (0) or stop (1) at each place."""
    places: dict[float, set[tuple[Ends, str]]] = {}
    for span in spans:
        places.setdefault(span[0][end], set()).add(span)
    return places


def merged(spans: Iterable[Ends]) -> list[Ends]:
    """Spans in order, those that overlap joined; spans that only touch stay apart.

    Example:
        >>> merged([(5.0, 8.0), (0.0, 4.0), (3.0, 5.0)])
        [(0.0, 5.0), (5.0, 8.0)]
    """
    joined: list[Ends] = []
    for start, stop in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


# ---- matches ----


def matched_spans(marked: MarkedItem) -> tuple[float, float, float]:
    """Spans with an equal span, spans with an overlapping one, and all spans, over all pairs.

    Every span counts once for each other annotator of the item; labels must be the same.
    """
    rows = [(number, m) for number, marks in enumerate(marked.marks) for m in marks]
    if not rows:
        return 0, 0, 0
    exact = overlapping = 0
    by_label: dict[tuple[str, int], list[tuple[int, Mark]]] = {}
    for number, mark in rows:
        by_label.setdefault((mark.label, len(mark.start)), []).append((number, mark))
    for same in by_label.values():
        owner = np.array([number for number, _ in same])
        start = np.array([mark.start for _, mark in same])
        stop = np.array([mark.stop for _, mark in same])
        for one in range(len(same)):
            other = owner != owner[one]
            equal = (start == start[one]).all(axis=1) & (stop == stop[one]).all(axis=1)
            touching = (start < stop[one]).all(axis=1) & (stop > start[one]).all(axis=1)
            exact += len(np.unique(owner[other & equal]))
            overlapping += len(np.unique(owner[other & touching]))
    return exact, overlapping, len(rows) * (marked.n_annotators - 1)
