"""Responses: the records of an annotation tool, as a table whose columns are known -> Corpus.

Spans are parts of a text, a picture or a clip that annotators marked. The question that they belong
to has the set of labels as its answers, so that a text in which an annotator marked nothing is the
empty set; where they are is in `corpus.rationales`, whose kind is the label.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus, LeftOut, Rationales
from dissensus.errors import DataError, counted, did_you_mean, listed
from dissensus.readers.files import read_utf8
from dissensus.readers.json_text import objects, set_text, text_array, unit_of
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answers import described
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.column_names import kind_of
from dissensus.readers.tables.column_roles import ColumnRoles, shown_columns
from dissensus.readers.tables.notes import amounts, remarks, with_notes
from dissensus.readers.tables.rows import Rows, make_rows

ITEM, ANNOTATOR, SECONDS, QUESTION = "(item)", "(annotator)", "(seconds)", "(question)"
MARKED = "marked"  # the label of a span that has none
LONG, REPEATS = 25, 0.5  # letters, and the share of distinct answers, of free texts
Left = Counter[tuple[str, str]]  # (question, reason) -> answers that are not read


def check_known(path: Path | str, names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse names that an option has, but an export does not."""
    known = list(known)
    if missing := [name for name in names if name not in known]:
        raise DataError(
            f"{path}: no {what} {listed(missing)}{did_you_mean(missing[0], known)}; there are "
            f"{listed(known, 40)}"
        )


def entries(path: Path, encoding: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The place of each object in a file ("line 3", or "entry 3" of an array), and the object."""
    text = read_utf8(path, encoding).decode("utf-8")
    unit = unit_of(text)
    for number, entry in objects(text, path):
        yield f"{unit} {number}", entry


def table(
    path: Path,
    columns: dict[str, list[str | None]],
    places: list[str],
    sets: Iterable[str] = (),
) -> Rows:
    """Rows from columns of texts.

    Args:
        places: the place of each row in the file, such as "line 3".
        sets: the columns whose texts are JSON lists.
    """
    place, names, folder = places.__getitem__, list(columns), path.resolve().parent
    arrays = [text_array(name, column, path, place) for name, column in columns.items()]
    facts = {"name": path.name, "place": place, "folder": folder, "sets": frozenset(sets)}
    return make_rows(names, arrays, str(path), **facts)


def filled_cells(rows: Rows) -> Iterator[tuple[str, dict[str, str]]]:
    """The place of each row of a table, and those of its cells that are not blank."""
    columns = {name: column.array().to_pylist() for name, column in rows.columns.items()}
    for row in range(rows.n_rows):
        yield rows.place(row), {n: c[row] for n, c in columns.items() if c[row] is not None}


@dataclass(frozen=True)
class Span:
    """A marked part, half-open: characters, seconds, or (row, column) of a box."""

    question: str
    start: tuple[float, ...]
    stop: tuple[float, ...]
    label: str = MARKED
    text: str | None = None  # the marked characters, if the export contains them
    seconds: bool = False  # whether it is an interval of a clip

    @classmethod
    def between(cls, question: str, start: Any, stop: Any, label: Any, **more: Any) -> Span | None:
        """A span between two numbers, as an export writes them; None if they are none."""
        try:
            return cls(question, (float(start),), (float(stop),), str(label), **more)
        except (TypeError, ValueError):
            return None


@dataclass
class Response:
    """The answers that one annotator gave to one item at the same time."""

    place: str  # such as "line 3"
    item: str
    annotator: str | None
    answers: dict[str, list[str]]  # by question: one value, or the members of a set
    item_data: dict[str, str] = field(default_factory=dict)  # texts, paths, attributes
    extra: dict[str, str] = field(default_factory=dict)  # about the response itself
    seconds: str | None = None
    reason: str | None = None  # why the whole response is left out, if it is
    left: dict[str, str] = field(default_factory=dict)  # question -> why its answer is not read
    spans: list[Span] = field(default_factory=list)

    def mark(self, span: Span) -> None:
        """Add a span, whose label is one of the answers to its question."""
        self.spans.append(span)
        self.add_label(span)

    def add_label(self, span: Span) -> None:
        """Add the label of a span to the answers."""
        labels = self.answers.setdefault(span.question, [])
        if span.label not in labels:
            labels.append(span.label)


def responses_corpus(
    path: Path,
    responses: Sequence[Response],
    options: Layout,
    tool: str,
    notes: Iterable[str] = (),
    *,
    questions: Iterable[str] | None = None,
    sets: Collection[str] = (),
    fields: Iterable[str] = (),
    item: str = ITEM,
    annotator: str = ANNOTATOR,
    verdict: str | None = None,
) -> Corpus:
    """The corpus of responses.

    Each response counts once for each question: as an answer, or as left out for a reason. If
    some responses have an annotator, those without one are left out. The answers to a question
    are sets if one of them has several values or spans.

    Args:
        questions: all of them; those that are answered if left out.
        sets: further questions whose answers are sets.
        fields: the item data that were shown; recognised by their names if left out.
        item: what the column of items is called, if the export names it; annotator likewise.
        verdict: what answers are called if each response is about one question, and was not asked
            the others.
    """
    notes = list(notes)
    named = any(one.annotator for one in responses if one.reason is None)
    reasons = [
        one.reason or ("no annotator" if named and not one.annotator else None) for one in responses
    ]
    kept = [one for one, reason in zip(responses, reasons, strict=True) if reason is None]
    if questions is None:
        read = [one for one in responses if one.reason is None and one.answers] or responses
        questions = (question for one in read for question in one.answers)
    questions = tuple(dict.fromkeys(questions))
    left, by_reason = Left(), Counter[str]()  # a response that is left out counts once
    for one, reason in zip(responses, reasons, strict=True):
        of_all = dict.fromkeys(questions if verdict is None else one.answers, reason) | one.left
        left.update((question, why) for question, why in of_all.items() if why is not None)
        whys = one.left.values() if reason is None else dict.fromkeys(of_all.values())
        by_reason.update(why for why in whys if why is not None)
    if not kept:
        raise DataError(f"{path}: no answers: {counts(by_reason)}")
    if not named:
        notes.append("no annotator is named: answers are anonymous")
    several = {q for one in kept for q, values in one.answers.items() if len(values) > 1}
    several |= {*sets, *(span.question for one in kept for span in one.spans)}
    columns: dict[str, list[str | None]] = {item: [one.item for one in kept]}
    if named:
        columns[annotator] = [one.annotator for one in kept]
    if any(one.seconds for one in kept):
        columns[SECONDS] = [one.seconds for one in kept]
    badly_named = [question for question in questions if not question.strip() == question != ""]
    if badly_named:
        raise DataError(
            f"{path}: a question is called {listed(badly_named)}; give it a name without spaces at "
            "its ends"
        )
    if verdict is not None:
        columns[verdict] = [next(iter(one.answers.values()))[0] for one in kept]
        columns[QUESTION] = [next(iter(one.answers)) for one in kept]
    for question in questions if verdict is None else ():
        by_response = [one.answers.get(question, ()) for one in kept]
        columns[question] = [next(iter(answers), None) for answers in by_response]
        if question in several:
            columns[question] = [None if a == () else set_text(a) for a in by_response]
    keys = [key for key in dict.fromkeys(k for one in kept for k in one.item_data) if key.strip()]
    data = {key: f"data.{key.strip()}" if key.strip() in columns else key.strip() for key in keys}
    columns |= {new: [one.item_data.get(old) for one in kept] for old, new in data.items()}
    for key in dict.fromkeys(key for one in kept for key in one.extra):
        columns[key] = [one.extra.get(key) for one in kept]
    rows = table(path, columns, [one.place for one in kept], several & {*questions})
    shown, missing_media = _shown_content(
        rows, options, item, list(data.values()), [data[key] for key in fields if key in data]
    )
    roles = ColumnRoles(
        item,
        annotator if named else None,
        questions if verdict is None else (verdict,),
        shown,
        None if verdict is None else QUESTION,
        seconds=SECONDS if SECONDS in columns else None,
    )
    plain = replace(options, item=None, annotator=None, answer=None, text=None)
    assembled = assemble(rows, roles, plain)
    every = Left({(question, reason): n for question, reason, n in assembled.corpus.left_out})
    every.subtract((question, "no answer") for one in kept for question in one.left)
    every += left  # which also drops what is 0
    corpus = replace(assembled.corpus, left_out=tuple(LeftOut(*key, n) for key, n in every.items()))
    scales = "; ".join(f"{q} ({described(a.scale)})" for q, a in corpus.questions.items())
    notes.insert(0, f"{tool}; {scales}; {amounts(corpus)}")
    notes += [f"{name!r} names no file that exists; it is not read" for name in missing_media]
    notes += [f"left out: {counts(by_reason)}"] if by_reason else []
    corpus = with_notes(corpus, rows, [*notes, *remarks(assembled)])
    spans = [(one.item, one.annotator, span) for one in kept for span in one.spans]
    return with_spans(corpus, spans, rows.name)


def _shown_content(
    rows: Rows, options: Layout, item: str | None, may: list[str], fields: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Role -> content column, from the options, the export or the names of columns; and the
    columns that name media files, none of which exists.

    Args:
        may: the columns that can be content; if there is one, it is.
        fields: those that are content, if the export says so.
    """
    if options.text is not None:
        rows.check(options.text)
    if fields and options.text is None:
        shown = {kind_of(f): f for f in fields} if len(fields) == 1 else {f: f for f in fields}
    else:
        shown = shown_columns(rows, options, item, set[str | None](rows.columns) - {*may})
    if not shown and len(may) == 1:
        shown = {kind_of(may[0]): may[0]}
    missing = []
    for column in (column for column in shown.values() if kind_of(column) != "text"):
        paths = rows.columns[column].values.to_pylist()
        if not any(os.path.isfile(os.path.join(rows.folder, path.strip())) for path in paths):
            missing.append(column)
    return {role: column for role, column in shown.items() if column not in missing}, missing


def are_free(texts: Sequence[str], n_answers: int | None = None, fewest: int = 0) -> bool:
    """Whether answers are free texts: long, and most of them different.

    Args:
        n_answers: how many there are, if the texts are those that differ.
        fewest: answers that it takes to say so.
    """
    n_answers = len(texts) if n_answers is None else n_answers
    letters = sum(map(len, texts)) / max(len(texts), 1)
    return n_answers >= fewest and len(set(texts)) > REPEATS * n_answers and letters > LONG


def counts(numbers: Mapping[str, int]) -> str:
    """Names with their counts: "ignored 3, rejected 1"."""
    return ", ".join(f"{name} {n}" for name, n in numbers.items())


# ---- spans ----


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
        text = _text(corpus, role, item)
        if text is not None and len(span.start) == 1 and not span.seconds:
            start, stop = max(span.start[0], 0), min(span.stop[0], len(text))
            if start >= stop:
                n_outside += 1
                continue
            n_cut += (start, stop) != (span.start[0], span.stop[0])
            span = replace(span, start=(start,), stop=(stop,))
        kept.append((item, annotator, span, role))
    notes = [f"{counted(len(kept), 'span')} read as rationales"]
    notes += [f"{counted(n_cut, 'span')} cut at the ends of the text"] if n_cut else []
    notes += [f"{counted(n_outside, 'span')} outside the text left out"] if n_outside else []
    notes = [f"{name}: {note}" for note in notes]
    rationales = _rationales(kept) if kept else corpus.rationales
    return replace(corpus, rationales=rationales, notes=(*corpus.notes, *notes))


def _rationales(kept: Sequence[tuple[int, int, Span, str]]) -> Rationales:
    items, annotators, spans, roles = zip(*kept, strict=True)
    axes = max(len(span.start) for span in spans)

    def places(ends: Iterable[tuple[float, ...]]) -> np.ndarray:
        return np.array([[*end, *[np.nan] * (axes - len(end))] for end in ends], dtype=float)

    return Rationales(
        np.array(items, dtype=np.int64),
        np.array(annotators, dtype=np.int64),
        pa.array([span.question for span in spans], pa.string()),
        pa.array(roles, pa.string()),
        places(span.start for span in spans),
        places(span.stop for span in spans),
        pa.array([span.label for span in spans], pa.string()),
    )


def _text(corpus: Corpus, role: str, item: int) -> str | None:
    """The text of an item in this role; None if there is none."""
    contents = corpus.contents.get(role)
    if contents is None or contents.kind != "text" or corpus.content[role][item] < 0:
        return None
    return str(contents[corpus.content[role][item]])


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

    def n_fitting(role: str) -> int:
        texts = [(_text(corpus, role, item) or "", span) for item, span in sample]
        parts = [(text[int(one.start[0]) : int(one.stop[0])], str(one.text)) for text, one in texts]
        return sum(part.strip() == marked.strip() for part, marked in parts)

    return max(roles, key=n_fitting)
