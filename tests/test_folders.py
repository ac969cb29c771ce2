"""Folders: written whole or not at all, with a format number."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus import Corpus, Predictions
from dissensus.errors import DataError
from dissensus.files.folders import (
    FORMAT,
    read_json,
    read_table,
    reading,
    write_json,
    write_table,
    writing,
)
from tests.error_texts import error_text
from tests.saved_folders import without_checksums
from tests.test_corpus import whole
from tests.test_prediction import saved


def written(path: Path, text: str = "old") -> Path:
    with writing(path, "corpus", overwrite=True) as folder:
        write_table(folder / "rows.parquet", {"x": [1, 2]})
        write_json(folder, "corpus", {"text": text})
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, hidden ones too."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    folder = written(tmp_path / "a" / "seed=0", "ça 😀")  # which looks like a partition of a table
    assert read_json(folder, "corpus") == {"format": FORMAT, "kind": "corpus", "text": "ça 😀"}
    assert "ça 😀" in (folder / "corpus.json").read_text(encoding="utf-8")
    assert read_table(folder / "rows.parquet").to_pydict() == {"x": [1, 2]}
    write_table(tmp_path / "rows.parquet", {})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]  # no columns are no file


# ---- whole or not at all ----


def test_a_folder_of_the_same_kind_is_replaced_and_nothing_of_it_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()  # an empty one is filled
    folder = written(tmp_path / "mine")
    with writing(folder, "corpus", True) as new:
        write_json(new, "corpus", {"text": "new"})
    assert read_json(folder, "corpus")["text"] == "new"
    assert sorted(contents(tmp_path)) == ["mine/corpus.json"]


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()])
def test_a_failing_write_leaves_the_old_folder_and_nothing_else(
    tmp_path: Path, error: BaseException
) -> None:
    written(tmp_path / "mine")
    before = contents(tmp_path)
    with pytest.raises(type(error)), writing(tmp_path / "mine", "corpus", True) as folder:
        write_table(folder / "rows.parquet", {"x": [3]})
        raise error
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "mine")
    before = contents(tmp_path)
    real_replace, moves = os.replace, []

    def replace(source: Any, target: Any) -> None:
        moves.append(target)
        if len(moves) == 2:
            raise OSError(28, "disk is full")
        real_replace(source, target)

    monkeypatch.setattr(
        "dissensus.files.folders.exchanged", lambda *_: False
    )  # as on other systems
    monkeypatch.setattr("dissensus.files.folders.os.replace", replace)
    with pytest.raises(DataError, match="mine: cannot be written .No space left on device.$"):
        written(folder, "new")
    monkeypatch.undo()
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o755), (0o077, 0o700), (0o002, 0o775)])
def test_what_is_written_has_the_modes_of_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        folder = written(tmp_path / "mine")
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == mode
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {mode & 0o666}


# ---- errors ----


def test_nothing_else_is_overwritten(tmp_path: Path) -> None:
    with writing(tmp_path / "answers", "predictions") as folder:
        write_json(folder, "predictions", {})
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("x")
    before = contents(tmp_path)
    for name in ("answers", "theirs", "file"):
        assert error_text(written, tmp_path / name) == (
            f"{tmp_path / name}: already exists and is not a dissensus corpus folder; "
            "choose another path"
        )
    assert contents(tmp_path) == before


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    target = tmp_path / "file" / "mine"
    assert error_text(written, target).startswith(f"{target}: cannot be written (")


def test_a_folder_that_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("nowhere", "file"):
        result = error_text(read_json, tmp_path / name, "corpus")
        assert result == f"{tmp_path / name}: not a dissensus corpus folder: corpus.json is missing"


@pytest.mark.parametrize("number", [FORMAT + 1, 0, "1", None])
def test_an_unknown_format_number_is_refused(tmp_path: Path, number: Any) -> None:
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps({"format": number}))
    assert error_text(read_json, tmp_path, "corpus") == (
        f"{path}: format number {number!r}, this version reads {FORMAT}; "
        "read it with the version of dissensus that wrote it"
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[1, 2]", ": format number None, this version reads "),
        (b'{"format": 1, "text": "o', ", line 1: damaged JSON, the file may be truncated ("),
        (b"\xff\xfe\x00", ": damaged JSON, not UTF-8 ('utf-8' codec"),
    ],
)
def test_a_damaged_front_page_is_refused(content: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.json").write_bytes(content)
    result = error_text(read_json, tmp_path, "corpus")
    assert result.startswith(f"{tmp_path / 'corpus.json'}{expected}")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
def test_a_truncated_table_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": list(range(1000))}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    result = error_text(read_table, path)
    assert result.startswith(f"{path}: damaged (") and result.endswith("); make the folder again")
    path.unlink()
    missing = f"{path}: missing; the folder is incomplete, make it again"
    assert error_text(read_table, path) == missing


def test_what_does_not_fit_together_is_one_line_with_the_folder(tmp_path: Path) -> None:
    def break_with(error: Exception) -> None:
        with reading(tmp_path):
            raise error

    assert error_text(break_with, KeyError("scale")) == (
        f"{tmp_path}: damaged (KeyError: 'scale'); make the folder again"
    )
    assert error_text(break_with, DataError("no kind of scale")) == (
        f"{tmp_path}: damaged (no kind of scale); make the folder again"
    )
    named = f"{tmp_path / 'rows.parquet'}: missing"
    assert error_text(break_with, DataError(named)) == named


# ---- checksums ----


@pytest.mark.parametrize(
    ("save", "load", "fewest"),
    [(lambda path: whole().save(path), Corpus.load, 11), (saved, Predictions.load, 9)],
)
def test_a_flipped_bit_and_a_file_that_is_cut_or_missing_are_noticed(
    save: Callable[[Path], Any], load: Callable[[Path], Any], fewest: int, tmp_path: Path
) -> None:
    folder = tmp_path / "saved"
    save(folder)
    random = Random(0)
    files = sorted(folder.iterdir())
    assert len(files) >= fewest
    for path in files:
        content = path.read_bytes()
        end = content.find(b'"checksums"')  # without them it is a folder of an earlier version
        for _ in range(12):
            at = random.randrange(end if end > 0 else len(content))
            changed = bytearray(content)
            changed[at] ^= 1 << random.randrange(8)
            path.write_bytes(changed)
            if not bytes([content[at], changed[at]]).isspace():  # else it is the same JSON
                assert str(folder) in error_text(load, folder)
        path.write_bytes(content[: len(content) // 2])
        assert str(folder) in error_text(load, folder)
        path.unlink()
        assert str(folder) in error_text(load, folder), path.name
        path.write_bytes(content)
    load(folder)


def test_folders_of_earlier_versions_have_no_checksums(tmp_path: Path) -> None:
    folder, before = tmp_path / "saved", whole()
    before.save(folder)
    content = json.loads((folder / "corpus.json").read_text())
    content["checksums"] |= {"": "0", "x" * 300: "0", "a/b": "0"}  # names that no file can have
    (folder / "corpus.json").write_text(json.dumps(content))
    assert Corpus.load(folder).equals(before)
    without_checksums(folder / "corpus.json")
    assert Corpus.load(folder).equals(before)
