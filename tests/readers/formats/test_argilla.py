"""Argilla's records, flat and nested: whose responses they are, their status, and what is shown."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dissensus import Corpus
from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.scales import MultiLabel, Nominal
from tests.readers.conftest import Write, rows_of


def flat(
    number: int, question: str, *output: tuple[str, Any, str | None], **more: Any
) -> dict[str, Any]:
    """Each said: user, value, status."""
    users, values, status = ([one[at] for one in output] for at in range(3))
    lists = {"responses": values, "responses.users": users, "responses.status": status}
    about = {"id": f"r{number}", "text": f"text {number}"} | more
    return about | {f"{question}.{key}": stored for key, stored in lists.items()}


def nested(number: int, fields: dict[str, Any], **responses: list[Any]) -> dict[str, Any]:
    """Each response: user, value."""
    outputs = {
        question: [{"user_id": user, "value": value} for user, value in given]
        for question, given in responses.items()
    }
    about = {"id": f"r{number}", "fields": fields, "metadata": {"source": "web"}}
    return about | {"suggestions": {}, "responses": outputs, "vectors": {}}


def made(write: Write, *records: dict[str, Any], **options: Any) -> Corpus:
    return read(write(json.dumps(records), "records.json"), **options)


def test_flat_records(write: Write) -> None:
    first = flat(
        1,
        "mood",
        ("u1", "joy", "submitted"),
        ("u2", "fear", "submitted"),
        ("u3", "fear", "draft"),
        ("u4", None, "discarded"),
    )
    first |= {"mood.suggestion": "joy", "mood.suggestion.score": None, "source": "web"}
    corpus = made(write, first, flat(2, "mood", ("u1", "fear", "submitted")))
    assert rows_of(corpus, "mood") == [
        ("r1", "u1", "joy"),
        ("r1", "u2", "fear"),
        ("r2", "u1", "fear"),
    ]
    assert corpus["mood"].scale == Nominal(("fear", "joy"))
    assert corpus.contents["text"].values.to_pylist() == ["text 1", "text 2"]
    assert corpus.item_attributes["source"].to_pylist() == ["web", None]
    assert list(corpus.item_attributes) == ["source"]
    assert corpus.left_out == (LeftOut("mood", "draft", 1), LeftOut("mood", "discarded", 1))
    assert corpus.notes == (
        "records.json: Argilla; mood (nominal: fear, joy); 3 answers by 2 annotators on 2 items",
        "records.json: left out: draft 1, discarded 1",
    )


def test_several_questions_stand_together(write: Write) -> None:
    record = flat(1, "mood", ("u1", "joy", None), ("u2", "fear", None))
    record |= flat(1, "tags", ("u2", ["a", "b"], None), ("u1", [], None))
    record |= flat(1, "stars", ("u1", 4, None))
    corpus = made(write, record)
    assert corpus["tags"].scale == MultiLabel(("a", "b"))
    assert sorted(rows_of(corpus, "tags")) == [("r1", "u1", ()), ("r1", "u2", ("a", "b"))]
    assert rows_of(corpus, "stars") == [("r1", "u1", "4")]
    assert corpus.joint("mood", "tags").item.tolist() == [0, 0]


def test_what_is_read_and_left_out_adds_up(write: Write) -> None:
    records = [
        flat(1, "mood", ("u1", "joy", "submitted"), ("u2", "fear", "draft"))
        | flat(1, "sure", ("u2", "yes", "submitted"), ("u3", None, "discarded")),
        flat(2, "mood", ("u1", None, "submitted"), ("u4", "joy", "submitted")),
        flat(3, "mood") | flat(3, "sure"),
        flat(4, "mood") | {"mood.responses": None, "mood.responses.users": None},
    ]
    corpus = made(write, *records)
    left = {(row.question, row.reason): row.answers for row in corpus.left_out}
    # annotators of a record, and records without any, count once for each question
    assert corpus["mood"].n_rows == 2 and left["mood", "draft"] == 1
    assert left["mood", "no answer"] == 2  # of u3 in r1, of u1 in r2
    assert left["mood", "no response"] == left["sure", "no response"] == 2
    assert corpus["sure"].n_rows == 1 and left["sure", "discarded"] == 1
    assert left["sure", "no answer"] == 3  # of u1 in r1, of u1 and u4 in r2
    for question in ("mood", "sure"):
        n_left = sum(n for (name, _), n in left.items() if name == question)
        assert corpus[question].n_rows + n_left == 3 + 2 + 1 + 1
    assert "records.json: 2 records without a response left out" in corpus.notes


def test_nested_records(write: Write) -> None:
    corpus = made(
        write,
        nested(1, {"prompt": "hi", "reply": "hello"}, mood=[("u1", "joy"), ("u2", "fear")]),
        nested(2, {"prompt": "ho", "reply": "hello"}, mood=[("u1", "joy")]),
        nested(3, {"prompt": "hum", "reply": "well"}),
    )
    assert rows_of(corpus, "mood") == [
        ("r1", "u1", "joy"),
        ("r1", "u2", "fear"),
        ("r2", "u1", "joy"),
    ]
    shown = {role: contents.values.to_pylist() for role, contents in corpus.contents.items()}
    assert shown == {"prompt": ["hi", "ho"], "reply": ["hello"]}
    assert corpus.item_attributes["source"].to_pylist() == ["web", "web"]
    one = made(write, nested(1, {"prompt": "hi"}, mood=[("u1", "joy")]))
    assert list(one.contents) == ["text"]
    named = made(write, nested(1, {"a": "hi", "b": "ho"}, mood=[("u1", "joy")]), text="b")
    assert named.contents["text"].values.to_pylist() == ["ho"]


def test_marks_are_not_read(write: Write) -> None:
    span = [{"start": 0, "end": 3, "label": "x"}]
    given = nested(1, {"text": "hi"}, mood=[("u1", "joy")], spans=[("u1", span)])
    corpus = made(write, given)
    assert list(corpus.questions) == ["mood"]
    assert "records.json: marks and rankings are not read: spans 1" in corpus.notes
    assert refused(write, nested(1, {"text": "hi"}, spans=[("u1", span)])) == (
        "records.json: no answers: spans 1"
    )


def test_a_person_who_answers_twice(write: Write) -> None:
    twice = nested(1, {"text": "hi"}, mood=[("u1", "joy"), ("u1", "fear")])
    assert "repeats" in refused(write, twice)
    assert made(write, twice, repeats="last")["mood"].answers() == ["fear"]


def test_nobody_is_named(write: Write) -> None:
    corpus = made(write, nested(1, {"text": "hi"}, mood=[(None, "joy")]))
    assert corpus["mood"].annotator is None
    some = made(write, nested(1, {"text": "hi"}, mood=[(None, "joy"), ("u1", "joy")]))
    assert some.left_out == (LeftOut("mood", "no annotator", 1),)


def refused(write: Write, *records: dict[str, Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        made(write, *records, **options)
    return re.sub(r"^.*records\.json", "records.json", str(caught.value))


def test_records_that_cannot_be_read(write: Write) -> None:
    uneven = flat(1, "mood", ("u1", "joy", None)) | {"mood.responses.users": ["u1", "u2"]}
    assert refused(write, uneven) == (
        "records.json, entry 1: 'mood' has 1 responses of 2 users with 1 statuses"
    )
    odd = nested(1, {"text": "hi"}) | {"responses": {"mood": "joy"}}
    assert refused(write, odd) == (
        "records.json, entry 1: the responses to 'mood' must be a list of objects"
    )
    assert refused(write, flat(1, "mood", ("u1", None, "discarded"))) == (
        "records.json: no answers: discarded 1"
    )
    assert refused(write, flat(1, "mood", ("u1", "joy", "draft"))) == (
        "records.json: no answers: draft 1"
    )


def test_records_may_stand_in_lines(write: Write) -> None:
    lines = [json.dumps(flat(n, "mood", ("u1", "joy", "submitted"))) for n in (1, 2)]
    path = write("\n".join(lines), "records.jsonl")
    assert recognise(path) == "argilla" and read(path).n_items == 2
