"""Parquet files: types written out as texts, bytes of media, damaged files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read
from tests.error_texts import error_text
from tests.readers.conftest import refused


def written(tmp_path: Path, columns: dict[str, Any], name: str = "labels.parquet") -> Path:
    pq.write_table(pa.table(columns), tmp_path / name)
    return tmp_path / name


def test_types_become_texts(tmp_path: Path) -> None:
    columns = {
        "item": pa.array([2**63, 2**64 - 1, 7], pa.uint64()),
        "annotator": pa.array(["a", "b", "a"]).dictionary_encode(),
        "rating": [1.0, None, 3.0],
    }
    corpus = read(written(tmp_path, columns))
    assert list(corpus.items) == [str(2**63), str(2**64 - 1), "7"]
    assert list(corpus.annotators) == ["a", "b"]
    assert corpus["rating"].answers() == ["1", "3"]
    assert corpus.left_out == (LeftOut("rating", "no answer", 1),)
    assert corpus.notes[1].endswith("rating: 1 row without an answer left out, the first in row 2")


def test_it_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    columns = {"item": ["t1"], "annotator": ["a"], "label": ["x"]}
    assert read(written(tmp_path, columns, "labels.csv"))["label"].n_rows == 1


def test_lists_and_bytes(tmp_path: Path) -> None:
    columns = {
        "item": ["t1", "t2"],
        "annotator": ["a", "a"],
        "label": [["joy", "fear"], []],
        "image": [b"\x89PNG\x00\xff", b"\xff\xd8\xff"],
    }
    corpus = read(written(tmp_path, columns))
    assert corpus["label"].answers() == [("fear", "joy"), ()]
    assert corpus.contents["image"].bytes_of(1) == b"\xff\xd8\xff"


@pytest.mark.parametrize("kept", [4, 40, 200, -1])
def test_a_truncated_file(tmp_path: Path, kept: int) -> None:
    columns = {"item": ["t1"], "annotator": ["a"], "label": ["x"]}
    path = written(tmp_path, columns)
    path.write_bytes(path.read_bytes()[:kept])
    assert re.fullmatch(
        re.escape(f"{path}: damaged (") + r".+\); is the file cut off\?", error_text(read, path)
    )


def test_texts_and_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = written(tmp_path, {"item": ["t1"], "annotator": ["a"], "label": ["xyz"]})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"xyz", b"x\xe9z"))
    message = (
        f"{path}: damaged (Column 2: In chunk 0: Invalid: Invalid UTF8 sequence at string index 0)"
        "; is the file cut off?"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)
    path.write_bytes(data.replace(b"annotator", b"ann\xe9tator"))
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}: damaged "):
        read(path)
