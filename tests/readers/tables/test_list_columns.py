"""Tables with a row for each item, and its annotators and answers in lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.readers import read
from tests.error_texts import error_text
from tests.readers.conftest import rows_of

ROWS = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"), ("t2", "eve", "no")]
LISTS = [
    {"id": "t1", "text": "so good", "annotators": ["ann", "bob"], "labels": ["yes", "no"]},
    {"id": "t2", "text": "oh no", "annotators": ["ann", "eve"], "labels": ["no", "no"]},
]


def pairs(row: dict[str, Any]) -> list[dict[str, str]]:
    names, labels = row["annotators"], row["labels"]
    return [{"worker": a, "label": b} for a, b in zip(names, labels, strict=True)]


def plain(row: dict[str, Any], annotations: Any) -> dict[str, Any]:
    return {"id": row["id"], "text": row["text"], "annotations": annotations}


SHAPES: dict[str, list[dict[str, Any]]] = {
    "lists": LISTS,
    "objects": [plain(row, pairs(row)) for row in LISTS],
    "object of lists": [
        plain(row, {"worker": row["annotators"], "label": row["labels"]}) for row in LISTS
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet", "csv"])
def test_every_way_to_write_them(tmp_path: Path, shape: str, ending: str) -> None:
    path, records = tmp_path / f"labels.{ending}", SHAPES[shape]
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif ending == "csv":
        cells = [
            [json.dumps(v) if not isinstance(v, str) else v for v in r.values()] for r in records
        ]
        quoted = ['"' + cell.replace('"', '""') + '"' for row in cells for cell in row]
        width = len(records[0])
        lines = [",".join(quoted[at : at + width]) for at in range(0, len(quoted), width)]
        path.write_text("\n".join([",".join(records[0]), *lines, ""]))
    elif ending == "json":
        path.write_text(json.dumps(records))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in records))
    corpus = read(path)
    (question,) = corpus.questions
    assert rows_of(corpus, question) == ROWS
    assert corpus.text_of(1) == "oh no"
    assert "lists with an entry for each annotator, read as rows" in " ".join(corpus.notes)


def test_sets_and_attributes_in_lists(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [
        {**row, "labels": [["joy"], ["joy", "fear"]], "gender": ["f", "m" if at == 0 else "f"]}
        for at, row in enumerate(LISTS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = read(path)
    assert corpus["labels"].answers() == [("joy",), ("fear", "joy")] * 2
    assert corpus.annotator_attributes["gender"].to_pylist() == ["f", "m", "f"]


def test_answers_of_unknown_annotators() -> None:
    table = pa.table({"id": ["t1", "t2"], "labels": [["no", "no", "yes"], ["yes"]]})
    corpus = read(table)
    assert corpus["labels"].annotator is None
    assert corpus["labels"].counts().tolist() == [[2, 1], [0, 1]]
    sets = read(pa.table({"id": ["t1", "t2"], "labels": [["no", "yes"], ["yes"]]}))
    assert sets["labels"].scale.kind == "multi-label"


def test_lists_of_different_lengths(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [*LISTS, {**LISTS[0], "id": "t3", "labels": ["no"]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert error_text(read, path) == (
        f"{path}, line 3: 2 entries in 'annotators', but 1 in 'labels'; write one for each "
        "annotator"
    )


def test_names_of_classes(tmp_path: Path) -> None:
    """ClassLabel features of Hugging Face, in lists too, as metadata and as dataset_info.json."""
    label = {"names": ["no", "yes"], "_type": "ClassLabel"}
    table = pa.table({"id": ["t1", "t1"], "annotator": ["ann", "bob"], "label": [1, 0]})
    metadata = {"huggingface": json.dumps({"info": {"features": {"label": label}}})}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "one.parquet")
    assert read(tmp_path / "one.parquet")["label"].answers() == ["yes", "no"]
    lists = pa.table({"id": ["t1"], "annotators": [["ann", "bob"]], "labels": [[1, 0]]})
    features = {"labels": {"feature": label, "_type": "Sequence"}}
    folder = tmp_path / "saved" / "train"
    folder.mkdir(parents=True)
    with pa.ipc.new_stream(folder / "data-00000-of-00001.arrow", lists.schema) as stream:
        stream.write_table(lists)
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    assert read(tmp_path / "saved")["labels"].answers() == ["yes", "no"]


def test_one_text_among_sets_of_annotators(tmp_path: Path) -> None:
    times = {"created_at": "2024-01-01T00:00:00Z", "lead_time": 4.5}
    row = {"text": "so good", "id": 7, "stars": [{"rating": 3}], **times}
    who = ("joy", {"choices": ["joy", "fear"]})
    rows = [row | {"annotation_id": n, "annotator": name} for n, name in enumerate(who)]
    (tmp_path / "export.json").write_text(json.dumps(rows))
    assert "no annotator: 'annotator' is blank" in error_text(read, tmp_path / "export.json")
