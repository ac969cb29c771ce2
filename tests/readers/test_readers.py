"""What every reader promises, and how a source finds its reader."""

from __future__ import annotations

import gzip
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dissensus import datasets
from dissensus.errors import DataError, DissensusError
from dissensus.readers import READERS, read, recognise
from dissensus.readers.layout import Layout
from dissensus.readers.recognition import Head

from .conftest import Write, refused


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_nothing_to_read_is_refused_in_one_line(reader: str, write: Write, tmp_path: Path) -> None:
    sources = [tmp_path / "nowhere", tmp_path, write(b"", "empty"), write(b"\0\1\2", "binary")]
    for source in sources:
        with pytest.raises(DissensusError) as caught:
            read(source, format=reader)
        assert str(caught.value).startswith(f"{source}")
        assert "\n" not in str(caught.value)


def test_recognising_never_fails(reader: str, write: Write, tmp_path: Path) -> None:
    for source in [tmp_path / "nowhere", tmp_path, write(b"", "empty"), write(b"\0\xff", "binary")]:
        READERS[reader].fits(Head.of(source))


def test_every_option_of_read_reaches_the_readers() -> None:
    joined = {"items", "annotator_attributes", "layout"}  # tables of their own
    parameters = set(inspect.signature(datasets.read).parameters) - {"source"} - joined
    internal = {"item_parts", "columns_only"}
    alone = {"delimiter", "quotes", "skip", "comment", "columns", "files", "ignore"}  # in a layout
    options = set(inspect.signature(Layout).parameters) - internal - alone - joined
    assert parameters == options | {"max_unpacked"}


def test_no_such_path(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    with pytest.raises(DataError, match=refused(f"{path}: no such file or folder")):
        read(str(path))


def test_no_such_format(write: Write) -> None:
    message = f"no format 'xlsx'; there are {', '.join(READERS)}, long, wide, votes"
    with pytest.raises(DataError, match=refused(message)):
        read(write(""), format="xlsx")


def test_a_folder_that_is_nobodys(tmp_path: Path) -> None:
    message = f"{tmp_path}: a folder without a corpus or several tables; name a file in it"
    with pytest.raises(DataError, match=refused(message)):
        read(tmp_path)


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "arrow", "matrix"])
def test_a_folder_where_a_file_is_due(tmp_path: Path, format: str) -> None:
    with pytest.raises(DataError, match=refused(f"{tmp_path}: is a folder; name a file in it")):
        read(tmp_path, format=format)


def test_a_file_where_a_folder_is_due(write: Write) -> None:
    path = write("item,answer\n")
    message = f"{path}: not a corpus folder: corpus.json is missing"
    with pytest.raises(DataError, match=refused(message)):
        read(path, format="corpus")


@pytest.mark.parametrize("which", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark(write: Write, which: str) -> None:
    path = write("item,annotator,label\nt1,ann,yes\n".encode(which))
    message = f"{path}: text in UTF-16 without its mark; use --format csv --encoding {which}"
    with pytest.raises(DataError, match=refused(message)):
        read(path)
    assert read(path, format="csv", encoding=which)["label"].answers() == ["yes"]


@pytest.mark.parametrize(
    "start, what",
    [
        (
            b"\x89PNG\r\n\x1a\n\0",
            "a binary file (it begins with b'\\x89PNG\\r\\n\\x1a\\n'), not a table",
        ),
        (b"PK\x03\x04\x14", "a zip; unpack it (a spreadsheet needs its ending, such as .xlsx)"),
        (gzip.compress(b"\x1f\x8b\x08", mtime=0), "a gzip file in a gzip file; unpack it"),
    ],
)
def test_a_binary_file(write: Write, start: bytes, what: str) -> None:
    path = write(start)
    with pytest.raises(DataError, match=refused(f"{path}: {what}")):
        read(path)
    with pytest.raises(DataError, match=refused(f"{path}: {what}")):
        read(path, format="csv")


@pytest.mark.parametrize(
    "start, what, format",
    [
        (b"PAR1\x15", "a Parquet file", "parquet"),
        (b"ARROW1\0", "an Arrow file", "arrow"),
        (b"\x93NUMPY", "an array of numpy", "matrix"),
        (b"\xd0\xcf\x11\xe0\xa1", "an old Excel file", "spreadsheet"),
    ],
)
def test_another_format_read_as_csv(write: Write, start: bytes, what: str, format: str) -> None:
    path = write(start)
    message = f'{path}: {what}; use format="{format}" (--format {format})'
    with pytest.raises(DataError, match=refused(message)):
        read(path, format="csv")


def test_the_format_overrules(write: Write) -> None:
    path = write("{item,annotator,label\nt1,ann,yes\n")
    assert recognise(path) == "jsonl"
    assert read(path, format="csv", item="{item")["label"].answers() == ["yes"]


def test_a_saved_corpus(write: Write, tmp_path: Path) -> None:
    corpus = read(write("item,annotator,answer\nt1,a,x\nt1,b,y\n"))
    saved = tmp_path / "saved"
    corpus.save(saved)
    assert recognise(saved) == "corpus"
    assert read(str(saved)).equals(corpus)
    assert read(saved, name="other").name == "other"
    message = f"{saved}: a saved corpus knows its columns and scales; leave out item, scale"
    with pytest.raises(DataError, match=refused(message)):
        read(saved, item="item", scale="nominal")
    (saved / "question-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        DataError, match=f"^{re.escape(str(saved / 'question-0.parquet'))}: damaged"
    ):
        read(saved)


def test_reading_loads_nothing_heavy(write: Write) -> None:
    path = write("item,annotator,answer\nt1,a,x\nt1,b,y\n")
    code = (
        f"import sys; from dissensus.readers import read; read({str(path)!r}); "
        "print([m for m in ('torch', 'transformers', 'sklearn', 'scipy', 'polars') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_neither_a_file_nor_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    message = f"{path}: a pipe, a device or a socket, not a file; write its content to a file first"
    for file_format in (None, "csv", "jsonl", "matrix", "spreadsheet", "doccano", "parquet"):
        with pytest.raises(DataError, match=refused(message)):
            read(path, format=file_format)
    endless = tmp_path / "endless.csv"
    endless.symlink_to("/dev/zero")
    with pytest.raises(DataError, match=refused(message.replace(str(path), str(endless)))):
        read(endless, format="csv")
