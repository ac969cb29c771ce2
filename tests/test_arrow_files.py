"""Parquet and Arrow files that unpack to more than they may."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dissensus as ds
from dissensus.errors import DataError
from dissensus.files.arrow import arrow_table, parquet_table, row_groups
from dissensus.files.plain import unpacking_up_to
from tests.error_texts import error_text

MANY = 10**7


def _zeros(path: Path) -> None:
    """Equal numbers, whose runs are counted."""
    pq.write_table(pa.table({"item": np.zeros(MANY, np.int64)}), path)


def _compressed(path: Path) -> None:
    pq.write_table(
        pa.table({"item": np.zeros(MANY, np.int64)}), path, compression="zstd", use_dictionary=False
    )


def _text(path: Path) -> None:
    """A long text that is stored once for many rows."""
    texts = pa.array(["x" * 10**5]).dictionary_encode()
    column = pa.DictionaryArray.from_arrays(np.zeros(10**5, np.int32), texts.dictionary)
    pq.write_table(pa.table({"item": column}), path, store_schema=False)


def _feather(path: Path) -> None:
    feather.write_feather(pa.table({"item": np.zeros(MANY, np.int64)}), path, compression="zstd")


def _feather_text(path: Path) -> None:
    texts = pa.array(["x" * 10**5])
    column = pa.DictionaryArray.from_arrays(np.zeros(10**5, np.int32), texts)
    feather.write_feather(pa.table({"item": column}), path, compression="uncompressed")


@pytest.mark.parametrize(
    ("name", "write", "size"),
    [
        ("a.parquet", _zeros, 80),
        ("a.parquet", _compressed, 80),
        ("a.parquet", _text, 10_000),
        ("a.arrow", _feather, 80),
        ("a.arrow", _feather_text, 10_000),
    ],
)
def test_a_small_file_that_unpacks_to_much_is_refused(
    name: str, write: Callable[[Path], None], size: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path)
    assert path.stat().st_size < 10**6
    message = error_text(ds.read, path)
    assert message.startswith(f"{path}: unpacks to {size:,} MB, ") or size == 10_000
    assert message.endswith("(--max-unpacked 8GB)") or message.endswith("(--max-unpacked 11GB)")
    if size == 80:
        with unpacking_up_to("1GB"):
            read = parquet_table if name.endswith("parquet") else arrow_table
            assert read(path.read_bytes(), path).num_rows == MANY


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("as_stream", [False, True])
def test_arrow_files_are_read_as_they_were_written(
    compression: Any, as_stream: bool, tmp_path: Path
) -> None:
    texts = pa.array(["joy", "fear", None, "joy"] * 50)
    table = pa.table(
        {
            "text": texts,
            "code": texts.dictionary_encode(),
            "list": [[1, 2], []] * 100,
            "number": np.arange(200.0),
        }
    )
    options = pa.ipc.IpcWriteOptions(compression=compression)
    create = pa.ipc.new_stream if as_stream else pa.ipc.new_file
    sink = pa.BufferOutputStream()
    with create(sink, table.schema, options=options) as writer:
        writer.write_table(table, 70)
    assert arrow_table(sink.getvalue().to_pybytes(), tmp_path).equals(table)


def test_parquet_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    long = pa.array([f"{'x' * 2000} {n % 5}" for n in range(20_000)])
    table = pa.table({"text": long, "list": [[1]] * 20_000, "same": [None] * 20_000})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7000)
    content = (tmp_path / "a.parquet").read_bytes()
    assert parquet_table(content, tmp_path).equals(table)


def test_a_footer_is_read_as_pyarrow_reads_it(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": ["joy", "fear", None] * 1000,
            "list": [[1, 2], [], [3]] * 1000,
            "nested": [{"a": 1.5, "b": ["x"]}] * 3000,
            "whole": np.arange(3000) - 1500,
            "small": pa.array([3, None, -2] * 1000, pa.int32()),
            "number": np.linspace(0, 1, 3000),
            "day": pa.array([1] * 3000, pa.timestamp("ms")),
            "fixed": pa.array([b"1234"] * 3000, pa.binary(4)),
            "truth": [True, False, None] * 1000,
            "none": pa.nulls(3000),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=700, use_dictionary=["text"])
    about = pq.read_metadata(path)
    with path.open("rb") as file:
        groups = row_groups(file)
    assert len(groups) == about.num_row_groups == 5
    for number, group in enumerate(groups):
        for at, chunk in enumerate(group):
            known = about.row_group(number).column(at)
            assert chunk.name == known.path_in_schema
            assert chunk.type == known.physical_type
            assert chunk.n_values == known.num_values
            assert chunk.n_bytes == known.total_uncompressed_size
            assert chunk.has_dictionary == known.has_dictionary_page


def test_sizes_that_contradict_the_column_do_not_end_the_process(tmp_path: Path) -> None:
    """pyarrow's own description of such a column does."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"item": pa.array([[1], [2, 3], None])}), path)
    content = path.read_bytes()
    end = content.index(b"parquet-cpp-arrow")
    levels = b"\x19\x46\x02\x00\x00\x06"  # how many values have each of four levels
    assert content.count(levels, 0, end) == 1
    size = int.from_bytes(content[-8:-4], "little")
    damaged = content.replace(levels, b"\x19\x36\x02\x00\x06")  # three levels
    path.write_bytes(damaged[:-8] + (size - 1).to_bytes(4, "little") + b"PAR1")
    command = [sys.executable, "-m", "dissensus", "describe", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "histogram size mismatch" in done.stderr
    assert done.stderr.count("\n") == 1


def test_many_small_row_groups_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for size, n_columns, refused in ((1, 21, True), (1, 20, False), (100, 21, False)):
        column = np.arange(500 * size)
        table = pa.table({str(number): column for number in range(n_columns)})
        pq.write_table(table, path, row_group_size=size)
        if refused:
            with pytest.raises(DataError, match="500 rows in 500 row groups, .* at least 100 rows"):
                parquet_table(path.read_bytes(), path)
        else:
            assert parquet_table(path.read_bytes(), path).equals(table)


def test_a_damaged_footer_is_refused() -> None:
    deep = b"\x19" * 100_000  # lists in lists
    for footer in (b"", b"\x00", b"\x49\xfc" + b"\xff" * 9 + b"\x01", b"\x49" + deep, b"\x48\x09"):
        content = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
        with pytest.raises(pa.ArrowInvalid, match="its footer is damaged"):
            row_groups(io.BytesIO(content))
    with pytest.raises(pa.ArrowInvalid, match="does not end like a Parquet file"):
        row_groups(io.BytesIO(b"PAR1"))
