"""potato's folders of both versions, and its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from tests.readers.conftest import rows_of

ANSWERS = {
    "t1": {
        "mood": {"joy": "joy", "fear": "fear"},
        "rude": {"scale_3": "3"},
        "ok": {"A": "5", "B": "4"},
    },
    "t2": {"mood": {"joy": "mood:::joy"}, "rude": {"scale_1": "1"}, "ok": {"A": "2", "B": "1"}},
    "end.html": {"age": {"text_box": "30"}},
}  # fmt: skip


def first_version(item: str, labels: dict[str, Any], spans: Any = None) -> dict[str, Any]:
    shown = {"id": item, "displayed_text": f"text {item}", "label_annotations": labels}
    time = {"time_string": "Time spent: 0d 0h 1m 10s "}
    return shown | {"span_annotations": spans or {}, "behavioral_data": time}


def test_the_first_version(tmp_path: Path) -> None:
    span = [{"start": 0, "end": 4, "schema": "part", "annotation": "odd", "span": "text"}]
    for user in ("ann", "bob"):
        (tmp_path / user).mkdir()
        records = [
            first_version(i, labels, span if i == "t1" else None) for i, labels in ANSWERS.items()
        ]
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / user / "annotated_instances.jsonl").write_text(lines)
    corpus = read(tmp_path)
    assert list(corpus.questions) == ["mood", "ok:::A", "ok:::B", "part", "rude"]
    assert sorted(rows_of(corpus, "mood"))[:2] == [
        ("t1", "ann", ("fear", "joy")),
        ("t1", "bob", ("fear", "joy")),
    ]
    assert rows_of(corpus, "rude")[0] == ("t1", "ann", "3")
    assert corpus["ok:::A"].scale == corpus["ok:::B"].scale  # the values of both
    assert corpus.rationales is not None and corpus.rationales.kind.to_pylist() == ["odd", "odd"]
    assert corpus["rude"].seconds is not None and set(corpus["rude"].seconds) == {70}
    assert any("2 survey pages left out" in note for note in corpus.notes)


def test_the_second_version(tmp_path: Path) -> None:
    plain = {"t1": {"mood": {"labels": {"joy": True}}}, "t2": {"mood": {"labels": {"fear": True}}}}
    pairs = {"t1": [[{"schema": "mood", "name": "joy"}, "true"]]}
    for user, given in (("ann", plain), ("bob", pairs)):
        (tmp_path / user).mkdir()
        state = {"user_id": f"{user}@x", "instance_id_to_label_to_value": given}
        (tmp_path / user / "user_state.json").write_text(json.dumps(state))
    assert sorted(rows_of(read(tmp_path), "mood")) == [
        ("t1", "ann@x", "joy"), ("t1", "bob@x", "joy"), ("t2", "ann@x", "fear"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "mood "])
def test_a_question_without_a_proper_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "ann").mkdir()
    given = {"t1": {name: {"labels": {"joy": True}}}}
    state = {"user_id": "ann", "instance_id_to_label_to_value": given}
    (tmp_path / "ann" / "user_state.json").write_text(json.dumps(state))
    with pytest.raises(DataError) as error:
        read(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: a question is called {name!r}; give it a name without spaces at its ends"
    )
