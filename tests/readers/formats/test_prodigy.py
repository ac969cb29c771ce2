"""Prodigy's exports: choices, sets and labels, who answered, and what holds no answer."""

from __future__ import annotations

import json
from typing import Any

from dissensus import Corpus
from dissensus.readers import read, recognise
from dissensus.scales import Nominal
from tests.readers.conftest import Write, rows_of

OFFERED = [{"id": "joy", "text": "Joy"}, {"id": "fear", "text": "Fear"}]


def example(item: int, person: str | None, **more: Any) -> dict[str, Any]:
    """As `db-out` writes it; `more` takes the place of what stands here."""
    return {
        "text": f"text {item}",
        "_input_hash": -91551573 + item,
        "_task_hash": 17,
        "answer": "accept",
        "_view_id": "choice",
        "_session_id": person,
        **more,
    }


def chosen(item: int, person: str | None, *values: Any, **more: Any) -> dict[str, Any]:
    return example(item, person, **{"options": OFFERED, "accept": list(values), **more})


def made(write: Write, *examples: dict[str, Any], **options: Any) -> Corpus:
    return read(write("\n".join(map(json.dumps, examples)), "moods.jsonl"), **options)


def test_choices(write: Write) -> None:
    corpus = made(
        write,
        chosen(1, "moods-ann", "joy", meta={"source": "web"}, _timestamp=1707211049),
        chosen(1, "moods-bob%20b", "fear", meta={"source": "web"}, _timestamp=1707211050),
        chosen(2, "moods-ann", "joy", meta={"source": "app"}),
    )
    assert rows_of(corpus, "choice") == [
        ("-91551572", "ann", "joy"),
        ("-91551572", "bob b", "fear"),
        ("-91551571", "ann", "joy"),
    ]
    assert corpus["choice"].scale == Nominal(("fear", "joy"))
    assert corpus.contents["text"].values.to_pylist() == ["text 1", "text 2"]
    assert corpus.item_attributes["meta.source"].to_pylist() == ["web", "app"]
    assert corpus["choice"].extra["_timestamp"].to_pylist() == ["1707211049", "1707211050", None]
    assert corpus.notes == (
        "moods.jsonl: Prodigy; choice (nominal: fear, joy); 3 answers by 2 annotators on 2 items",
        "moods.jsonl: annotators are named without 'moods-', which all names begin with",
    )


def test_only_prodigy_is_taken_for_it(write: Write) -> None:
    other = write('{"item": "t1", "annotator": "ann", "answer": "accept"}\n', "a.jsonl")
    assert recognise(other) == "jsonl"
    assert recognise(write(json.dumps(chosen(1, "a", "joy")), "b.txt")) == "prodigy"
