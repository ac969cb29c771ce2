"""doccano's exports: a file for each annotator, in a zip or a folder."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.scales import Nominal
from tests.readers.conftest import rows_of


def lines(*labels: Any, key: str = "label") -> str:
    """Texts 1, 2, ... with these labels."""
    records = [
        {"id": number, "text": f"text {number}", key: label, "source": "web"}
        for number, label in enumerate(labels, start=1)
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def folder(tmp_path: Path, **files: str) -> Path:
    path = tmp_path / "project"
    path.mkdir(exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return path


def packed(tmp_path: Path, **files: str) -> Path:
    path = tmp_path / "project.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.jsonl", text)
        archive.writestr("__MACOSX/._ann.jsonl", b"\x00")
    return path


@pytest.mark.parametrize("sample", [folder, packed])
def test_a_file_for_each_annotator(tmp_path: Path, sample: Any) -> None:
    path = sample(tmp_path, ann=lines(["joy"], ["fear"]), bob=lines(["fear"], []))
    assert recognise(path) == ("doccano" if path.is_dir() else "zip")
    corpus = read(path)
    assert rows_of(corpus, "label") == [
        ("1", "ann", "joy"),
        ("2", "ann", "fear"),
        ("1", "bob", "fear"),
    ]
    assert corpus.name == "project" and corpus["label"].scale == Nominal(("fear", "joy"))
    assert corpus.contents["text"].values.to_pylist() == ["text 1", "text 2"]
    assert corpus.item_attributes["source"].to_pylist() == ["web", "web"]
    assert corpus.notes == (
        f"{path.name}: doccano; label (nominal: fear, joy); 3 answers by 2 annotators on 2 items",
        f"{path.name}: 1 text without a label left out, as not annotated",
        f"{path.name}: left out: not annotated 1",
    )
    assert corpus.left_out == (LeftOut("label", "not annotated", 1),)


def test_other_folders_and_zips_are_not_taken_for_it(tmp_path: Path) -> None:
    other = folder(tmp_path, ann='{"item": 1, "answer": 2}\n')
    with pytest.raises(DataError, match="without a corpus"):
        recognise(other)
    (other / "ann.jsonl").write_text(lines(["joy"]))
    (other / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="without a corpus"):
        recognise(other)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="without a corpus"):
        recognise(tmp_path / "empty")
    sheet = tmp_path / "sheet.xlsx"
    with zipfile.ZipFile(sheet, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    assert recognise(sheet) == "spreadsheet"


def test_an_entry_of_a_zip_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "project.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ann.jsonl", lines(["joy"], ["fear"]))
        archive.writestr(zipfile.ZipInfo(""), "x")
    assert read(path)["label"].n_rows == 2


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "project.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("ann", "bob"):
            lines = '{"id": "1", "label": ["joy"]}\n{"id": "\\ud800", "label": ["fear"]}\n'
            archive.writestr(f"{name}.jsonl", lines)
    with pytest.raises(DataError, match="'id' contains a lone surrogate"):
        read(path)
