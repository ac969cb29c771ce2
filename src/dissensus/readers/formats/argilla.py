"""Argilla's records: flat, as `records.to_list(flatten=True)` returns them, or as `to_disk` writes.

    {"id": "r1", "text": "so good!", "mood.responses": ["joy", "fear"],
     "mood.responses.users": ["u1", "u2"], "mood.responses.status": ["submitted", "draft"]}
    {"id": "r1", "fields": {"text": "so good!"},
     "responses": {"mood": [{"value": "joy", "user_id": "u1"}]}}

An item is a record. Answers to a question are labels, sets of labels, ratings or texts. Drafts and
discarded responses are left out; marks, rankings and suggestions are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.exports.responses import (
    Response,
    check_options,
    counts,
    entries,
    responses_corpus,
)
from dissensus.readers.head import Head
from dissensus.readers.json_text import value_text
from dissensus.readers.layout import Layout

TOOL = "Argilla"
NO_ANSWER, NO_RESPONSE = "no answer", "no response"  # reasons why something is not read
RESPONSES, USERS, STATUS = ".responses", ".responses.users", ".responses.status"


def recognise(head: Head) -> bool:
    """Whether the file opens with a record that has responses and, if it is flat, users."""
    nested = (r'"fields"\s*:\s*\{', r'"responses"\s*:\s*\{')
    return head.opens_with(*nested) or head.opens_with(r'"[^"]+\.responses\.users"\s*:')


def read(path: Path, options: Layout) -> Corpus:
    """Read every response; a scale may be declared, and what was shown."""
    check_options(path, options, TOOL, may=("text",))
    records = _Records(str(path))
    for place, record in entries(path, options.encoding):
        records.add(place, record)
    if not records.questions and records.unread:
        raise DataError(f"{path}: no answers: {counts(records.unread)}")
    return _corpus(path, records, options)


@dataclass
class _Records:
    """The responses of a file, and what is not read."""

    path: str
    rows: list[Response] = field(default_factory=list)
    questions: dict[str, bool] = field(default_factory=dict)  # whether answers are sets
    fields: dict[str, None] = field(default_factory=dict)  # of nested records: what was shown
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, record: dict[str, Any]) -> None:
        where = f"{self.path}, {place}"
        nested = isinstance(record.get("responses"), dict)
        responses = _nested(record, where) if nested else _flat(record, where)
        shown = record.get("fields") if nested else record
        texts = _texts(shown, record.get("metadata") if nested else None)
        if nested and isinstance(shown, dict):
            self.fields |= dict.fromkeys(key for key in shown if key in texts)
        item = str(record.get("id") or record.get("external_id") or place)
        annotators: dict[str | None, list[Response]] = {}
        for name, annotator, status, value in responses:
            question = name.strip() or "(no name)"
            if _is_marks(value):
                self.unread[question] += 1
                continue
            rows = annotators.setdefault(annotator, [])
            row = next((row for row in rows if question not in (row.answers | row.left)), None)
            if row is None:  # a further response of this annotator, or the first
                row = Response(place, item, annotator, {}, texts)
                rows.append(row)
            if status not in (None, "submitted"):
                row.left[question] = str(status)
            elif value is None:
                row.left[question] = NO_ANSWER
            else:
                is_set = isinstance(value, list)
                self.questions[question] = self.questions.get(question, False) or is_set
                values = value if is_set else [value]
                row.answers[question] = [str(value_text(one)) for one in values]
        added = [row for rows in annotators.values() for row in rows]
        for row in added:
            row.reason = None if row.answers else NO_ANSWER
        if not added:
            added = [Response(place, item, None, {}, texts, reason=NO_RESPONSE)]
        self.rows += added


def _flat(record: dict[str, Any], where: str) -> Iterator[tuple[str, str | None, Any, Any]]:
    """Question, user, status and value of each response."""
    for key in [key for key in record if key.endswith(RESPONSES)]:
        question = key.removesuffix(RESPONSES)
        lists = [record.get(f"{question}{end}") or [] for end in (RESPONSES, USERS, STATUS)]
        if not all(isinstance(one, list) for one in lists):
            raise DataError(
                f"{where}: the responses to {question!r}, their users and statuses must be lists"
            )
        values = lists[0]
        users, statuses = (one or [None] * len(values) for one in lists[1:])
        if not len(values) == len(users) == len(statuses):
            raise DataError(
                f"{where}: {question!r} has {len(values)} responses of {len(users)} users with "
                f"{len(statuses)} statuses"
            )
        for value, user, status in zip(values, users, statuses, strict=True):
            yield question, value_text(user), status, value


def _nested(record: dict[str, Any], where: str) -> Iterator[tuple[str, str | None, Any, Any]]:
    for question, responses in record["responses"].items():
        if not isinstance(responses, list) or not all(isinstance(one, dict) for one in responses):
            raise DataError(f"{where}: the responses to {question!r} must be a list of objects")
        for one in responses:
            yield question, value_text(one.get("user_id")), one.get("status"), one.get("value")


def _texts(shown: Any, metadata: Any) -> dict[str, str]:
    """The plain texts of a record next to its responses."""
    parts = [part for part in (metadata, shown) if isinstance(part, dict)]
    plain = {key: value for part in parts for key, value in part.items() if _is_plain(key, value)}
    return {key: str(value_text(value)) for key, value in plain.items()}


def _is_plain(key: str, value: Any) -> bool:
    response = any(mark in key for mark in (RESPONSES, ".suggestion"))
    return isinstance(value, str | bool) and not response and key != "id"


def _is_marks(value: Any) -> bool:
    """Whether a value is a list of marks or ranks, or another object."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )


def _corpus(path: Path, records: _Records, options: Layout) -> Corpus:
    marks = counts(records.unread)
    notes = [f"marks and rankings are not read: {marks}"] if marks else []
    if records.questions and (bare := sum(row.reason == NO_RESPONSE for row in records.rows)):
        notes.append(f"{counted(bare, 'record')} without a response left out")
    return responses_corpus(
        path, records.rows, records.questions, options, TOOL, notes, records.fields
    )
