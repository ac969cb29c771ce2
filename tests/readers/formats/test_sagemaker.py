"""A labelling job of SageMaker Ground Truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from tests.readers.conftest import rows_of


def job(folder: Path, *objects: dict[str, Any]) -> Path:
    """A job whose workers gave these contents to each object."""
    for number, contents in enumerate(objects):
        place = folder / "annotations" / "worker-response" / "iteration-1" / str(number)
        place.mkdir(parents=True)
        answers = [
            {"workerId": worker, "answerContent": content, "timeSpentInSeconds": 2.5}
            for worker, content in contents.items()
        ]
        (place / "2023-01-01_00-00-10.json").write_text(json.dumps({"answers": answers}))
    manifest = folder / "manifests" / "output" / "output.manifest"
    manifest.parent.mkdir(parents=True)
    metadata = {"class-name": "joy", "type": "groundtruth/text-classification"}
    manifest.write_text(
        "".join(
            json.dumps({"source": f"text {n}", "mood": 0, "mood-metadata": metadata}) + "\n"
            for n in range(len(objects))
        )
    )
    return folder


def label(value: str) -> dict[str, Any]:
    return {"crowd-classifier": {"label": value}}


def test_labels(tmp_path: Path) -> None:
    folder = job(tmp_path / "job", {"w1": label("joy"), "w2": label("fear")}, {"w1": label("joy")})
    corpus = read(folder)
    assert rows_of(corpus, "mood") == [("0", "w1", "joy"), ("0", "w2", "fear"), ("1", "w1", "joy")]
    assert corpus.text_of(1) == "text 1"


def test_sets_switches_and_entities(tmp_path: Path) -> None:
    entities = [{"startOffset": 0, "endOffset": 4, "label": "Noun"}]
    content = {
        "crowd-entity-annotation": {"entities": entities},
        "tags": {"labels": ["a", "b"]},
        "sure": {"yes": {"on": True}, "no": {"on": False}},
    }
    corpus = read(job(tmp_path / "job", {"w1": content, "w2": {**content, "tags": {"labels": []}}}))
    assert corpus["tags"].answers() == [("a", "b"), ()]
    assert corpus["sure"].answers() == ["yes", "yes"]
    assert corpus["mood"].answers() == [("Noun",), ("Noun",)]
    assert corpus.rationales is not None and corpus.rationales.stop.tolist() == [[4], [4]]


def test_a_manifest_alone(tmp_path: Path) -> None:
    path = job(tmp_path / "job", {"w1": label("joy")}) / "manifests" / "output" / "output.manifest"
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value) == (
        f"{path}: consolidated labels, without the workers who gave them; name the folder of the "
        "job, which contains annotations/worker-response"
    )
