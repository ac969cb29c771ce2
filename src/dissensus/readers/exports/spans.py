"""Spans: parts of a text, a picture or a clip that annotators marked -> rationales of a corpus.

The question that spans belong to has the set of labels as its answers, so that a text in which an
annotator marked nothing is the empty set; where they are is in `corpus.rationales`, whose kind is
the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus, Rationales
from dissensus.errors import counted

FEW_SHARED = 5  # items of several annotators, below which the same spans may be chance
MARKED = "marked"  # the label of a span that has none


@dataclass(frozen=True)
class Span:
    """A marked part, half-open: characters, seconds, or (row, column) of a box."""

    question: str
    start: tuple[float, ...]
    stop: tuple[float, ...]
    label: str = MARKED
    text: str | None = None  # the marked characters, if the export contains them
    seconds: bool = False  # whether it is an interval of a clip


def with_spans(corpus: Corpus, rows: Sequence[tuple[str, str | None, Span]], name: str) -> Corpus:
    """The corpus with the spans of (item, annotator) as rationales, and notes about them.

    Spans that reach past the end of their text are cut, and those outside it left out.

    Args:
        name: of the file, for the notes.
    """
    if not rows:
        return corpus
    items = {name: code for code, name in enumerate(corpus.items)}
    annotators = {name: code for code, name in enumerate(corpus.annotators)}
    known = [
        (items[item], annotators.get(str(name), -1), span)
        for item, name, span in rows
        if item in items and span.question in corpus.questions
    ]
    roles = {q: _role(corpus, [k for k in known if k[2].question == q]) for q in corpus.questions}
    kept, n_cut, n_outside = [], 0, 0
    for item, annotator, span in known:
        role = roles[span.question]
        length = _length(corpus, role, item)
        if len(span.start) == 1 and not span.seconds and length is not None:
            start, stop = max(span.start[0], 0), min(span.stop[0], length)
            if start >= stop:
                n_outside += 1
                continue
            n_cut += (start, stop) != (span.start[0], span.stop[0])
            span = replace(span, start=(start,), stop=(stop,))
        kept.append((item, annotator, span, role))
    notes = [f"{counted(len(kept), 'span')} read as rationales"]
    if n_cut:
        notes.append(f"{counted(n_cut, 'span')} cut at the ends of the text")
    if n_outside:
        notes.append(f"{counted(n_outside, 'span')} outside the text left out")
    notes = [f"{name}: {note}" for note in [*notes, *_same_for_all(known, corpus)]]
    rationales = _rationales(kept) if kept else corpus.rationales
    return replace(corpus, rationales=rationales, notes=(*corpus.notes, *notes))


def _same_for_all(known: Sequence[tuple[int, int, Span]], corpus: Corpus) -> list[str]:
    """Questions to which all annotators of an item gave the same spans, as if from a machine."""
    notes = []
    for question in dict.fromkeys(span.question for _, _, span in known):
        answers = corpus.questions[question]
        if answers.annotator is None:
            continue
        spans: dict[tuple[int, int], set[Span]] = {
            (int(item), int(annotator)): set()
            for item, annotator in zip(answers.item, answers.annotator, strict=True)
        }
        for item, annotator, span in known:
            if span.question == question and (item, annotator) in spans:
                spans[item, annotator].add(span)
        by_item: dict[int, list[set[Span]]] = {}
        for (item, _), marked in spans.items():
            by_item.setdefault(item, []).append(marked)
        shared = [marked for marked in by_item.values() if len(marked) > 1 and any(marked)]
        if len(shared) >= FEW_SHARED and all(m == marked[0] for marked in shared for m in marked):
            notes.append(
                f"{question}: all annotators have the same spans in each of {len(shared)} shared "
                "items; if a machine marked them first, agreement says nothing"
            )
    return notes


def _rationales(kept: Sequence[tuple[int, int, Span, str]]) -> Rationales:
    axes = max(len(span.start) for _, _, span, _ in kept)

    def places(ends: Iterable[tuple[float, ...]]) -> np.ndarray:
        padded = [[*end, *[np.nan] * (axes - len(end))] for end in ends]
        return np.array(padded, dtype=float)

    return Rationales(
        np.array([item for item, _, _, _ in kept], dtype=np.int64),
        np.array([annotator for _, annotator, _, _ in kept], dtype=np.int64),
        pa.array([span.question for _, _, span, _ in kept], pa.string()),
        pa.array([role for _, _, _, role in kept], pa.string()),
        places(span.start for _, _, span, _ in kept),
        places(span.stop for _, _, span, _ in kept),
        pa.array([span.label for _, _, span, _ in kept], pa.string()),
    )


def _role(corpus: Corpus, spans: Sequence[tuple[int, int, Span]]) -> str:
    """The content in which a question's spans are: the one with the marked characters."""
    boxes = any(len(span.start) > 1 for _, _, span in spans)
    kinds: tuple[str, ...] = ("image", "video") if boxes else ("text", "audio", "video")
    if any(span.seconds for _, _, span in spans):
        kinds = ("audio", "video")
    roles = [role for kind in kinds for role, of in corpus.contents.items() if of.kind == kind]
    if len(roles) < 2:
        return roles[0] if roles else kinds[0]
    sample = [(item, span) for item, _, span in spans if span.text and len(span.start) == 1][:200]
    fits = {role: sum(_contains(corpus, role, *one) for one in sample) for role in roles}
    return max(roles, key=lambda role: fits[role])


def _contains(corpus: Corpus, role: str, item: int, span: Span) -> bool:
    code = corpus.content[role][item]
    if code < 0 or corpus.contents[role].kind != "text":
        return False
    text = corpus.contents[role][code]
    return bool(text[int(span.start[0]) : int(span.stop[0])].strip() == str(span.text).strip())


def _length(corpus: Corpus, role: str, item: int) -> int | None:
    contents = corpus.contents.get(role)
    if contents is None or contents.kind != "text" or corpus.content[role][item] < 0:
        return None
    return len(contents[corpus.content[role][item]])
