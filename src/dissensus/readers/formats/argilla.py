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
from dataclasses import replace
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
Single = tuple[str, str | None, Any, Any]  # question, user, status and value of a response


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
        single = _single(record, nested, f"{path}, {place}")
        empty = Response(place, item, None, {}, texts, reason=NO_ANSWER)
        together = _together(single, empty, sets, unread)
        responses += together or [replace(empty, reason=NO_RESPONSE)]
    answered = any(one.answers for one in responses)
    if not answered and unread:
        raise DataError(f"{path}: no answers: {counts(unread)}")
    notes = [f"marks and rankings are not read: {counts(unread)}"] if unread else []
    if answered and (bare := sum(one.reason == NO_RESPONSE for one in responses)):
        notes.append(f"{counted(bare, 'record')} without a response left out")
    return responses_corpus(path, responses, options, "Argilla", notes, sets=sets, fields=fields)


def _together(
    single: Iterator[Single], empty: Response, sets: set[str], unread: Counter[str]
) -> list[Response]:
    """The answers of an annotator to all questions as one response, or several if one repeats."""
    annotators: dict[str | None, list[Response]] = {}
    for question, annotator, status, value in single:
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict) for one in values):  # marks or ranks
            unread[question] += 1
            continue
        own = annotators.setdefault(annotator, [])
        one = next((one for one in own if question not in (one.answers | one.left)), None)
        if one is None:
            one = replace(empty, annotator=annotator, answers={}, left={})
            own.append(one)
        if status not in (None, "submitted"):
            one.left[question] = str(status)
        elif value is None:
            one.left[question] = NO_ANSWER
        else:
            one.answers[question] = [str(value_text(part)) for part in values]
            one.reason = None
            sets |= {question} if isinstance(value, list) else set()
    return [one for own in annotators.values() for one in own]


def _single(record: Record, nested: bool, where: str) -> Iterator[Single]:
    responses = record["responses"] if nested else {}
    for name, every in responses.items():
        if not isinstance(every, list) or not all(isinstance(one, dict) for one in every):
            raise DataError(f"{where}: the responses to {name!r} must be a list of objects")
        for one in every:
            facts = value_text(one.get("user_id")), one.get("status"), one.get("value")
            yield name.strip() or "(no name)", *facts
    for key in [] if nested else [key for key in record if key.endswith(RESPONSES)]:
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
            yield question.strip() or "(no name)", value_text(user), status, value
