"""Tables that are too wide, and lines that are too long: refused in one line, or read quickly."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dissensus.errors import DataError, NoAnswersError
from dissensus.readers import delimited, files, read
from tests.error_texts import error_text
from tests.readers.conftest import Write


def wide(n_columns: int, name: str) -> pa.Table:
    cells = {"id": ["a", "b", "c"]}
    cells |= {f"{name}{n}x": ["0", "1", str(n % 2)] for n in range(n_columns)}
    return pa.table(cells)


def test_many_columns_that_say_nothing_are_refused_in_a_short_message() -> None:
    with pytest.raises(NoAnswersError, match="and 592 more have the same values") as refusal:
        read(wide(600, "n"))
    assert len(str(refusal.value)) < 500
    assert "use read(table, answer=['n{annotator}x']) if each is an annotator" in str(refusal.value)
    assert read(wide(600, "n"), format="wide").n_annotators == 600


def test_too_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_COLUMNS", 100)
    message = (
        r"table: 201 columns, more than 100; write a row for each answer \(item, annotator, "
        r"answer\), or leave columns out"
    )
    with pytest.raises(DataError, match=message):
        read(wide(200, "ann_"))


def test_a_first_line_without_end(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MOST_HEADER", 1 << 20)
    with pytest.raises(DataError, match="the first line is longer than 1 MB"):
        read(write("item,annotator,label," * 60_000))


def test_a_nul_byte_in_a_late_line(write: Write) -> None:
    lines = "".join(f"t{n},ann,1\n" for n in range(1000))
    with pytest.raises(DataError, match=r"line 1002: a NUL byte, which no text has"):
        read(write(f"item,annotator,label\n{lines}t1,b\0b,0\n"))


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_a_line_without_end(write: Write, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(files, "MOST_LINE", 6 << 20)
    start = "item,annotator,label\n" if name.endswith("csv") else '{"item": "t0"}\n'
    path = write(start + "x" * (9 << 20), name)
    assert error_text(read, path) == (
        f"{path}, line 2: longer than 6 MB; is the file damaged? Write a line for each row or "
        "object"
    )


def test_a_large_file_of_short_lines(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_LINE", 1 << 10)
    lines = "".join(f"t{n // 2},a{n % 2},{n % 3}\n" for n in range(400))
    assert read(write(f"item,annotator,label\n{lines}")).n_items == 200
