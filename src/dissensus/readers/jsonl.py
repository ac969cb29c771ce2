"""JSON lines: one object per line, which holds one answer or one item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.options import Options
from dissensus.readers.rows import make_rows
from dissensus.readers.shapes import any_table
from dissensus.readers.text import ending, head, is_text, read_utf8

ENDINGS = (".jsonl", ".ndjson", ".json1", ".json")
_DECODER = json.JSONDecoder(  # numbers stay as they are written: no id loses a digit
    parse_int=str, parse_float=str, parse_constant=lambda _: None
)


def recognise(path: Path) -> bool:
    """By its ending, or by an object at its beginning."""
    start = head(path)
    if not is_text(start):
        return False
    bare = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return ending(path) in ENDINGS or bare.startswith(b"{")


def read(path: Path, options: Options) -> Corpus:
    """Read a table of objects; a list as an answer is a set of values."""
    text = read_utf8(path, options.encoding).decode("utf-8")
    _check_lines(text, path)
    columns, lines = _columns(text, path)
    if not lines:
        raise DataError(f"{path}: the file is empty")
    if not columns:
        raise DataError(f"{path}: every object is empty")
    sets: set[str] = set()
    arrays = [_array(name, column, sets, path, lines) for name, column in columns.items()]
    rows = make_rows(
        list(columns),
        arrays,
        str(path),
        name=path.name,
        place=lambda row: f"line {lines[row]}",
        folder=path.resolve().parent,
        sets=frozenset(sets),
    )
    return any_table(rows, options)


def _check_lines(text: str, path: Path) -> None:
    """Refuse JSON that is whole but not made of lines."""
    start = text.lstrip()
    if start.startswith("["):
        raise DataError(f"{path}: a JSON array; write one object per line instead (jq -c '.[]')")
    if _is_object(start.split("\n", 1)[0].strip()) or not _is_object(text.strip()):
        return
    raise DataError(
        f"{path}: one JSON object over many lines; write one object per line and answer"
    )


def _is_object(text: str) -> bool:
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return _DECODER.raw_decode(text)[1] == len(text)
    except (json.JSONDecodeError, RecursionError):
        return False


def _columns(text: str, path: Path) -> tuple[dict[str, list[Any]], list[int]]:
    """The values by name, None where an object lacks one, and the line of each object."""
    columns: dict[str, list[Any]] = {}
    lines: list[int] = []
    for number, found in objects(text, path):
        for name, value in found.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = []
            if len(column) < len(lines):  # earlier objects had no such value
                column.extend([None] * (len(lines) - len(column)))
            column.append(value)
        lines.append(number)
    for column in columns.values():
        column.extend([None] * (len(lines) - len(column)))
    return columns, lines


def objects(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each line that is not blank, and the object that it holds."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _object(line.strip(), number, path)


def _object(line: str, number: int, path: Path) -> dict[str, Any]:
    """The object that a line holds."""
    try:
        found, end = _DECODER.raw_decode(line)
        reason = f"more after it: column {end + 1}"
    except json.JSONDecodeError as error:
        found, end, reason = None, -1, f"{error.msg}: column {error.colno}"
    except RecursionError:
        found, end, reason = None, -1, "nested too deep"
    if isinstance(found, dict) and end == len(line):
        return found
    if end == len(line):
        raise DataError(
            f"{path}, line {number}: each line holds one object, such as "
            f'{{"item": "t1", "annotator": "ann", "answer": "yes"}}; found {line[:40]!r}'
        )
    raise DataError(
        f"{path}, line {number}: no whole JSON object ({reason}); "
        "each line holds one object; is the line cut off?"
    )


def _array(name: str, column: list[Any], sets: set[str], path: Path, lines: list[int]) -> Any:
    """A column as Arrow strings; lists are written as JSON and noted in `sets`."""
    try:
        return pa.array(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass  # not only texts
    except UnicodeEncodeError:
        raise _half_letter(name, column, path, lines) from None
    if any(isinstance(value, list) for value in column):
        sets.add(name)
        texts = [None if value is None else set_text(value) for value in column]
    else:
        texts = [value_text(value) for value in column]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        raise _half_letter(name, texts, path, lines) from None


def _half_letter(name: str, column: list[Any], path: Path, lines: list[int]) -> DataError:
    """A lone surrogate: JSON can write it, no text can hold it."""
    row = next(row for row, value in enumerate(column) if not _is_whole(value))
    return DataError(
        f"{path}, line {lines[row]}: {name!r} holds half a letter (a lone surrogate), "
        f"found {column[row][:40]!r}; correct it"
    )


def _is_whole(value: Any) -> bool:
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def value_text(value: Any) -> str | None:
    """A value as a text: true and false as JSON writes them, objects as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def set_text(value: Any) -> str:
    """A list of values as JSON; a single value is a list of one."""
    values = value if isinstance(value, list | tuple | set | frozenset) else [value]
    texts = [value_text(one) for one in values]
    return json.dumps([text for text in texts if text is not None], ensure_ascii=False)
