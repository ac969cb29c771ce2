"""Label Studio's exports: controls of every type, who answered, and what is not read."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.scales import Nominal, Ordinal
from tests.readers.conftest import Write, rows_of

KEYS = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}


def result(name: str, answer: Any, kind: str = "choices", **more: Any) -> dict[str, Any]:
    stored = answer if isinstance(answer, list) or kind != "choices" else [answer]
    value = {KEYS.get(kind, kind): stored}
    return {"id": "z", "type": kind, "from_name": name, "to_name": "text", "value": value} | more


def annotation(number: int, person: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"id": number, "completed_by": person, "was_cancelled": False, "lead_time": 4.25}
    return about | {"ground_truth": False, "result": list(results)} | more


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    shown = data or {"text": f"text {number}"}
    return {"id": number, "data": shown, "annotations": list(annotations), "predictions": [{}]}


def made(write: Write, *tasks: dict[str, Any], **options: Any) -> Corpus:
    return read(write(json.dumps(tasks), "export.json"), **options)


def refused(write: Write, *tasks: dict[str, Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        made(write, *tasks, **options)
    return re.sub(r"^.*export\.json", "export.json", str(caught.value))


def test_every_type_of_question(write: Write) -> None:
    outputs = [
        result("mood", "joy"),
        result("stars", 4, "rating"),
        result("years", 31, "number"),
        result("better", "left", "pairwise"),
        result("topic", [["arts", "film"], ["home"]], "taxonomy"),
    ]
    other = [
        result("mood", "fear"),
        result("stars", 2, "rating"),
        result("years", 30.5, "number"),
        result("better", "right", "pairwise"),
        result("topic", [["home"]], "taxonomy"),
    ]
    corpus = made(write, task(1, annotation(1, 10, *outputs), annotation(2, 11, *other)))
    assert rows_of(corpus, "mood") == [("1", "10", "joy"), ("1", "11", "fear")]
    assert corpus["mood"].scale == Nominal(("fear", "joy"))
    assert corpus["stars"].answers() == ["4", "2"]
    assert corpus["years"].answers() == [31, 30.5]
    assert corpus["better"].answers() == ["left", "right"]
    assert corpus["topic"].answers() == [("arts > film", "home"), ("home",)]
    assert corpus["mood"].seconds is not None and corpus["mood"].seconds.tolist() == [4.25, 4.25]
    assert corpus.contents["text"].values.to_pylist() == ["text 1"]
    assert corpus.notes[0].startswith("export.json: Label Studio; mood (nominal: fear, joy); stars")
    assert corpus.notes[0].endswith("; 10 answers by 2 annotators on 1 item")


def test_a_scale_may_be_declared_and_repeats_chosen(write: Write) -> None:
    twice = task(
        1, annotation(1, 10, result("mood", "ok")), annotation(2, 10, result("mood", "bad"))
    )
    assert "repeats" in refused(write, twice)
    corpus = made(write, twice, repeats="last", scale={"mood": "ordinal:bad,ok,good"})
    assert corpus["mood"].scale == Ordinal(("bad", "ok", "good"))
    assert corpus["mood"].answers() == ["bad"]
