"""Label Studio's JSON export: an array of tasks, each with the annotators' answers.

    [{"id": 1, "data": {"text": "so good!"},
      "annotations": [{"id": 1001, "completed_by": 10, "was_cancelled": false, "lead_time": 4.3,
                       "result": [{"type": "choices", "from_name": "mood", "to_name": "text",
                                   "value": {"choices": ["joy"]}}]}]}]

An item is a task, a question is a control (`from_name`): choices, ratings, numbers, comparisons of
two, taxonomies, or labels of spans and boxes, whose places are rationales. Other marks, and
comments on marks, are not read; neither are drafts, predictions and cancelled annotations. If
several choices are allowed, an annotation without one means that none fits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.exports.responses import (
    Response,
    check_options,
    counts,
    entries,
    responses_corpus,
)
from dissensus.readers.exports.spans import Span
from dissensus.readers.head import Head
from dissensus.readers.json_text import value_text, value_texts
from dissensus.readers.layout import Layout

TOOL = "Label Studio"
LABELLED = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels", "rectanglelabels")
CONTROLS = {  # type -> the key of the answer in its value
    "choices": "choices",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
    **{kind: kind for kind in LABELLED},
}
MARKS = ("start", "x", "points", "ranges", "parentID")  # keys of a result about a part of a task
CANCELLED, REPEATED, BARE = "cancelled", "found twice", "no annotation"  # why it is not read
EXTRA = ("id", "created_at", "ground_truth")  # of an annotation, besides its answers


def recognise(head: Head) -> bool:
    """Whether the file opens with a task that has data and a list of annotations."""
    return head.opens_with(r'"data"\s*:\s*\{', r'"(annotations|completions)"\s*:\s*\[')


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotation; a scale may be declared, and which part of the data was shown."""
    check_options(path, options, TOOL, may=("text",))
    export = _Export()
    tasks = [_Task.of(path, place, entry) for place, entry in entries(path, options.encoding)]
    emails = dict(pair for task in tasks for pair in task.emails())
    for task in tasks:
        export.add(task, emails)
    if not export.questions:
        seen = f"; not read: {counts(export.marks)}" if export.marks else ""
        raise DataError(
            f"{path}: no choices, ratings, numbers, comparisons, taxonomies or spans in "
            f"{counted(len(export.seen), 'annotation')}{seen}"
        )
    return _corpus(path, export, options)


# ---- tasks and annotations ----


@dataclass(frozen=True)
class _Task:
    where: str  # for messages
    place: str
    item: str
    data: dict[str, str]
    annotations: list[dict[str, Any]]

    @classmethod
    def of(cls, path: Path, place: str, entry: dict[str, Any]) -> _Task:
        where = f"{path}, {place}"
        data = entry.get("data")
        given = entry.get("annotations", entry.get("completions"))
        if entry.get("id") is None or not isinstance(data, dict) or not isinstance(given, list):
            raise DataError(
                f"{where}: a task of Label Studio has 'id', 'data' and 'annotations', found "
                f"{listed(entry, 12)}"
            )
        if not all(isinstance(one, dict) and isinstance(one.get("result"), list) for one in given):
            raise DataError(
                f"{where}: every annotation has a 'result'; export JSON with whole annotations"
            )
        texts = {key: value_text(value) for key, value in data.items()}
        plain = {key: text for key, text in texts.items() if text is not None}
        return cls(where, place, str(entry["id"]), plain, given)

    def emails(self) -> list[tuple[str, str]]:
        """Users by number, where an annotation says both."""
        users = [one.get("completed_by") for one in self.annotations]
        known = [user for user in users if isinstance(user, dict) and user.get("email")]
        return [(str(user.get("id")), str(user["email"])) for user in known]


@dataclass
class _Export:
    """The responses of a file, and what is not read."""

    rows: list[Response] = field(default_factory=list)
    questions: dict[str, str] = field(default_factory=dict)  # name -> type
    marks: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def add(self, task: _Task, emails: dict[str, str]) -> None:
        if not task.annotations:
            self.rows.append(Response(task.place, task.item, None, {}, {}, reason=BARE))
        for number, one in enumerate(task.annotations, start=1):
            name = str(one.get("id") or f"{task.item}, {number}")
            place = f"{task.place}, annotation {name}"
            if name in self.seen:
                self.rows.append(Response(place, task.item, None, {}, {}, reason=REPEATED))
                continue
            self.seen.add(name)
            spans: list[Span] = []
            answers, extra = self._results(task, one["result"], spans)
            extra |= {f"annotation.{k}": str(value_text(one[k])) for k in EXTRA if one.get(k)}
            annotator = _annotator(one.get("completed_by"), emails)
            seconds = value_text(one.get("lead_time"))
            reason = CANCELLED if one.get("was_cancelled") in (True, "true") else None
            self.rows.append(
                Response(
                    place,
                    task.item,
                    annotator,
                    answers,
                    task.data,
                    extra,
                    seconds,
                    reason,
                    spans=spans,
                )  # fmt: skip
            )

    def _results(
        self, task: _Task, results: list[Any], spans: list[Span]
    ) -> tuple[dict[str, list[str]], dict[str, str]]:
        """The answers of one annotation by question, and its free texts; adds its spans."""
        answers: dict[str, list[str]] = {}
        extra: dict[str, str] = {}
        for result in results:
            value = result.get("value") if isinstance(result, dict) else None
            if not isinstance(value, dict):
                raise DataError(
                    f"{task.where}: every result must have a 'value', found {result!r:.60}"
                )
            kind, name = str(result.get("type")), str(result.get("from_name") or "").strip()
            if not name:
                raise DataError(f"{task.where}: every result must have a 'from_name', found none")
            of_mark = any(key in value or key in result for key in MARKS)
            marked = marked_spans(name, value, result) if kind in LABELLED else []
            spans.extend(marked)
            of_mark = of_mark and not marked
            if kind == "textarea" and not of_mark:
                extra[f"{name} (text)"] = " | ".join(value_texts(value.get("text")))
            elif of_mark or kind not in CONTROLS:
                self.marks[kind] += 1
            else:
                if self.questions.setdefault(name, kind) != kind:
                    raise DataError(
                        f"{task.where}: {name!r} is of two types, {self.questions[name]} and {kind}"
                    )
                answers.setdefault(name, []).extend(_answer(kind, value))
        return answers, extra

    @property
    def read(self) -> list[Response]:
        """The annotations that are read."""
        return [row for row in self.rows if row.reason is None]

    @property
    def sets(self) -> list[str]:
        """The questions whose answers are sets."""
        several = {q for row in self.read for q, values in row.answers.items() if len(values) > 1}
        sets = ("taxonomy", *LABELLED)
        return [q for q, kind in self.questions.items() if q in several or kind in sets]


def _annotator(user: Any, emails: dict[str, str]) -> str | None:
    name = user.get("email") or user.get("id") if isinstance(user, dict) else user
    return None if name in (None, "") else emails.get(str(name), str(name))


def _answer(kind: str, value: dict[str, Any]) -> list[str]:
    answer = value.get(CONTROLS[kind])
    if kind == "taxonomy":
        paths = answer if isinstance(answer, list) else []
        return [" > ".join(value_texts(path)) for path in paths]
    return value_texts(answer)


def marked_spans(question: str, value: dict[str, Any], result: dict[str, Any]) -> list[Span]:
    """The span or box of a result, once for each of its labels; none if it has no place."""
    kind = next((kind for kind in LABELLED if kind in value), None)
    labels = value_texts(value.get(kind)) if kind else []
    offsets = value.get("globalOffsets")
    ends = offsets if isinstance(offsets, dict) else value
    try:
        if "x" in value:
            left, top, width, height = (float(value[k]) for k in ("x", "y", "width", "height"))
            across, down = (
                float(result.get(f"original_{k}") or value.get(f"original_{k}") or 100) / 100
                for k in ("width", "height")
            )
            start: tuple[float, ...] = (top * down, left * across)
            stop: tuple[float, ...] = ((top + height) * down, (left + width) * across)
        else:
            start, stop = (float(ends["start"]),), (float(ends["end"]),)
    except (KeyError, TypeError, ValueError):
        return []
    text = value.get("text")
    text = text if isinstance(text, str) else None
    seconds = "channel" in value or "original_length" in result
    return [Span(question, start, stop, label, text, seconds) for label in labels]


# ---- as a corpus ----


def _corpus(path: Path, export: _Export, options: Layout) -> Corpus:
    notes, sets = _unread(export), export.sets
    for question in sets:
        nothing = [row for row in export.read if question not in row.answers]
        for row in nothing:
            row.answers[question] = []
        if nothing:
            n = counted(len(nothing), "annotation")
            notes.append(f"{question}: no choice in {n}, read as: none fits")
    answered = {question for row in export.read for question in row.answers}
    questions = {q: q in sets for q in export.questions if q in answered or not answered}
    return responses_corpus(path, export.rows, questions, options, TOOL, notes)


def _unread(export: _Export) -> list[str]:
    notes = []
    if export.marks:
        notes.append(f"marks, and comments on them, are not read: {counts(export.marks)}")
    reasons = Counter(row.reason for row in export.rows)
    if reasons[BARE]:
        notes.append(f"{counted(reasons[BARE], 'task')} without an annotation left out")
    if reasons[REPEATED]:
        notes.append(f"{counted(reasons[REPEATED], 'annotation')} found twice and read once")
    return notes
