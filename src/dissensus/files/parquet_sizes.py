"""What the footer of a Parquet file says about its columns.

pyarrow describes columns, too, but ends the process if what a damaged file says about the sizes of
a column contradicts the column.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa

_TYPES = (
    *("BOOLEAN", "INT32", "INT64", "INT96"),
    *("FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"),
)
_INTEGERS = {"INT32": "<i", "INT64": "<q"}
_DICTIONARIES = {2, 8}  # the encodings PLAIN_DICTIONARY and RLE_DICTIONARY
_DEEPEST = 32


@dataclass(frozen=True)
class ColumnChunk:
    """The values of a column in one row group."""

    name: str  # with dots for what is nested
    type: str
    n_values: int
    n_bytes: int  # not compressed
    has_dictionary: bool
    bounds: tuple[int, int] | None  # the least and greatest value, of whole numbers


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
    kind, known = _TYPES[about[1]], about.get(12, {})
    bounds = None
    if kind in _INTEGERS and 5 in known and 6 in known:
        (least,), (greatest,) = (struct.unpack(_INTEGERS[kind], known[at]) for at in (6, 5))
        bounds = (least, greatest)
    return ColumnChunk(
        name=b".".join(about[3]).decode(),
        type=kind,
        n_values=about[5],
        n_bytes=about[6],
        has_dictionary=not _DICTIONARIES.isdisjoint(about[2]),
        bounds=bounds,
    )


class _Thrift:
    """Values in Thrift's compact protocol; a struct is a dict of its fields by their numbers."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

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
            case 5 | 6 | 4:
                return self._integer()
            case 8:
                return self._bytes(self._count())
            case 12:
                return self.struct(depth)
            case 9 | 10:
                head = self._byte()
                size = head >> 4 if head >> 4 < 15 else self._count()
                return [self._value(head & 15, depth + 1) for _ in range(size)]
            case 11:
                size = self._count()
                kinds = self._byte() if size else 0
                pair = (kinds >> 4, kinds & 15)
                return [[self._value(kind, depth + 1) for kind in pair] for _ in range(size)]
            case 1 | 2 | 3:  # truth values within lists, and bytes
                return self._byte()
            case 7:
                return self._bytes(8)
        raise ValueError(f"no type of values is {kind}")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.data):
            raise IndexError("cut off")
        return self.data[self.at - size : self.at]

    def _count(self) -> int:
        byte = self.data[self.at]
        self.at += 1
        value, shift = byte & 127, 7
        while byte >= 128:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if shift > 70:
                raise ValueError("a number is too long")
        return value

    def _integer(self) -> int:
        value = self._count()
        return value >> 1 ^ -(value & 1)
