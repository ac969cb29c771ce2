"""Marked parts: what each annotator marked in each item, cut at every boundary.

A part of a text is counted in characters, one of a clip in milliseconds. An annotator who answered
the question and marked nothing in an item counts; one who did not answer does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.corpus import Corpus, Rationales

MILLISECONDS = 1000  # in a second
Ends = tuple[float, float]


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


NOT_MARKED, NO_LABEL = "", "?"


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
        unit = 1 if _kind(corpus, roles[row]) in ("text", "features", "image") else MILLISECONDS
        start = tuple(max(float(x), 0.0) * unit for x in spans.start[row][axes])
        stop = tuple(float(x) * unit for x in spans.stop[row][axes])
        if start and all(a < b for a, b in zip(start, stop, strict=True)):
            yield (
                int(spans.item[row]),
                int(spans.annotator[row]),
                Mark(kinds[row] or "", start, stop),
            )


def _kind(corpus: Corpus, role: str) -> str:
    return corpus.contents[role].kind if role in corpus.contents else role


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
