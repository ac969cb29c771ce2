"""Parquet and Arrow files that unpack to more than they may."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dissensus as ds
from dissensus.arrow_files import arrow_table, parquet_table
from dissensus.errors import DataError
from dissensus.plain_files import unpacking_up_to

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
    with pytest.raises(DataError) as refused:
        ds.read(path)
    message = str(refused.value)
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
