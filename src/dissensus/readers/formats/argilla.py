"""Argilla's records: flat, as `records.to_list(flatten=True)` returns them, or as `to_disk` writes.

    {"id": "r1", "text": "so good!", "mood.responses": ["joy", "fear"],
     "mood.responses.users": ["u1", "u2"], "mood.responses.status": ["submitted", "draft"]}
    {"id": "r1", "fields": {"text": "so good!"},
     "responses": {"mood": [{"value": "joy", "user_id": "u1"}]}}

An item is a record. Answers to a question are labels, sets of labels, ratings or texts. Drafts and
discarded responses are left out; marks, rankings and suggestions are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.exports.responses import Response, counts, entries, responses_corpus
from dissensus.readers.json_text import object_in, texts_in, value_text
from dissensus.readers.layout import Layout

NO_ANSWER, NO_RESPONSE = "no answer", "no response"  # reasons why something is not read
RESPONSES, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
_ABOUT = re.compile(r"\.responses|\.suggestion")
Record = dict[str, Any]


def read(path: Path, options: Layout) -> Corpus:
    """Read every response; a scale may be declared, and what was shown."""
    responses: list[Response] = []
    fields: dict[str, None] = {}  # of nested records: what was shown
    sets: set[str] = set()
    unread: Counter[str] = Counter()
    for place, record in entries(path, options.encoding):
        nested = isinstance(record.get("responses"), dict)
        shown = record.get("fields") if nested else record
        plain = texts_in(record.get("metadata") if nested else None, kinds=str | bool)
        plain |= texts_in(shown, kinds=str | bool)
        texts = {k: v for k, v in plain.items() if k != "id" and not _ABOUT.search(k)}
        if nested:
            fields |= dict.fromkeys(key for key in object_in(shown) if key in texts)
        item = str(record.get("id") or record.get("external_id") or place)
        single = (_nested if nested else _flat)(record, f"{path}, {place}")
        added = _together(place, item, texts, single, sets, unread)
        responses += added or [Response(place, item, None, {}, texts, reason=NO_RESPONSE)]
    answered = any(one.answers for one in responses)
    if not answered and unread:
        raise DataError(f"{path}: no answers: {counts(unread)}")
    notes = [f"marks and rankings are not read: {counts(unread)}"] if unread else []
    if answered and (bare := sum(one.reason == NO_RESPONSE for one in responses)):
        notes.append(f"{counted(bare, 'record')} without a response left out")
    return responses_corpus(path, responses, options, "Argilla", notes, sets=sets, fields=fields)


def _together(
    place: str,
    item: str,
    texts: dict[str, str],
    single: Iterator[tuple[str, str | None, Any, Any]],
    sets: set[str],
    unread: Counter[str],
) -> list[Response]:
    """The answers of an annotator to all questions as one response, or several if one repeats."""
    annotators: dict[str | None, list[Response]] = {}
    for name, annotator, status, value in single:
        question = name.strip() or "(no name)"
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict) for one in values):  # marks or ranks
            unread[question] += 1
            continue
        rows = annotators.setdefault(annotator, [])
        row = next((row for row in rows if question not in (row.answers | row.left)), None)
        if row is None:
            row = Response(place, item, annotator, {}, texts)
            rows.append(row)
        if status not in (None, "submitted"):
            row.left[question] = str(status)
        elif value is None:
            row.left[question] = NO_ANSWER
        else:
            row.answers[question] = [str(value_text(one)) for one in values]
            sets |= {question} if isinstance(value, list) else set()
    together = [row for rows in annotators.values() for row in rows]
    for row in together:
        row.reason = None if row.answers else NO_ANSWER
    return together


def _flat(record: Record, where: str) -> Iterator[tuple[str, str | None, Any, Any]]:
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


def _nested(record: Record, where: str) -> Iterator[tuple[str, str | None, Any, Any]]:
    for question, responses in record["responses"].items():
        if not isinstance(responses, list) or not all(isinstance(one, dict) for one in responses):
            raise DataError(f"{where}: the responses to {question!r} must be a list of objects")
        for one in responses:
            yield question, value_text(one.get("user_id")), one.get("status"), one.get("value")
