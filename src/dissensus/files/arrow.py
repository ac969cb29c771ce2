"""Parquet and Arrow files: read only if what they unpack to is within the limit.

A few bytes of either can stand for gigabytes: pages are compressed, runs of a value are counted,
and a long text is stored once for all its rows. So sizes are taken from what the file declares, and
texts that are stored once are added up before they are written out for each row.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.errors import DataError
from dissensus.files.plain import check_unpacked

_TYPES = (
    *("BOOLEAN", "INT32", "INT64", "INT96"),
    *("FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"),
)
_DICTIONARIES = {2, 8}  # the encodings PLAIN_DICTIONARY and RLE_DICTIONARY
_DEEPEST = 32
_MOST_SMALL_CHUNKS = 10_000  # of fewer than 100 rows each


@dataclass(frozen=True)
class ColumnChunk:
    """The values of a column in one row group."""

    name: str  # with dots for what is nested
    type: str
    n_values: int
    n_bytes: int  # not compressed
    has_dictionary: bool


def row_groups(file: BinaryIO) -> list[list[ColumnChunk]]:
    """The columns of each row group of a Parquet file."""
    end = file.seek(0, 2)
    file.seek(max(0, end - 8))
    tail = file.read(8)
    if tail[4:] != b"PAR1":
        raise pa.ArrowInvalid("it does not end like a Parquet file")
    (size,) = struct.unpack("<I", tail[:4])
    file.seek(max(0, end - 8 - size))
    try:
        groups = _Thrift(file.read(size)).struct()[4]
        return [[_chunk(column[3]) for column in group[1]] for group in groups]
    except (LookupError, TypeError, ValueError, struct.error) as error:
        raise pa.ArrowInvalid(f"its footer is damaged: {error}") from None
    finally:
        file.seek(0)


def _chunk(about: dict[int, Any]) -> ColumnChunk:
    """A column chunk from the fields of its description (ColumnMetaData in parquet.thrift)."""
    return ColumnChunk(
        name=b".".join(about[3]).decode(),
        type=_TYPES[about[1]],
        n_values=about[5],
        n_bytes=about[6],
        has_dictionary=not _DICTIONARIES.isdisjoint(about[2]),
    )


class _Thrift:
    """What footers contain of Thrift's compact protocol; a struct is a dict by field numbers."""

    def __init__(self, data: bytes):
        self.data = io.BytesIO(data)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind <= 2 else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(f"nested more than {_DEEPEST} deep")
        match kind:
            case 1 | 2 | 3:  # truth values within lists, and bytes
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 8:
                return self._bytes(self._count())
            case 9 | 10:
                head = self._byte()
                size = head >> 4 if head >> 4 < 15 else self._count()
                return [self._value(head & 15, depth + 1) for _ in range(size)]
            case 12:
                return self.struct(depth)
        raise ValueError(f"no type of values is {kind}")

    def _bytes(self, size: int) -> bytes:
        data = self.data.read(size)
        if len(data) < size:
            raise ValueError("cut off")
        return data

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _count(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number is too long")

    def _integer(self) -> int:
        value = self._count()
        return value >> 1 ^ -(value & 1)


ARROW = b"ARROW1"  # at the beginning of an Arrow file that is not a stream
WIDTHS = {"BOOLEAN": 0.125, "INT32": 4, "FLOAT": 4, "BYTE_ARRAY": 4}  # bytes of a value; others 8
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # kinds of messages


def parquet_table(
    source: bytes | BinaryIO,
    path: Path,
    ratio_only: bool = False,
    columns: Sequence[str] | None = None,
) -> Any:
    """The table in a Parquet file.

    Args:
        source: its bytes, or the opened file.
        ratio_only: whether any size is allowed that is not many times that of the file.
        columns: which ones to read; all if left out.
    """
    data = pa.BufferReader(source) if isinstance(source, bytes) else source
    about = pq.read_metadata(data)
    chunks, n_packed = check_parquet(data, path, ratio_only)
    names = _repeated_texts(chunks)
    table = pq.ParquetFile(data, read_dictionary=names).read(columns)
    check_unpacked(path, _written_out(table), n_packed, ratio_only)
    stored = pq.ParquetFile(data, metadata=about).schema_arrow
    for at, (name, kind) in enumerate(zip(table.schema.names, table.schema.types, strict=True)):
        if name in names and stored.field(name).type != kind:
            column = table.column(at).cast(stored.field(name).type)
            table = table.set_column(at, stored.field(name), column)
    return table


def arrow_table(data: bytes, path: Path) -> Any:
    """The table in the bytes of an Arrow file or stream."""
    is_file = data.startswith(ARROW)
    size, n_batches = _buffers(pa.BufferReader(data[8:] if is_file else data))
    check_unpacked(path, size, len(data))
    if is_file:
        reader = pa.ipc.open_file(pa.BufferReader(data))
        if reader.num_record_batches != n_batches:
            raise DataError(f"{path}: damaged (its footer does not match its content)")
    else:
        reader = pa.ipc.open_stream(pa.BufferReader(data))
    table = reader.read_all()
    table.validate(full=True)  # before anything follows its offsets
    check_unpacked(path, _written_out(table), len(data))
    return table


# ---- Parquet ----


def check_parquet(
    file: BinaryIO, path: Path, ratio_only: bool = False
) -> tuple[list[ColumnChunk], int]:
    """Refuse a file that declares to unpack to too much; its columns in all row groups, and its
    size."""
    n_packed = file.seek(0, 2)
    about = pq.read_metadata(file)
    n_groups, n_chunks = about.num_row_groups, about.num_row_groups * about.num_columns
    if n_groups > 100 and n_chunks > _MOST_SMALL_CHUNKS and about.num_rows < 100 * n_groups:
        raise DataError(
            f"{path}: {about.num_rows:,} rows in {n_groups:,} row groups, which takes minutes to "
            "read; write it again with at least 100 rows in each"
        )
    chunks = [chunk for group in row_groups(file) for chunk in group]
    sizes = (max(one.n_bytes, one.n_values * WIDTHS.get(one.type, 8)) for one in chunks)
    check_unpacked(path, int(sum(sizes)), n_packed, ratio_only)  # of pages, or that many values
    return chunks, n_packed


def _repeated_texts(chunks: Sequence[ColumnChunk]) -> list[str]:
    """The columns of texts that may be stored once for many rows."""
    texts = (c for c in chunks if c.type == "BYTE_ARRAY" and "." not in c.name)
    return sorted({c.name for c in texts if c.has_dictionary and c.n_values * c.n_bytes > 10**8})


def _written_out(table: Any) -> int:
    """The bytes of a table if what is stored once is written out for each row."""
    size = 0
    for column in table.columns:
        size += column.nbytes
        for chunk in column.chunks:
            if isinstance(chunk, pa.DictionaryArray):
                values, kind = chunk.dictionary, chunk.dictionary.type
                if pa.types.is_string(kind) or pa.types.is_binary(kind):
                    lengths = pc.binary_length(values).take(chunk.indices).cast(pa.int64())
                    size += pc.sum(lengths).as_py() or 0
                else:
                    size += 8 * len(chunk)
            elif pa.types.is_run_end_encoded(chunk.type):
                size += 8 * len(chunk)
            elif pa.types.is_string_view(chunk.type) or pa.types.is_binary_view(chunk.type):
                views = np.frombuffer(chunk.buffers()[1], np.int32).reshape(-1, 4)
                size += int(views[:, 0].sum(dtype=np.int64))  # the length of each text
            elif pa.types.is_list_view(chunk.type) or pa.types.is_large_list_view(chunk.type):
                each = max(8, chunk.values.nbytes // max(1, len(chunk.values)))
                size += each * (pc.sum(pc.list_value_length(chunk)).as_py() or 0)
    return int(size)


# ---- Arrow ----


def _buffers(stream: Any) -> tuple[int, int]:
    """The bytes that all buffers of a stream unpack to, and the number of its record batches."""
    size = n_batches = 0
    messages = pa.ipc.MessageReader.open_stream(stream)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return size, n_batches
        try:
            kind, n_bytes = _message(memoryview(message.metadata), message.body)
        except (struct.error, IndexError) as error:
            raise pa.ArrowInvalid(f"a message is damaged: {error}") from None
        size += n_bytes
        n_batches += kind == _RECORD_BATCH


def _message(head: memoryview, body: Any) -> tuple[int, int]:
    """The kind of a message, and the bytes that its buffers unpack to (see Arrow's Message.fbs)."""
    (root,) = struct.unpack_from("<I", head)
    place = _field(head, root, 1)
    kind = head[place] if place else 0
    if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH) or body is None:
        return kind, 0
    batch = _target(head, root, 2)
    if kind == _DICTIONARY_BATCH:
        batch = _target(head, batch, 1)
    at = _target(head, batch, 2)
    (n_buffers,) = struct.unpack_from("<I", head, at)
    places = [struct.unpack_from("<qq", head, at + 4 + 16 * n) for n in range(n_buffers)]
    if not _field(head, batch, 3):  # not compressed
        return kind, sum(length for _, length in places)
    size = 0
    for offset, length in places:
        if length >= 8:
            (unpacked,) = struct.unpack_from("<q", body, offset)
            size += unpacked if unpacked >= 0 else length - 8
    return kind, size


def _field(head: memoryview, table: int, number: int) -> int:
    """Where a field of a flatbuffers table begins; 0 if it is left out."""
    names = table - struct.unpack_from("<i", head, table)[0]
    (size,) = struct.unpack_from("<H", head, names)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", head, names + 4 + 2 * number)
    return table + offset if offset else 0


def _target(head: memoryview, table: int, number: int) -> int:
    """Where the table or vector begins that a field points to."""
    place = _field(head, table, number)
    if not place:
        raise IndexError(f"no field {number}")
    return int(place + struct.unpack_from("<I", head, place)[0])
