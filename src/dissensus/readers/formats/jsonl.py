"""JSON lines: one object per line, with one answer or one item; or an array of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.files import (
    LargeText,
    NotUtf8Error,
    is_large,
    read_utf8,
)
from dissensus.readers.json_text import (
    DECODER,
    Place,
    half_letter,
    line_object,
    objects,
    set_text,
    unit_of,
    value_text,
)
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_parts import ColumnParts
from dissensus.readers.tables.rows import Rows, make_rows
from dissensus.readers.tables.shapes import table_corpus

OBJECTS = 50_000  # of a large file that are parsed together
MOST_LINE = 64 << 20  # bytes of a line of such a file


def read(path: Path, options: Layout) -> Corpus:
    """Read a table of objects; a list as an answer is a set of values."""
    if is_large(path):
        with suppress(NotUtf8Error, _NotInPartsError):
            return table_corpus(_rows_in_parts(LargeText(path, options.encoding)), options)
    text = read_utf8(path, options.encoding).decode("utf-8")
    _check_lines(text, path)
    columns, numbers = _columns_of(objects(text, path))
    if not numbers:
        raise DataError(f"{path}: the file is empty")
    if not columns:
        raise DataError(f"{path}: every object is empty")

    def place(row: int) -> str:
        return f"{unit_of(text)} {numbers[row]}"

    sets: set[str] = set()
    arrays = [_text_array(name, column, sets, path, place) for name, column in columns.items()]
    return table_corpus(_rows(path, columns, arrays, place, frozenset(sets)), options)


def _rows(
    path: Path, names: Iterable[str], columns: list[Any], place: Place, sets: frozenset[str]
) -> Rows:
    facts = {"name": path.name, "place": place, "folder": path.resolve().parent, "sets": sets}
    return make_rows(list(names), columns, str(path), **facts)


# ---- a large file ----


class _NotInPartsError(Exception):
    """The objects of a file have to be read together."""


def _rows_in_parts(text: LargeText) -> Rows:
    """The objects in the lines of a file, of which few are in memory at a time."""
    lines = ((number, line_object(line, number, text.path)) for number, line in _lines(text))
    parts: dict[str, ColumnParts] = {}
    n_rows = 0
    for chunk in text.shown(iter(lambda: list(islice(lines, OBJECTS)), [])):
        columns, numbers = _columns_of(chunk)
        for name in [name for name in columns if name not in parts]:  # lacking until now
            parts[name] = ColumnParts()
            parts[name].add(pa.nulls(n_rows, pa.string()))
        for name, part in parts.items():
            column = columns.get(name, [None] * len(numbers))
            part.add(_part_array(name, column, text.path, numbers))
        n_rows += len(numbers)
    if not parts:
        raise _NotInPartsError

    def place(row: int) -> str:
        return f"line {next(islice(_lines(text), row, None))[0]}"

    return _rows(text.path, parts, [part.column() for part in parts.values()], place, frozenset())


def _part_array(name: str, column: list[Any], path: Path, numbers: list[int]) -> Any:
    """Some cells of a column as Arrow strings."""
    sets: set[str] = set()
    array = _text_array(name, column, sets, path, lambda row: f"line {numbers[row]}")
    if sets:
        raise _NotInPartsError  # a single value in another part is a set, too
    return array


def _lines(text: LargeText) -> Iterator[tuple[int, str]]:
    """The number of each line that is not blank, and the line, which contains an object."""
    rest, number = b"", 0
    for chunk in chain(text.chunks(), (b"\n",)):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MOST_LINE:
            raise _NotInPartsError
        for line in lines:
            number += 1
            if content := line.decode("utf-8").strip():
                if number == 1 and not content.startswith("{"):
                    raise _NotInPartsError  # an array
                yield number, content


# ---- objects ----


def _check_lines(text: str, path: Path) -> None:
    """Refuse a single JSON object over many lines."""
    start = text.lstrip()
    if (
        unit_of(text) == "entry"
        or _is_object(start.split("\n", 1)[0].strip())
        or not _is_object(text.strip())
    ):
        return
    raise DataError(
        f"{path}: one JSON object over many lines; write one object per line and answer"
    )


def _is_object(text: str) -> bool:
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return DECODER.raw_decode(text)[1] == len(text)
    except (json.JSONDecodeError, RecursionError):
        return False


def _columns_of(
    numbered_objects: Iterable[tuple[int, dict[str, Any]]],
) -> tuple[dict[str, list[Any]], list[int]]:
    """The values by name, None where an object lacks one, and the number of each object."""
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    for number, content in numbered_objects:
        for name, value in content.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = []
            if len(column) < len(numbers):  # earlier objects lack this value
                column.extend([None] * (len(numbers) - len(column)))
            column.append(value)
        numbers.append(number)
    for column in columns.values():
        column.extend([None] * (len(numbers) - len(column)))
    return columns, numbers


def _text_array(name: str, column: list[Any], sets: set[str], path: Path, place: Place) -> Any:
    """A column as Arrow strings; lists are written as JSON and noted in `sets`."""
    try:
        return pa.array(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass  # not only texts
    except UnicodeEncodeError:
        raise half_letter(name, column, path, place) from None
    if any(isinstance(value, list) for value in column):
        sets.add(name)
        texts = [None if value is None else set_text(value) for value in column]
    else:
        texts = [value_text(value) for value in column]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        raise half_letter(name, texts, path, place) from None
