"""A labelling job of SageMaker Ground Truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
