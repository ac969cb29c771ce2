"""Values that no reader expects: half letters, numbers of thousands of digits, long durations."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from dissensus.errors import DataError
from dissensus.readers import read

DIGITS = "9" * 5000
LEWIDI = {
    "1": {
        "text": "a",
        "annotation task": "x",
        "number of annotations": 1,
        "annotations": "1",
        "annotators": "A1",
        "lang": "en",
        "hard_label": "1",
        "soft_label": {"0": 0.0, "1": 1.0},
        "split": "train",
        "other_info": {},
    }
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lewidi.json", json.dumps(LEWIDI).replace('"A1"', '"A\\ud800"')),
        ("lewidi.json", json.dumps(LEWIDI).replace('"a"', '"\\udfff"')),
        ("lewidi.json", json.dumps(LEWIDI).replace("1,", f"{DIGITS},", 1)),
        ("peerannot.json", f'{{"0": {{"1": {DIGITS}, "2": 1}}}}'),
        ("name.jsonl", '{"item": "a", "annotator": "x", "answer\\ud800": "1"}\n'),
    ],
)
def test_half_letters_and_thousands_of_digits(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="lone surrogate|more than 4,300 digits") as caught:
        read(path)
    assert str(caught.value).startswith(str(path)) and len(str(caught.value)) < 300


def test_durations_of_any_length() -> None:
    column = pa.array([2**62, 1], pa.duration("s"))
    table = pa.table({"item": ["a", "b"], "annotator": ["x", "y"], "answer": column})
    assert read(table, scale="nominal")["answer"].answers()[1] == "1"


def test_entries_of_a_zip_with_a_dot_in_their_name(tmp_path: Path) -> None:
    line = '{"text": "a", "label": ["b"]}\n'
    path = tmp_path / "doccano.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(zipfile.ZipInfo("./ann.jsonl"), line)
        packed.writestr("bob.jsonl", line)
    assert list(read(path).annotators) == ["ann", "bob"]
