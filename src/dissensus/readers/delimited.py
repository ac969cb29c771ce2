"""Delimited text: fields between commas, tabs, semicolons or bars, under a line of names."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from dissensus.errors import DataError
from dissensus.readers.files import (
    WESTERN,
    LargeText,
    LongLineError,
    NotUtf8Error,
    is_large,
    is_text,
    read_bytes,
    read_utf8,
    western_word,
)
from dissensus.readers.tables.column_names import n_recognised
from dissensus.readers.tables.column_parts import ColumnParts
from dissensus.readers.tables.rows import Column, Rows, make_rows

DELIMITERS = (",", "\t", ";", "|")
MOST_HEADER = 8 << 20  # bytes of the first line
BLOCK = 1 << 20  # bytes that are parsed together
MOST_RECORD = 64 << 20  # bytes of a row of a file that is read in parts
END = "\x04"  # a row of these is added, to see whether a quote was left open before it


def names_of(start: bytes) -> list[str]:
    """The column names in the first line of these bytes; none if it is not a table of texts."""
    if not is_text(start):
        return []
    text = start.decode("utf-8-sig", errors="replace")
    line, quoted = text.split("\n", 1)[0], text  # names may contain line breaks in quotes
    data = (quoted if line.count('"') % 2 else line.rstrip("\r")).encode()
    try:
        return next(_records(data, find_delimiter(data)), [])
    except csv.Error:
        return []


def delimited_cells(path: Path, encoding: str | None) -> list[list[str | None]]:
    """All cells of a file, names included; None where one is blank."""
    data = read_utf8(path, encoding)
    try:
        records = list(_records(data, find_delimiter(data)))
    except csv.Error as error:
        raise DataError(f"{path}: not a table ({error})") from None
    return [[cell if cell.strip() else None for cell in record] for record in records]


def delimited_rows(path: Path, encoding: str | None, short_rows: bool = False) -> Rows:
    """The table in a file.

    The delimiter is recognised from the first lines, not from the ending of the file.

    Args:
        short_rows: whether rows may lack their last fields, which are blank then.
    """
    if is_large(path) and not short_rows:
        text = LargeText(path, encoding)
        with suppress(NotUtf8Error):
            return _rows(_Text(path, _first_lines(text), text.chunks, MOST_RECORD, text.shown))
    data, notes = _western_or_utf8(path, encoding)
    _check_bytes(data, path)
    if short_rows:
        data = _filled_up(data, find_delimiter(data))
    return _rows(_Text(path, data, lambda: iter((data,)), min(2 * len(data), 2**31 - 2)), notes)


@dataclass(frozen=True)
class _Text:
    """A table as UTF-8."""

    path: Path
    start: bytes  # its first lines, or all of them
    chunks: Callable[[], Iterator[bytes]]
    most: int  # bytes that are parsed together where a row is long
    shown: Callable[[Any], Any] = iter  # its record batches, with a progress bar if it is large

    @cached_property
    def delimiter(self) -> str:
        return find_delimiter(self.start)

    @cached_property
    def width(self) -> int:
        """How many fields the first record has."""
        try:
            record = next((one for one in _records(self.start, self.delimiter) if one), None)
        except csv.Error as error:
            raise DataError(
                f"{self.path}: the first line does not contain column names ({error})"
            ) from None
        if record is None or self.start.isspace():
            raise DataError(f"{self.path}: the file is empty")
        return len(record)

    def opened(self, end: bytes = b"") -> io.BufferedReader:
        """The text as a file, with this at its end."""
        return io.BufferedReader(_Chunks(chain(self.chunks(), (end,))))

    def line(self, record: int) -> int:
        """The line in which a record begins; quoted fields may run over several lines."""
        reader = csv.reader(
            io.TextIOWrapper(self.opened(), "utf-8", newline=""), delimiter=self.delimiter
        )
        seen, begins = -1, 1
        try:
            for fields in reader:
                seen += bool(fields)
                if seen == record:
                    return begins
                begins = reader.line_num + 1
        except csv.Error:  # a field of more than 128 kB: count records, one per line
            pass
        return record + 1


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


def _first_lines(text: LargeText) -> bytes:
    first = next(text.chunks(), b"")[: 1 << 20]
    return first[: first.rfind(b"\n") + 1] or first


def _rows(text: _Text, notes: tuple[str, ...] = ()) -> Rows:
    header, columns = _parsed(text)
    return make_rows(
        header,
        columns,
        str(text.path),
        name=text.path.name,
        place=lambda row: f"line {text.line(row + 1)}",
        folder=text.path.resolve().parent,
        commas=text.delimiter == ";",
        notes=notes,
    )


def _western_or_utf8(path: Path, encoding: str | None) -> tuple[bytes, tuple[str, ...]]:
    """The file as UTF-8, and a note if it is read as Windows-1252 without being asked."""
    try:
        return read_utf8(path, encoding), ()
    except LongLineError:
        raise
    except DataError:
        data = b"" if encoding is not None else read_bytes(path)
        if not is_text(data[:4096]) or (word := western_word(data)) is None:
            raise
    note = (
        f"not UTF-8, read as Windows-1252: {word!r}; if letters are wrong, name its encoding "
        "(encoding=, --encoding)"
    )
    return read_utf8(path, WESTERN), (note,)


def _check_bytes(data: bytes, path: Path) -> None:
    """Refuse a first line without end, and NUL bytes, which no text has."""
    ends = (data.find(end, 0, MOST_HEADER) for end in (b"\n", b"\r"))
    if len(data) > MOST_HEADER and all(end < 0 for end in ends):
        raise DataError(
            f"{path}: the first line is longer than {MOST_HEADER >> 20} MB; is this a table with a "
            "line of column names?"
        )
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise DataError(f"{path}, line {line}: a NUL byte, which no text has; is the file damaged?")


def _filled_up(data: bytes, delimiter: str) -> bytes:
    """The same table, with a field for each column in every row."""
    try:
        records = list(_records(data, delimiter))
    except csv.Error:
        return data
    width = next((len(record) for record in records if record), 0)
    cut_off = records and len(records[-1]) < width and not data.endswith((b"\n", b"\r"))
    if cut_off or not any(0 < len(record) < width for record in records):
        return data
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([*record, *[""] * (width - len(record))] for record in records)
    return text.getvalue().encode()


def find_delimiter(data: bytes) -> str:
    """The delimiter that gives the most known column names, then the most even rows.

    Example:
        >>> find_delimiter(b"text;worker;label\\nwell, no;ann;1\\n")
        ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _fit(data, delimiter))


def _fit(data: bytes, delimiter: str) -> tuple[int, float, int]:
    try:
        records = [record for record in islice(_records(data, delimiter), 50) if record]
    except csv.Error:
        return 0, 0.0, 0
    if not records or len(records[0]) < 2:
        return 0, 0.0, 0
    even = sum(len(record) == len(records[0]) for record in records) / len(records)
    return n_recognised(records[0]), even, len(records[0])


def _records(data: bytes, delimiter: str) -> Any:
    """Python's own reader: slow, but it reads no more of the file than is needed."""
    return csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), delimiter=delimiter)


def _parsed(text: _Text) -> tuple[list[str], list[Column]]:
    """The header, and the fields below it.

    Text is parsed in small blocks; where that fails, once more in large ones: a row is wrong, or an
    open quote or a very long field runs over the end of a block.
    """
    with suppress(pa.ArrowInvalid):
        return _columns(text, BLOCK, [])
    ragged: list[Any] = []
    try:
        return _columns(text, text.most, ragged)
    except pa.ArrowInvalid as error:
        if not ragged:
            reason = str(error).splitlines()[0]
            if "straddling" in reason:
                reason = f"a row is longer than {text.most >> 20} MB; is a quote opened and never "
                reason += "closed?"
            raise DataError(f"{text.path}: {reason}") from None
    row = ragged[0]
    if END in (row.text or ""):
        raise _open_quote(text, row.number - 1)
    raise DataError(
        f"{text.path}, line {text.line(row.number - 1)}: {row.actual_columns} fields, but the "
        f"first line has {row.expected_columns}; is the line cut off, or a field with "
        f"{text.delimiter!r} not in quotes?"
    )


def _columns(text: _Text, block: int, ragged: list[Any]) -> tuple[list[str], list[Column]]:
    """The header and the columns; a row with another width is put into `ragged` and ends it."""
    parts = [ColumnParts() for _ in range(text.width)]
    header: list[str] = []
    held: list[Any] = []  # the columns of the last batch, with the row that was added
    for batch in text.shown(_batches(text, block, ragged)):
        if not batch.num_rows:  # nothing but blank lines
            continue
        for part, column in zip(parts, held, strict=False):
            part.add(column)
        held = [column if header else column.slice(1) for column in batch.columns]
        header = header or [column[0].as_py() for column in batch.columns]
    if header == [END] * text.width:  # nothing but marks of the byte order
        raise DataError(f"{text.path}: the file is empty")
    if any(not len(column) or column[-1].as_py() != END for column in held):
        raise _open_quote(text, len(parts[0]) + len(held[0]))
    for part, column in zip(parts, held, strict=True):
        part.add(column.slice(0, len(column) - 1))
    return header, [part.column() for part in parts]


def _batches(text: _Text, block: int, ragged: list[Any]) -> Any:
    """All records and a row of ENDs, as record batches of strings.

    One thread is as fast here, and pyarrow's threads can abort a process that ends early
    (https://github.com/apache/arrow/issues/34314).
    """

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    names = [str(number) for number in range(text.width)]
    end = f"\n{text.delimiter.join([END] * text.width)}\n".encode()
    return pyarrow.csv.open_csv(
        pa.PythonFile(text.opened(end), "r"),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names, use_threads=False, block_size=block
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=text.delimiter, newlines_in_values=True, invalid_row_handler=refuse
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )


def _open_quote(text: _Text, record: int) -> DataError:
    return DataError(
        f"{text.path}, line {text.line(record)}: a quote is opened and never closed; is the file "
        "cut off?"
    )
