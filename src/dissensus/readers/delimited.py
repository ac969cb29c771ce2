"""Delimited text: fields between commas, tabs, semicolons or bars, under a line of names."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from dissensus.errors import DataError, counted, listed
from dissensus.readers.files import (
    MOST_COLUMNS,
    LargeText,
    NotUtf8Error,
    check_width,
    is_large,
    is_text,
    read_text,
)
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import n_recognised
from dissensus.readers.tables.rows import Column, ColumnParts, Rows, make_rows
from dissensus.scales import as_numbers

DELIMITERS = (",", "\t", ";", "|")
MOST_HEADER = 8 << 20  # bytes of the first line
LINE_END = re.compile(rb"[\n\r]")
BLOCK = 1 << 20  # bytes that are parsed together
MOST_RECORD = 64 << 20  # bytes of a row of a file that is read in parts
UNIT = b"\x1f"  # between fields, where they may contain the delimiter
NO_NAMES = "no line of column names"  # begins a note
COMMENT = "#"  # what lines above the column names may begin with
BEGINNING = 1 << 16  # bytes that show whether lines stand above the names
LOOKED_AT = 200  # rows below a first line that may be data
_ABOUT_TEXT = frozenset(("delimiter", "quotes", "skip", "comment", "header", "columns"))
END = "\x04"  # a row of these is added, to see whether a quote was left open before it


def names_of(start: bytes) -> list[str]:
    """The column names in the first line of these bytes; none if it is not a table of texts."""
    if not is_text(start):
        return []
    text = start.decode("utf-8-sig", errors="replace")
    line, quoted = text.split("\n", 1)[0], text  # names may contain line breaks in quotes
    data = (quoted if line.count('"') % 2 else line.rstrip("\r")).encode()
    return next(iter(_first_records(data, find_delimiter(data), 1)), [])


def delimited_cells(path: Path, layout: Layout) -> list[list[str | None]]:
    """All cells of a file, names included; None where one is blank."""
    data, _ = read_text(path, layout.encoding)
    text = _as_laid_out(_Text(path, data), layout)
    check_width(text.width, path)
    try:
        records = list(_records(text.start, text.delimiter, text.quotes))
    except csv.Error as error:
        raise DataError(f"{path}: not a table ({error})") from None
    return [[cell if cell.strip() else None for cell in record] for record in records]


def delimited_rows(path: Path, layout: Layout, short_rows: bool = False) -> Rows:
    """The table in a file.

    The delimiter is recognised from the first lines, not from the ending of the file, and so are
    comments above the column names, and a first line that is no line of names.

    Args:
        short_rows: whether rows may lack their last fields, which are blank then.
    """
    if is_large(path) and not short_rows and not _ABOUT_TEXT & layout.stated().keys():
        large = LargeText(path, layout.encoding)
        with suppress(NotUtf8Error):
            first = next(large.chunks(), b"")[: 1 << 20]
            return _rows(_Text(path, first[: first.rfind(b"\n") + 1] or first, large))
    data, notes = read_text(path, layout.encoding)
    if len(data) > MOST_HEADER and not LINE_END.search(data, 0, MOST_HEADER):
        raise DataError(
            f"{path}: the first line is longer than {MOST_HEADER >> 20} MB; is this a table with a "
            "line of column names?"
        )
    if (nul := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise DataError(f"{path}, line {line}: a NUL byte, which no text has; is the file damaged?")
    text = _as_laid_out(_Text(path, data, notes=notes), layout)
    if short_rows:
        text = text.with_data(_filled_up(text.start, text.delimiter))
    if text.delimiter == "\t" and text.quotes and _has_open_quotes(text.start):
        note = "a quote is never closed, so quotes are read as letters"
        text = replace(text, quotes=False, notes=(*text.notes, note))
    return _rows(text)


def _has_open_quotes(data: bytes) -> bool:
    """Whether quotes are open at the ends of lines, although every line has all fields."""
    lines = [line for line in data.split(b"\n") if line.strip()] if b'"' in data else []
    is_open = any(line.count(b'"') % 2 for line in lines)
    return is_open and len({line.count(b"\t") for line in lines}) == 1


@dataclass(frozen=True)
class _Text:
    path: Path
    start: bytes  # its first lines, or all of them
    large: LargeText | None = None  # all of it, if that is not in memory
    given_delimiter: str | None = None
    quotes: bool = True
    above: int = 0  # lines of the file before the first one here
    header: int = 1  # records that contain names
    names: tuple[str, ...] | None = None  # instead of those
    notes: tuple[str, ...] = ()

    def with_data(self, data: bytes, above: int = 0, note: str = "") -> _Text:
        """Other bytes, where so many more lines are above them."""
        notes = (*self.notes, note) if note else self.notes
        return replace(self, start=data, above=self.above + above, notes=notes)

    @cached_property
    def delimiter(self) -> str:
        return self.given_delimiter or find_delimiter(self.start)

    @cached_property
    def width(self) -> int:
        """How many fields the first record has."""
        try:
            records = _records(self.start, self.delimiter, self.quotes)
            record = next((one for one in records if one), None)
        except csv.Error as error:
            raise DataError(
                f"{self.path}: the first line does not contain column names ({error})"
            ) from None
        if record is None or self.start.isspace():
            raise DataError(f"{self.path}: the file is empty")
        return len(record)

    @property
    def most(self) -> int:
        """The bytes that are parsed together where a row is long."""
        return MOST_RECORD if self.large else min(2 * len(self.start), 2**31 - 2)

    def opened(self, end: bytes = b"") -> io.BufferedReader:
        """The text as a file, with this at its end."""
        chunks = self.large.chunks() if self.large else (self.start,)
        return io.BufferedReader(_Chunks(chain(chunks, (end,))))

    def line(self, record: int) -> int:
        """The line in which a record begins; quoted fields may run over several lines."""
        begins = self._begins
        return 1 + self.above + (begins[record] if record < len(begins) else record)

    @cached_property
    def _begins(self) -> array[int]:
        """How many lines are before each record, up to a field of more than 128 kB."""
        lines = io.TextIOWrapper(self.opened(), "utf-8", newline="")
        reader = csv.reader(lines, delimiter=self.delimiter, quoting=_quoting(self.quotes))
        begins, before = array("q"), 0
        with suppress(csv.Error):
            for fields in reader:
                if fields:
                    begins.append(before)
                before = reader.line_num
        return begins


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


class OpenQuoteError(DataError):
    """A quote that is opened in a record and never closed."""

    def __init__(self, text: _Text, record: int) -> None:
        where = f"{text.path}, line {text.line(record)}"
        super().__init__(f"{where}: a quote is opened and never closed; is the file cut off?")


def _rows(text: _Text) -> Rows:
    header, columns = _parsed(text)
    return make_rows(
        header,
        columns,
        str(text.path),
        name=text.path.name,
        place=lambda row: f"line {text.line(row + text.header)}",
        folder=text.path.resolve().parent,
        commas=text.delimiter == ";",
        notes=text.notes,
    )


# ---- lines that are no rows, and lines of names ----


def _as_laid_out(text: _Text, layout: Layout) -> _Text:
    """The text with one line of names above its rows, whatever the file has."""
    text = replace(text, given_delimiter=layout.delimiter, quotes=layout.quotes)
    text = _without_comments(text, layout)
    if layout.header is None and not layout.skip:
        text = _without_title(text)
    text = _with_row_names(text)
    if layout.delimiter == " " and layout.columns:  # the first of several may contain spaces
        parts = (line.rsplit(b" ", len(layout.columns) - 1) for line in text.start.split(b"\n"))
        text = replace(text.with_data(b"\n".join(map(UNIT.join, parts))), given_delimiter="\x1f")
    if layout.header is None and layout.columns is None and _begins_with_data(text):
        note = f"{NO_NAMES}: the first line is read as data; if not, use header=1 (--header 1)"
        return replace(text, header=0, notes=(*text.notes, note))
    header = 1 if layout.header is None else layout.header
    if layout.columns is not None and len(layout.columns) != text.width:
        raise DataError(
            f"{text.path}: {text.width} columns, but {len(layout.columns)} names: "
            f"{listed(layout.columns)}"
        )
    return replace(text, header=header, names=layout.columns)


def _without_comments(text: _Text, layout: Layout) -> _Text:
    """The text without the lines that the layout leaves out."""
    if not layout.skip and not layout.comment:
        return text
    lines = text.start.split(b"\n")
    sign = (layout.comment or "\0").encode()
    kept = [line for line in lines[layout.skip :] if not line.lstrip(b' "').startswith(sign)]
    return text.with_data(b"\n".join(kept), len(lines) - len(kept))


def _with_row_names(text: _Text) -> _Text:
    """The text with a name for the first fields, if R wrote them: the first line has one less than
    all others; without the line below the names of a table in Markdown."""
    delimiter = text.delimiter if text.width > 1 else " "
    names, *below = _first_records(text.start, delimiter, LOOKED_AT) or [[]]
    if len(below) > 2 and {len(one) for one in below} == {len(names) + 1} and len(names) > 1:
        first = f'""{delimiter}'.encode() + text.start
        return replace(text.with_data(first), given_delimiter=delimiter)
    lines = text.start.split(b"\n", 2)
    if len(lines) > 2 and b"--" in lines[1] and not lines[1].strip(b"|-: \r"):
        return text.with_data(re.sub(rb"[ \t]*\|[ \t]*", b"|", b"\n".join(lines[::2])))
    return text


def _without_title(text: _Text) -> _Text:
    """The text without comments above the names, and without lines that have one cell, or few,
    where others have many."""
    rows = _records(text.start[:BEGINNING], text.delimiter, text.quotes)
    cells: list[list[str]] = []
    ends: list[int] = []  # the number of lines up to the end of each row
    with suppress(csv.Error):
        for row in islice(rows, LOOKED_AT):
            cells.append(row)
            ends.append(rows.line_num)
    filled = list(map(_n_filled, cells))
    width, usual = (sorted(n)[len(n) // 2] if n else 0 for n in ([*map(len, cells)], filled))
    above = 0
    while above < len(cells) and (
        filled[above] < 2
        or 2 * len(cells[above]) <= width
        or (filled[above] != usual and cells[above][0].lstrip().startswith(COMMENT))
    ):
        above += 1
    if usual < 2 or above == len(cells) or filled[above] < usual or not any(filled[:above]):
        return text
    below = b"\n".join(text.start.split(b"\n")[ends[above - 1] :])
    note = f"{counted(ends[above - 1], 'line')} above the column names left out"
    return text.with_data(below, ends[above - 1], note)


def _n_filled(row: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _begins_with_data(text: _Text) -> bool:
    """Whether the first line is a row: each cell occurs again below, or is a number, as there.

    A line of numbers may be names of annotators, if none occurs twice and they count from 0 or 1,
    or do not all occur again.
    """
    first, *below = _first_records(text.start, text.delimiter, LOOKED_AT) or [[]]
    check_width(len(first), text.path)
    if len(first) < 2 or len(below) < 4 or n_recognised(first):
        return False
    again, words = [], []  # whether each cell occurs again, and those that are no numbers
    for at, cell in enumerate(first):
        column = [row[at] for row in below if len(row) > at]
        again.append(bool(cell.strip()) and cell in column)
        if as_numbers([cell, *(one for one in column if one.strip())]) is None:
            words.append(at)
    twice = {cell for cell, times in Counter(first).items() if times > 1}
    if words:
        return all(again[at] for at in words) and as_numbers(twice) is not None
    counts = [[str(n + start) for n in range(len(first))] for start in (0, 1)]
    return bool(twice) or (all(again) and first not in counts)


def of_two_rows(first: list[str], second: list[str]) -> list[str]:
    """The names in two rows: a blank cell of the first is that before it."""
    names: list[str] = []
    group = ""
    for upper, lower in zip_longest(first, second, fillvalue=""):
        group = upper.strip() or group
        parts = [group, "" if lower.strip().casefold() == "response" else lower.strip()]
        names.append(" ".join(" | ".join(part for part in parts if part).split()))
    seen: Counter[str] = Counter()
    for at, name in enumerate(names):
        seen[name] += 1
        names[at] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


def _filled_up(data: bytes, delimiter: str) -> bytes:
    """The same table, with a field for each column in every row."""
    try:
        records = list(_records(data, delimiter))
    except csv.Error:
        return data
    widths = [len(record) for record in records if record] or [0]
    cut_off = records and len(records[-1]) < widths[0] and not data.endswith((b"\n", b"\r"))
    if cut_off or min(widths) == widths[0]:
        return data
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([*record, *[""] * (widths[0] - len(record))] for record in records)
    return text.getvalue().encode()


def find_delimiter(data: bytes) -> str:
    """The delimiter that gives the most known column names, then the most even rows; a space only
    if there is no other and it gives an item, an annotator and an answer in every row.

    Example:
        >>> find_delimiter(b"text;worker;label\\nwell, no;ann;1\\n")
        ';'
    """

    def fit(delimiter: str) -> tuple[int, float, int]:
        records = _first_records(data, delimiter, 50)
        names = next((record for record in records if len(record) > 1), None)  # below a title
        if names is None:
            return 0, 0.0, 0
        even = sum(len(record) == len(names) for record in records) / len(records)
        return n_recognised(names[:MOST_COLUMNS]), even, len(names)

    delimiter = max(DELIMITERS, key=fit)
    words, lines = fit(" "), data.count(b"\n", 0, 1 << 12)
    return " " if fit(delimiter)[2] < 2 < words[2] and words[1] == 1 and lines > 4 else delimiter


def _records(data: bytes, delimiter: str, quotes: bool = True) -> Any:
    """Python's own reader: slow, but it reads no more of the file than is needed."""
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="", errors="replace")
    return csv.reader(lines, delimiter=delimiter, quoting=_quoting(quotes))


def _first_records(data: bytes, delimiter: str, n: int) -> list[list[str]]:
    """The first records that are not blank; none if one of them cannot be read."""
    with suppress(csv.Error):
        return [record for record in islice(_records(data, delimiter), n) if record]
    return []


def _quoting(quotes: bool) -> Any:
    return csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE


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
        raise OpenQuoteError(text, row.number - 1)
    raise DataError(
        f"{text.path}, line {text.line(row.number - 1)}: {row.actual_columns} fields, but the "
        f"first line has {row.expected_columns}; is the line cut off, or a field with "
        f"{text.delimiter!r} not in quotes?"
    )


def _columns(text: _Text, block: int, ragged: list[Any]) -> tuple[list[str], list[Column]]:
    """The header and the columns; a row with another width is put into `ragged` and ends it."""
    check_width(text.width, text.path)
    parts = [ColumnParts() for _ in range(text.width)]
    records: list[list[str]] = []
    held: list[Any] = []  # the columns of the last batch, with the row that was added
    batches = _batches(text, block, ragged)
    for batch in text.large.shown(batches) if text.large else batches:
        for part, column in zip(parts, held, strict=False):
            part.add(column)
        n_names = min(text.header - len(records), batch.num_rows)
        records += [[column[row].as_py() for column in batch.columns] for row in range(n_names)]
        held = [column.slice(n_names) for column in batch.columns]
    if [END] * text.width in records or not held:
        if len(records) > 1:
            raise DataError(f"{text.path}: no rows below {text.header} lines of column names")
        raise DataError(f"{text.path}: the file is empty")  # nothing but marks of the byte order
    if any(not len(column) or column[-1].as_py() != END for column in held):
        raise OpenQuoteError(text, len(parts[0]) + len(held[0]))
    for part, column in zip(parts, held, strict=True):
        part.add(column.slice(0, len(column) - 1))
    names = records[0] if records else [f"column {at}" for at in range(1, text.width + 1)]
    if text.names is not None or text.header == 2:
        names = of_two_rows(*records) if text.names is None else list(text.names)
    return names, [part.column() for part in parts]


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
            delimiter=text.delimiter,
            quote_char='"' if text.quotes else False,
            newlines_in_values=text.quotes,
            invalid_row_handler=refuse,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
