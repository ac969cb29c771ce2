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
from dissensus.readers.exports.responses import Response, counts, entries, responses_corpus
from dissensus.readers.exports.spans import Span
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
REPEATED, BARE = "found twice", "no annotation"  # why it is not read
EXTRA = ("id", "created_at", "ground_truth")  # of an annotation, besides its answers


def read(path: Path, options: Layout) -> Corpus:
    """Read every annotation; a scale may be declared, and which part of the data was shown."""
    export = _Export()
    tasks = list(entries(path, options.encoding))
    for place, task in tasks:
        _check(task, f"{path}, {place}")
    users = [one.get("completed_by") for _, task in tasks for one in _annotations(task)]
    known = [user for user in users if isinstance(user, dict) and user.get("email")]
    emails = {str(user.get("id")): str(user["email"]) for user in known}
    for place, task in tasks:
        export.add(path, place, task, emails)
    if not export.kinds:
        seen = f"; not read: {counts(export.marks)}" if export.marks else ""
        raise DataError(
            f"{path}: no choices, ratings, numbers, comparisons, taxonomies or spans in "
            f"{counted(len(export.seen), 'annotation')}{seen}"
        )
    return export.corpus(path, options)


def _check(task: dict[str, Any], where: str) -> None:
    results = _annotations(task)
    if task.get("id") is None or not (
        isinstance(task.get("data"), dict) and isinstance(results, list)
    ):
        raise DataError(
            f"{where}: a task of Label Studio has 'id', 'data' and 'annotations', found "
            f"{listed(task, 12)}"
        )
    if not all(isinstance(one, dict) and isinstance(one.get("result"), list) for one in results):
        raise DataError(
            f"{where}: every annotation has a 'result'; export JSON with whole annotations"
        )


def _annotations(task: dict[str, Any]) -> Any:
    return task.get("annotations", task.get("completions"))


@dataclass
class _Export:
    """The responses of a file, and what is not read."""

    responses: list[Response] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)  # of the questions
    marks: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def add(self, path: Path, place: str, task: dict[str, Any], emails: dict[str, str]) -> None:
        item, where = str(task["id"]), f"{path}, {place}"
        if not _annotations(task):
            self.responses.append(Response(place, item, None, {}, reason=BARE))
        data = {key: text for key, v in task["data"].items() if (text := value_text(v)) is not None}
        for number, one in enumerate(_annotations(task), start=1):
            name = str(one.get("id") or f"{item}, {number}")
            response = Response(f"{place}, annotation {name}", item, None, {}, data)
            self.responses.append(response)
            if name in self.seen:
                response.reason = REPEATED
                continue
            self.seen.add(name)
            for result in one["result"]:
                self._add_result(response, result, where)
            about = {key: str(value_text(one[key])) for key in EXTRA if one.get(key)}
            response.extra |= {f"annotation.{key}": text for key, text in about.items()}
            response.annotator = user_name(one.get("completed_by"), emails)
            response.seconds = value_text(one.get("lead_time"))
            if one.get("was_cancelled") in (True, "true"):
                response.reason = "cancelled"

    def _add_result(self, response: Response, result: Any, where: str) -> None:
        """Add an answer, a span or a free text to a response."""
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            raise DataError(f"{where}: every result must have a 'value', found {result!r:.60}")
        kind, name = str(result.get("type")), str(result.get("from_name") or "").strip()
        if not name:
            raise DataError(f"{where}: every result must have a 'from_name', found none")
        spans = marked_spans(name, value, result) if kind in LABELLED else []
        response.spans += spans
        of_mark = not spans and any(key in value or key in result for key in MARKS)
        if kind == "textarea" and not of_mark:
            response.extra[f"{name} (text)"] = " | ".join(value_texts(value.get("text")))
        elif of_mark or kind not in CONTROLS:
            self.marks[kind] += 1
        else:
            if self.kinds.setdefault(name, kind) != kind:
                raise DataError(f"{where}: {name!r} is of two types, {self.kinds[name]} and {kind}")
            response.answers.setdefault(name, []).extend(chosen(kind, value.get(CONTROLS[kind])))

    def corpus(self, path: Path, options: Layout) -> Corpus:
        notes = []
        if self.marks:
            notes.append(f"marks, and comments on them, are not read: {counts(self.marks)}")
        reasons = Counter(one.reason for one in self.responses)
        if reasons[BARE]:
            notes.append(f"{counted(reasons[BARE], 'task')} without an annotation left out")
        if reasons[REPEATED]:
            notes.append(f"{counted(reasons[REPEATED], 'annotation')} found twice and read once")
        read = [one for one in self.responses if one.reason is None]
        several = {q for one in read for q, values in one.answers.items() if len(values) > 1}
        sets = [q for q, k in self.kinds.items() if q in several or k in ("taxonomy", *LABELLED)]
        for question in sets:
            nothing = [one for one in read if question not in one.answers]
            for one in nothing:
                one.answers[question] = []
            if nothing:
                n = counted(len(nothing), "annotation")
                notes.append(f"{question}: no choice in {n}, read as: none fits")
        answered = {question for one in read for question in one.answers}
        questions = [question for question in self.kinds if question in answered or not answered]
        return responses_corpus(
            path, self.responses, options, TOOL, notes, questions=questions, sets=sets
        )


def user_name(user: Any, emails: dict[str, str]) -> str | None:
    """The name of an annotator: the email if it is known."""
    name = user.get("email") or user.get("id") if isinstance(user, dict) else user
    return None if name in (None, "") else emails.get(str(name), str(name))


def chosen(kind: str | None, answer: Any) -> list[str]:
    """The values of an answer; a path of a taxonomy is one."""
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
    start: tuple[float, ...]
    stop: tuple[float, ...]
    try:
        if "x" in value:
            left, top, width, height = (float(value[k]) for k in ("x", "y", "width", "height"))
            across, down = (
                float(result.get(f"original_{k}") or value.get(f"original_{k}") or 100) / 100
                for k in ("width", "height")
            )
            start = (top * down, left * across)
            stop = ((top + height) * down, (left + width) * across)
        else:
            start, stop = (float(ends["start"]),), (float(ends["end"]),)
    except (KeyError, TypeError, ValueError):
        return []
    text = value.get("text")
    text = text if isinstance(text, str) else None
    seconds = "channel" in value or "original_length" in result
    return [Span(question, start, stop, label, text, seconds) for label in labels]
