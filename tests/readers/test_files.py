"""Packed files and their names; files in two encodings."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dissensus as ds
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from tests.error_texts import error_text

from .conftest import Write, refused

CSV = b"item,annotator,label\nt1,ann,yes\nt1,bob,no\n"
JSON = b'{"item": "t1", "annotator": "ann", "label": "yes"}\n'


# ---- gzip ----


@pytest.mark.parametrize(
    "content, name, format",
    [
        (CSV, "labels.csv.gz", "csv"),
        (CSV.replace(b",", b"\t"), "labels.tsv.gz", "csv"),
        (JSON, "labels.jsonl.gz", "jsonl"),
        (CSV, "labels.csv", "csv"),  # known by its first bytes, not by its name
    ],
)
def test_packed_texts(write: Write, content: bytes, name: str, format: str) -> None:
    path = write(gzip.compress(content), name)
    assert recognise(path) == format
    corpus = read(path)
    assert corpus["label"].answers()[0] == "yes"
    assert corpus.name == "labels"
    assert corpus.notes[0].startswith(f"{name}: long table; ")


def test_packed_tables(write: Write) -> None:
    table = pa.table({"item": ["t1"], "annotator": ["ann"], "label": ["yes"]})
    file = io.BytesIO()
    pq.write_table(table, file)
    assert read(write(gzip.compress(file.getvalue()), "a.parquet.gz"))["label"].n_rows == 1
    file = io.BytesIO()
    np.save(file, np.array([[1, -1], [0, 2]]))
    assert read(write(gzip.compress(file.getvalue()), "a.npy.gz"))["answer"].n_rows == 3
    assert read(write(gzip.compress(b"1 -1\n0 2\n"), "answers.txt.gz"))["answer"].n_rows == 3


def test_several_parts_in_one_file(write: Write) -> None:
    path = write(gzip.compress(CSV) + gzip.compress(b"t2,ann,no\n"), "labels.csv.gz")
    assert read(path)["label"].answers() == ["yes", "no", "no"]


def test_a_gzip_with_wrong_bytes(write: Write) -> None:
    packed = bytearray(gzip.compress(CSV))
    packed[-5] ^= 0xFF
    path = write(bytes(packed), "labels.csv.gz")
    assert error_text(read, path).startswith(f"{path}: damaged gzip (CRC check failed")


# ---- encodings ----


@pytest.mark.parametrize(
    ("text", "encoding", "is_read"),
    [
        ("Müller wants a café", "latin-1", True),
        ("“no” – l’été señor", "cp1252", True),
        ("это плохо", "cp1251", False),
        ("zażółć gęślą jaźń", "cp1250", False),
        ("これは悪い", "shift_jis", False),
        ("öäü", "latin-1", False),
    ],
)
def test_western_tables_are_read_without_an_encoding(
    write: Write, text: str, encoding: str, is_read: bool
) -> None:
    path = write(f"item,text,annotator,label\nt1,{text},ann,ok\n".encode(encoding))
    if is_read:
        corpus = read(path)
        assert corpus.text_of(0) == text
        assert "not UTF-8, read as Windows-1252: " in corpus.notes[-1]
    else:
        with pytest.raises(DataError, match="is not UTF-8"):
            read(path)
        assert read(path, encoding=encoding).text_of(0) == text


@pytest.mark.parametrize(("encoding", "is_read"), [("cp1252", True), ("mac-roman", False)])
def test_lines_in_two_encodings_are_read_if_they_are_western(
    write: Write, encoding: str, is_read: bool
) -> None:
    words = "für Ärger schön Straße größer Tür müssen hören Käse Löffel".split()
    lines = [f"t{n},{who},{words[n]} sagt er,ok\n" for n in range(10) for who in ("ann", "bob")]
    encoded = [line.encode(("utf-8", encoding)[at % 3 == 0]) for at, line in enumerate(lines)]
    path = write(b"item,annotator,text,label\n" + b"".join(encoded))
    if is_read:
        corpus = read(path)
        assert [corpus.text_of(item) for item in range(10)] == [f"{word} sagt er" for word in words]
        assert "7 lines not in UTF-8, read as Windows-1252" in corpus.notes[-1]
    else:
        with pytest.raises(DataError, match="is not UTF-8; .* or save all of it as UTF-8"):
            read(path)


def test_a_gzip_that_unpacks_to_far_more(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv.gz"
    path.write_bytes(gzip.compress(b"item,annotator,answer\n" + bytes(60 << 20)))
    with pytest.raises(DataError, match=r"unpacks to more than 50 MB, \d+ times its size; if that"):
        read(path)


def test_the_limit_of_unpacking_can_be_changed(write: Write, tmp_path: Path) -> None:
    path = write(gzip.compress(CSV + b"t2,ann,no\n" * 5000), "labels.csv.gz")
    message = (
        f"{path}: unpacks to more than 0 MB, {40_000 // path.stat().st_size} times its size; if "
        'that is right, allow more: max_unpacked="8GB" (--max-unpacked 8GB)'
    )
    with pytest.raises(DataError, match=refused(message)):
        ds.read(path, repeats="first", max_unpacked="40kB")
    assert ds.read(path, repeats="first", max_unpacked="8GB")["label"].n_rows == 3


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        ("bz2", bz2.compress),
        ("xz", lambda data: lzma.compress(data, preset=0)),
        ("zst", lambda data: pa.compress(data, "zstd", asbytes=True)),
    ],
)
def test_other_compressions(write: Write, ending: str, compress: Callable[[bytes], bytes]) -> None:
    packed = compress(CSV)
    assert read(write(packed, f"labels.csv.{ending}"))["label"].answers() == ["yes", "no"]
    damaged = write(packed[: len(packed) // 2], f"labels.csv.{ending}")
    with pytest.raises(DataError, match=rf"labels.csv.{ending}: damaged \w+ \(.+\); is the file"):
        read(damaged)
    bomb = write(compress(CSV + bytes(60 << 20)), f"labels.csv.{ending}")
    with pytest.raises(DataError, match=r"unpacks to more than 50 MB, \d+ times its size"):
        read(bomb)


def test_a_format_is_recognised_from_the_beginning_of_a_file(tmp_path: Path) -> None:
    """Nothing but the beginning is unpacked: the rest of this file is damaged."""
    path = tmp_path / "labels"
    packed = gzip.compress(CSV * 100_000, compresslevel=1)
    path.write_bytes(packed[:20_000] + b"\xff" * 1000)
    assert recognise(path) == "csv"


def test_a_sheet_that_states_a_smaller_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/workbook.xml", bytes(60 << 20))
    real, stated = (60 << 20).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(real, stated))
    with zipfile.ZipFile(path) as packed:
        assert packed.infolist()[0].file_size == 1000
    with pytest.raises(DataError, match=r"unpacks to more than 5\d MB, \d+ times its size"):
        read(path)


def test_a_file_is_opened_once_to_recognise_it_and_once_to_read_it(write: Write) -> None:
    path = write("task,worker,label\nt1,ann,1\nt1,bob,0\n")
    code = (
        "import sys\nfrom dissensus import read\nopened = []\n"
        "sys.addaudithook(lambda event, of: opened.append(of[0]) if event == 'open' else None)\n"
        f"read({str(path)!r})\nprint(sum(str(one) == {str(path)!r} for one in opened))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"
