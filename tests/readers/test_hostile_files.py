"""Small files that would take all memory or minutes: refused in one line, and soon."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dissensus as ds
from dissensus.errors import DataError
from dissensus.files.tabular import delimited, write_workbook
from dissensus.readers import read

CELL = '<table:table-cell office:value-type="string" {}><text:p>x</text:p></table:table-cell>'
REPEATED = "table:number-{}-repeated"
SECONDS = 60  # far above what is needed, on a machine that does other things


def far_cell(path: Path, place: str = "XFD1048576") -> None:
    """A cell far below, such as the last one that a spreadsheet can have."""
    write_workbook(path, {"Sheet1": [["item", "ann"], ["t1", 1]]})
    row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    far = f'<row r="{row}"><c r="{place}"><v>1</v></c></row></sheetData>'.encode()
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content.replace(b"</sheetData>", far))


def ods(rows: str, columns: str) -> Callable[[Path], None]:
    """A spreadsheet of LibreOffice with one cell, repeated."""
    names = "".join(
        f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "table", "text")
    )
    cell = CELL.format(f'{REPEATED.format("columns")}="{columns}"')
    row = f'<table:table-row {REPEATED.format("rows")}="{rows}">{cell}</table:table-row>'
    parts = ("office:document-content", "office:body", "office:spreadsheet", "table:table")
    inner = row
    for part in reversed(parts):
        more = names if part == parts[0] else ' table:name="S"' if part == parts[-1] else ""
        inner = f"<{part}{more}>{inner}</{part}>"

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            packed.writestr("content.xml", inner)
            packed.writestr("META-INF/manifest.xml", "<manifest/>")

    return write


def arrow(column: Callable[[], pa.Array]) -> Callable[[Path], None]:
    """An Arrow file with this column of labels."""

    def write(path: Path) -> None:
        labels = column()
        table = pa.table({"item": pa.array(map(str, range(len(labels)))), "label": labels})
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    return write


def text_views() -> pa.Array:
    """A text of 30 kB that is stored once, in 200,000 rows."""
    text = b"x" * 30_000
    views = np.tile(np.array([len(text), 0x78787878, 0, 0], np.int32), (200_000, 1))
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string_view(), len(views), buffers)


def list_views() -> pa.Array:
    """A list of 10,000 numbers that is stored once, in 200,000 rows."""
    n = 200_000
    starts, sizes = (pa.array([one] * n, pa.int32()) for one in (0, 10_000))
    return pa.ListViewArray.from_arrays(starts, sizes, pa.array(range(10_000)))


def lines(objects: list[dict[str, int]]) -> Callable[[Path], None]:
    return lambda path: void(path.write_text("\n".join(map(json.dumps, objects))))


def void(_: object) -> None: ...


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "far.xlsx": (far_cell, "a table of more than 50 MB; is a cell far away"),
    "all.ods": (ods("1048576", "16384"), "Cell limit exceeded"),
    "long.ods": (ods("9" * 23, "1"), "number too large"),
    "survey.ods": (ods("3", "16384"), "16,384 columns, more than 10,000"),
    "wide.ods": (ods("30000", "1000"), "a table of more than 50 MB"),
    "texts.arrow": (arrow(text_views), "unpacks to 6,0"),
    "lists.arrow": (arrow(list_views), "unpacks to 16,0"),
    "keys.jsonl": (
        lines([{f"k{i}": 1, "item": i} for i in range(30_000)]),
        "keys, of which an object has 2; write an object",
    ),
    "columns.csv": (
        lambda path: void(path.write_text(",".join(map(str, range(300_000))) + "\n1" * 2)),
        "300,000 columns, more than 10,000",
    ),
    "columns.jsonl": (lines([{str(i): 1 for i in range(20_000)}]), "columns, more than 10,000"),
    "million.csv": (
        lambda path: void(
            path.write_text("\n".join([",".join(map("c{}".format, range(10**6)))] * 6))
        ),
        "1,000,000 columns, more than 10,000",
    ),
    "loop.csv": (lambda path: path.symlink_to(path.name), "no such file or folder"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(tmp_path: Path, name: str) -> None:
    write, message = HOSTILE[name]
    write(tmp_path / name)
    began = time.process_time()
    with pytest.raises(DataError) as refusal:
        read(tmp_path / name)
    assert message in str(refusal.value) and "\n" not in str(refusal.value)
    assert time.process_time() - began < SECONDS


def test_more_is_read_if_that_is_allowed(tmp_path: Path) -> None:
    far_cell(tmp_path / "far.xlsx", "B90000")
    with pytest.raises(DataError, match="a table of more than 1 MB"):
        ds.read(tmp_path / "far.xlsx", max_unpacked="1MB", item="item")
    far = read(tmp_path / "far.xlsx", item="item", answer="ann")
    note = "far.xlsx: 1 row of totals or notes left out, the first in Sheet1, row 90000"
    assert far.notes[1] == note


def test_a_folder_that_contains_itself(tmp_path: Path) -> None:
    for name, label in (("ann", "x"), ("bob", "y")):
        (tmp_path / f"{name}.csv").write_text(f"item,label\n1,{label}\n2,y\n")
    (tmp_path / "again").symlink_to(".")
    assert read(tmp_path).n_annotators == 2


def test_a_dictionary_with_nothing_in_it(tmp_path: Path) -> None:
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.nulls(2, pa.string()))
    path = tmp_path / "labels.arrow"
    arrow(lambda: labels)(path)
    with pytest.raises(DataError, match="blank in every row"):
        read(path, answer="label")


def test_a_name_that_polars_cannot_take() -> None:
    with pytest.raises(DataError, match="contains a NUL character; rename it"):
        read(pl.DataFrame({"item": [1], "la\0bel": ["x"]}))


def test_columns_of_arrow_that_python_cannot_hold() -> None:
    twice = pa.struct([pa.field("a", pa.string()), pa.field("a", pa.string())])
    cells = pa.Array.from_buffers(twice, 1, [None], children=[pa.array(["x"]), pa.array(["y"])])
    no_zone = pa.array([0]).cast(pa.timestamp("s", "Mars/Base"))
    for column in (cells, no_zone):
        with pytest.raises(DataError, match="^table: column 'label' of type .* cannot be read: "):
            read(pa.table({"item": ["t1"], "annotator": ["ann"], "label": column}))


def test_columns_that_arrow_cannot_join_are_refused(tmp_path: Path) -> None:
    texts = [pa.ExtensionArray.from_storage(pa.json_(), pa.array(two)) for two in ("12", "32")]
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0, 1]), each) for each in texts]
    columns = {"item": list("abab"), "answer": pa.chunked_array(chunks)}
    with pytest.raises(
        DataError, match="column 'answer' of type dictionary<.*cannot be read: Unif"
    ):
        read(pa.table(columns))


def test_lists_of_times_are_written_as_texts() -> None:
    times = pa.table({"a": pa.array([[timedelta(seconds=1)]])})
    assert delimited(times, digits=None) == 'a\n"[""0:00:01""]"\n'
