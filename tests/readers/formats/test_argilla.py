"""Argilla's records, flat and nested: whose responses they are, their status, and what is shown."""

from __future__ import annotations

import json
from typing import Any

from dissensus import Corpus
from dissensus.corpus import LeftOut
from dissensus.readers import read
from dissensus.scales import Nominal
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
