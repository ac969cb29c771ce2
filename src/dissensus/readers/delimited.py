"""Delimited text: fields between commas, tabs, semicolons or bars, under a line of names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from dissensus.errors import DataError
from dissensus.readers.files import (
    WESTERN,
    LongLineError,
    head,
    is_text,
    read_bytes,
    read_utf8,
    western_word,
)
from dissensus.readers.tables.column_names import n_recognised
from dissensus.readers.tables.rows import Rows, make_rows

DELIMITERS = (",", "\t", ";", "|")
MOST_HEADER = 8 << 20  # bytes of the first line
END = "\x04"  # a row of these is added, to see whether a quote was left open before it


def names_in(path: Path) -> list[str]:
    """The column names in the first line of a file; none if it is not a table of texts."""
    start = head(path, 1 << 16)
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
    data, notes = _western_or_utf8(path, encoding)
    _check_bytes(data, path)
    delimiter = find_delimiter(data)
    if short_rows:
        data = _filled_up(data, delimiter)
    table = _parsed(data, delimiter, path)
    if not table.num_rows:  # nothing but marks of the byte order
        raise DataError(f"{path}: the file is empty")
    header = [column[0].as_py() for column in table.columns]
    return make_rows(
        header,
        table.slice(1).columns,
        str(path),
        name=path.name,
        place=lambda row: f"line {_line(data, delimiter, row + 1)}",
        folder=path.resolve().parent,
        commas=delimiter == ";",
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


def _parsed(data: bytes, delimiter: str, path: Path) -> Any:
    """The fields as an Arrow table of strings, whose first row is the header."""
    if not data or data.isspace():
        raise DataError(f"{path}: the file is empty")
    width = n_fields(data, delimiter, path)
    end = f"\n{delimiter.join([END] * width)}\n".encode()
    table = _arrow(data, end, delimiter, width, path)
    if any(column[-1].as_py() != END for column in table.columns):
        raise DataError(f"{path}, {_open_quote(data, delimiter, table.num_rows - 1)}")
    return table.slice(0, table.num_rows - 1)


def n_fields(data: bytes, delimiter: str, path: Path) -> int:
    """How many fields the first record has."""
    try:
        return len(next(record for record in _records(data, delimiter) if record))
    except csv.Error as error:
        raise DataError(f"{path}: the first line does not contain column names ({error})") from None


class _Extended:
    """Bytes and what follows them, as a file to read; the bytes are not copied."""

    closed = False

    def __init__(self, data: bytes, end: bytes) -> None:
        self._data, self._end, self._at = memoryview(data), end, 0

    def read(self, size: int) -> memoryview | bytes:
        begin, self._at = self._at, self._at + size
        if self._at <= len(self._data):
            return self._data[begin : self._at]
        past = max(begin - len(self._data), 0)
        return bytes(self._data[begin:]) + self._end[past : self._at - len(self._data)]


def _arrow(data: bytes, end: bytes, delimiter: str, width: int, path: Path) -> Any:
    """Parse by blocks; where that fails, once more in one block, to be sure of the row."""
    try:
        return parse(_file(data, end), delimiter, width, 1 << 20, [])
    except pa.ArrowInvalid:
        pass  # a row is wrong, or an open quote or a very long field runs over a block's end
    ragged: list[Any] = []
    try:
        block = min(len(data) + len(end), 2**31 - 2)
        return parse(_file(data, end), delimiter, width, block, ragged)
    except pa.ArrowInvalid as error:
        reason = _ragged(data, delimiter, ragged[0]) if ragged else str(error).splitlines()[0]
        raise DataError(f"{path}{', ' if ragged else ': '}{reason}") from None


def _file(data: bytes, end: bytes) -> Any:
    return pa.PythonFile(_Extended(data, end), "r")


def parse(file: Any, delimiter: str, width: int, block: int, ragged: list[Any]) -> Any:
    """The table of strings; a row with another width is put into `ragged` and ends it.

    One thread is as fast here, and pyarrow's threads can abort a process that ends early
    (https://github.com/apache/arrow/issues/34314).
    """

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    names = [str(number) for number in range(width)]
    return pyarrow.csv.read_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(
            column_names=names, use_threads=False, block_size=block
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )


def _ragged(data: bytes, delimiter: str, row: Any) -> str:
    if END in (row.text or ""):
        return _open_quote(data, delimiter, row.number - 1)
    return ragged_row(_line(data, delimiter, row.number - 1), delimiter, row)


def ragged_row(line: int, delimiter: str, row: Any) -> str:
    """What is wrong with a row that has too few or too many fields."""
    return (
        f"line {line}: {row.actual_columns} fields, but the first line has "
        f"{row.expected_columns}; is the line cut off, or a field with {delimiter!r} not in quotes?"
    )


def _open_quote(data: bytes, delimiter: str, record: int) -> str:
    return (
        f"line {_line(data, delimiter, record)}: a quote is opened and never closed; "
        "is the file cut off?"
    )


def _line(data: bytes, delimiter: str, record: int) -> int:
    return line_of(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), delimiter, record)


def line_of(text: Iterable[str], delimiter: str, record: int) -> int:
    """The line in which a record begins; quoted fields may run over several lines."""
    reader = csv.reader(text, delimiter=delimiter)
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
