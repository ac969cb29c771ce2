"""Arrow files and streams: types written out as texts, damaged files."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pytest

from dissensus.readers import read, recognise
from tests.error_texts import error_text

COLUMNS: dict[str, Any] = {
    "item": pa.array([2**63, 7, 7], pa.uint64()),
    "annotator": pa.array(["a", "b", "a"]).dictionary_encode(),
    "rating": [1.0, None, 3.0],
    "day": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
}


def written(folder: Path, name: str, columns: dict[str, Any] = COLUMNS) -> Path:
    """A stream where the name says so, a file otherwise; .feather as pandas writes it."""
    path, table = folder / name, pa.table(columns)
    if path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path)
        return path
    new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with new(path, table.schema) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows", "a.feather", "a.csv"])
def test_files_and_streams(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    assert recognise(path) == "arrow"
    corpus = read(path)
    assert list(corpus.items) == [str(2**63), "7"]
    assert corpus["rating"].answers() == ["1", "3"]
    assert corpus["rating"].extra["day"].to_pylist() == ["2020-01-01", "2020-01-03"]
    assert corpus.notes[0].startswith(f"{name}: long table; item = item, annotator = annotator")


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_a_truncated_file(tmp_path: Path, name: str, share: float) -> None:
    path = written(tmp_path, name)
    data = path.read_bytes()
    path.write_bytes(data[: max(8, int(share * len(data)))])
    assert re.fullmatch(
        re.escape(f"{path}: damaged (") + r".+\); is the file cut off\?", error_text(read, path)
    )


def test_offsets_that_point_nowhere(tmp_path: Path) -> None:
    path = written(tmp_path, "a.arrow", {"item": ["t1"], "annotator": ["a"], "label": ["xyz"]})
    data = path.read_bytes()
    at = data.index(b"xyz") - 8  # where the text begins and ends: 0, 3
    assert data[at : at + 8] == (0).to_bytes(4, "little") + (3).to_bytes(4, "little")
    path.write_bytes(data[: at + 4] + (2**30).to_bytes(4, "little") + data[at + 8 :])
    assert error_text(read, path).startswith(f"{path}: damaged (")
