"""Label Studio's JSON-MIN, CSV and TSV."""

from __future__ import annotations

import json
from typing import Any

from dissensus.readers import read
from tests.readers.conftest import Write, rows_of

META = {"created_at": "2024-01-01T00:00:00Z", "lead_time": 4.5}
SPAN = {"start": 0, "end": 2, "text": "so", "labels": ["odd"]}


def test_json_min(write: Write) -> None:
    answers: list[dict[str, Any]] = [
        {"mood": "joy", "better": [{"selected": "left"}], "stars": [{"rating": 3}], "part": [SPAN]},
        {"mood": {"choices": ["joy", "fear"]}, "stars": [{"rating": 5}],
         "kind": [{"taxonomy": [["a", "b"], ["c"]]}]},
    ]  # fmt: skip
    records = [
        {
            "text": "so good",
            "topic": "x",
            "id": 7,
            **given,
            "annotator": n,
            "annotation_id": n,
            **META,
        }
        for n, given in enumerate(answers, start=1)
    ]
    corpus = read(write(json.dumps([*records, records[0]]), "export.json"))
    assert rows_of(corpus, "mood") == [("7", "1", ("joy",)), ("7", "2", ("fear", "joy"))]
    assert rows_of(corpus, "better") == [("7", "1", "left")]
    assert rows_of(corpus, "stars") == [("7", "1", "3"), ("7", "2", "5")]
    assert rows_of(corpus, "kind") == [("7", "2", ("a > b", "c"))]
    assert corpus.rationales is not None and corpus.rationales.stop.tolist() == [[2.0]]
    assert "topic" in corpus.item_attributes and corpus.text_of(0) == "so good"
    assert any("found twice" in note for note in corpus.notes)
