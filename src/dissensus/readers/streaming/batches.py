"""Batches: the rows of a file, some at a time, as columns of texts."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import DataError, cut
from dissensus.plain_files import open_plain
from dissensus.readers.class_labels import with_class_names
from dissensus.readers.delimited import END, find_delimiter, line_of, n_fields, parse, ragged_row
from dissensus.readers.streaming.text_files import TextFile
from dissensus.readers.tables.arrow_columns import as_texts

MOST_RECORD = 64 << 20  # bytes of a row
ROWS = 500_000  # of a Parquet file that are read together
_compiled = numba.njit(nogil=True, cache=True)


class NotStreamedError(Exception):
    """A table that has to be read as a whole, and why."""


@dataclass(frozen=True)
class Batches:
    """A table that is read in batches."""

    names: list[str]  # of the columns
    parts: Callable[[], Iterator[list[Any]]]  # the Arrow strings of each column
    place: Callable[[int], str]  # row -> "line 3"
    position: Callable[[], int]  # bytes of the file that have been read
    commas: bool = False  # whether the delimiter is no comma


# ---- delimited text ----


@dataclass
class DelimitedFile(TextFile):
    """A file of delimited text."""

    delimiter: str = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        with closing(self.texts()) as texts:
            first = next(texts, b"")[: 1 << 20]
        complete = first[: first.rfind(b"\n") + 1] or first
        self.delimiter = find_delimiter(complete)

    def batches(self) -> Batches:
        with closing(self.records()) as records:
            names = [column[0].as_py() for column in next(records)]
        return Batches(
            names,
            self.parts,
            lambda row: f"line {self.line(row + 1)}",
            lambda: self.position,
            self.delimiter == ";",
        )

    def parts(self) -> Iterator[list[Any]]:
        """The rows without the line of names."""
        is_first = True
        for columns in self.records():
            columns = [column.slice(1) for column in columns] if is_first else columns
            is_first = False
            if len(columns[0]):
                yield columns

    def records(self) -> Generator[list[Any]]:
        """All records, names included."""
        width = n_records = 0
        ended = False
        for text in self.whole_records():
            if not text or text.isspace():
                continue
            width = width or n_fields(text, self.delimiter, self.path)
            ended = not text.endswith((b"\n", b"\r"))
            columns = self._parsed(text, width, n_records, ended)
            n_records += len(columns[0])
            if len(columns[0]):
                yield columns
        if not width:
            raise DataError(f"{self.path}: the file is empty")

    def _parsed(self, text: bytes, width: int, n_records: int, ended: bool) -> list[Any]:
        """The columns of some records; after the last ones, an open quote is refused."""
        if ended:
            text += f"\n{self.delimiter.join([END] * width)}\n".encode()
        ragged: list[Any] = []
        try:
            input_file = pa.BufferReader(text)
            table = parse(input_file, self.delimiter, width, len(text), ragged)
        except pa.ArrowInvalid as error:
            if not ragged:
                raise DataError(f"{self.path}: {cut(error)}") from None
            if END in (ragged[0].text or ""):
                raise self._open_quote() from None
            line = self.line(n_records + ragged[0].number - 1)
            raise DataError(f"{self.path}, {ragged_row(line, self.delimiter, ragged[0])}") from None
        columns = [column.combine_chunks() for column in table.columns]
        if not ended:
            return columns
        if any(column[-1].as_py() != END for column in columns):
            raise self._open_quote()
        return [column.slice(0, len(column) - 1) for column in columns]

    def _open_quote(self) -> DataError:
        return DataError(f"{self.path}: a quote is opened and never closed; is the file cut off?")

    def whole_records(self) -> Iterator[bytes]:
        """The text in chunks that end with a record."""
        rest = b""
        for text in self.texts():
            text = rest + text
            end = last_record(text, self.delimiter)
            if not end and len(text) > MOST_RECORD:
                raise DataError(
                    f"{self.path}: a row is longer than {MOST_RECORD >> 20} MB; is a quote opened "
                    "and never closed?"
                )
            rest = text[end:]
            if end:
                yield text[:end]
        yield rest.rstrip(b"\r\n")

    def line(self, record: int) -> int:
        """The line in which a record begins."""
        with closing(self.texts()) as texts:
            text = io.TextIOWrapper(io.BufferedReader(_Chunks(texts)), "utf-8", newline="")
            return line_of(text, self.delimiter, record)


class _Chunks(io.RawIOBase):
    """Chunks of bytes as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def last_record(text: bytes, delimiter: str) -> int:
    """Where the last complete record of a text ends; 0 if there is none.

    Example:
        >>> last_record(b'a,b\\n1,"x\\ny', ",")
        4
    """
    if b'"' not in text:
        end = text.rfind(b"\n")
        return (end if end >= 0 else text.rfind(b"\r", 0, len(text) - 1)) + 1
    return int(_last_record(np.frombuffer(text, np.uint8), ord(delimiter)))


@_compiled
def _last_record(text, delimiter):  # type: ignore[no-untyped-def]
    """The same for a text with quotes, which begin at the beginning of a field."""
    newline, carriage_return, quote = 10, 13, 34
    begins, plain, quoted, closed = 0, 1, 2, 3  # a field; it was in quotes, which were closed
    end, state = 0, begins
    for at in range(len(text)):
        letter = text[at]
        if state == quoted:
            state = closed if letter == quote else quoted
        elif letter == quote and (state == begins or state == closed):
            state = quoted
        elif letter == newline or (letter == carriage_return and at + 1 < len(text)):
            end, state = at + 1, begins
        else:
            state = begins if letter == delimiter else plain
    return end


# ---- Parquet ----


def parquet_batches(path: Path) -> Batches:
    """The batches of a Parquet file whose columns are texts, whole numbers or truth values."""
    position = 0

    def parts() -> Iterator[list[Any]]:
        nonlocal position
        n_rows = 0
        try:
            with open_plain(path) as file:
                table = pq.ParquetFile(file)
                for batch in table.iter_batches(ROWS):
                    columns = with_class_names(pa.Table.from_batches([batch]))
                    columns.validate(full=True)
                    n_rows += len(columns)
                    position = path.stat().st_size * n_rows // table.metadata.num_rows
                    if len(columns):
                        yield [as_texts(column.combine_chunks()) for column in columns.columns]
        except (pa.ArrowException, OSError, ValueError) as error:
            raise DataError(f"{path}: damaged ({cut(error)}); is the file cut off?") from None

    try:
        with open_plain(path) as file:
            schema = pq.ParquetFile(file).schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged ({cut(error)}); is the file cut off?") from None
    for column in schema:
        if not _is_plain(column.type):
            raise NotStreamedError(f"{column.name!r} is of type {column.type}")
    return Batches(schema.names, parts, lambda row: f"row {row + 1}", lambda: position)


def _is_plain(kind: Any) -> bool:
    """Whether each batch of a column is written as texts in the same way."""
    if pa.types.is_dictionary(kind):
        return not kind.ordered and _is_plain(kind.value_type)
    types = pa.types
    return bool(types.is_string(kind) or types.is_integer(kind) or types.is_boolean(kind))
