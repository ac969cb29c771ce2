"""The same spans, exported by several tools, have the same agreement."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.agreement import span_agreement
from dissensus.readers import read

TEXT = "Bob saw New York and Eve."
SPANS = {
    "ann": [(0, 3, "PER"), (8, 16, "LOC"), (21, 24, "PER")],
    "bob": [(0, 3, "PER"), (8, 11, "LOC")],
}


def label_studio(folder: Path) -> Path:
    annotations = [
        {
            "id": number,
            "completed_by": number,
            "result": [
                {
                    "type": "labels",
                    "from_name": "ner",
                    "to_name": "text",
                    "value": {"start": a, "end": b, "labels": [label]},
                }
                for a, b, label in spans
            ],
        }
        for number, spans in enumerate(SPANS.values(), start=1)
    ]
    path = folder / "export.json"
    path.write_text(json.dumps([{"id": 1, "data": {"text": TEXT}, "annotations": annotations}]))
    return path


def prodigy(folder: Path) -> Path:
    path = folder / "export.jsonl"
    lines = [
        json.dumps(
            {
                "text": TEXT,
                "_input_hash": 1,
                "_task_hash": 1,
                "spans": [{"start": a, "end": b, "label": label} for a, b, label in spans],
                "answer": "accept",
                "_view_id": "ner_manual",
                "_session_id": f"set-{name}",
            }
        )
        for name, spans in SPANS.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def doccano(folder: Path) -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for name, spans in SPANS.items():
            packed.writestr(f"{name}.jsonl", json.dumps({"id": 1, "text": TEXT, "label": spans}))
    return path


def potato(folder: Path) -> Path:
    for name, spans in SPANS.items():
        marked = [
            {"start": a, "end": b, "annotation": label, "schema": "ner"} for a, b, label in spans
        ]
        entry = {"id": "t1", "displayed_text": TEXT, "span_annotations": marked}
        path = folder / "output" / name / "annotated_instances.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(entry) + "\n")
    return folder / "output"


def brat(folder: Path) -> Path:
    for name, spans in SPANS.items():
        place = folder / "brat" / name
        place.mkdir(parents=True)
        (place / "d1.txt").write_text(TEXT)
        lines = [f"T{n}\t{label} {a} {b}\t{TEXT[a:b]}" for n, (a, b, label) in enumerate(spans, 1)]
        (place / "d1.ann").write_text("\n".join(lines) + "\n")
    return folder / "brat"


@pytest.mark.parametrize("export", [label_studio, prodigy, doccano, potato, brat])
def test_every_tool(tmp_path: Path, export: Callable[[Path], Path]) -> None:
    corpus = read(export(tmp_path))
    (question,) = corpus.questions
    results = span_agreement(corpus, question)
    assert [(one.label, one.spans) for one in results] == [(None, 5), ("PER", 3), ("LOC", 2)]
    values = {r.measure: round(r.value, 3) for r in results[0].measures}
    assert values == {
        "span-alpha": 0.439,
        "unitising-alpha": 0.458,
        "span-f1": 0.4,  # one of three spans of ann, and one of two of bob
        "overlap-f1": 0.8,
        "character-f1": 0.6,  # 6 characters of both, of 14 and 6
    }
