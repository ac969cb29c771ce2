"""JSON lines: one object per line, which holds one answer or one item; or an array of such."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
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
Place = Callable[[int], str]  # of a row, as Rows has it
_OPENING = re.compile(rb"\s*(\[\s*)?\{")
_DECODER = json.JSONDecoder(  # numbers stay as they are written: no id loses a digit
    parse_int=str, parse_float=str, parse_constant=lambda _: None
)


def recognise(path: Path) -> bool:
    """By its ending, or by an object at its beginning."""
    start = head(path)
    if not is_text(start):
        return False
    bare = start.removeprefix(b"\xef\xbb\xbf")
    return ending(path) in ENDINGS or bool(_OPENING.match(bare))


def read(path: Path, options: Options) -> Corpus:
    """Read a table of objects; a list as an answer is a set of values."""
    text = read_utf8(path, options.encoding).decode("utf-8")
    _check_lines(text, path)
    columns, numbers = _columns(objects(text, path))
    if not numbers:
        raise DataError(f"{path}: the file is empty")
    if not columns:
        raise DataError(f"{path}: every object is empty")

    def place(row: int) -> str:
        return f"{unit_of(text)} {numbers[row]}"

    sets: set[str] = set()
    arrays = [_array(name, column, sets, path, place) for name, column in columns.items()]
    rows = make_rows(
        list(columns),
        arrays,
        str(path),
        name=path.name,
        place=place,
        folder=path.resolve().parent,
        sets=frozenset(sets),
    )
    return any_table(rows, options)


def _check_lines(text: str, path: Path) -> None:
    """Refuse JSON that is whole but not made of lines."""
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
        return _DECODER.raw_decode(text)[1] == len(text)
    except (json.JSONDecodeError, RecursionError):
        return False


def _columns(
    given: Iterable[tuple[int, dict[str, Any]]],
) -> tuple[dict[str, list[Any]], list[int]]:
    """The values by name, None where an object lacks one, and the number of each object."""
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    for number, found in given:
        for name, value in found.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = []
            if len(column) < len(numbers):  # earlier objects had no such value
                column.extend([None] * (len(numbers) - len(column)))
            column.append(value)
        numbers.append(number)
    for column in columns.values():
        column.extend([None] * (len(numbers) - len(column)))
    return columns, numbers


def unit_of(text: str) -> str:
    """What objects are counted by: "line", or "entry" of an array."""
    return "entry" if re.match(r"\s*\[", text) else "line"


def objects(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each line that is not blank, or of each entry of an array, and the object that
    stands there."""
    if unit_of(text) == "entry":
        yield from _entries(text, path)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _object(line.strip(), number, path)


def _entries(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        entries = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno}: no whole JSON array ({error.msg}: column "
            f"{error.colno}); is the file cut off?"
        ) from None
    except RecursionError:
        raise DataError(f"{path}: a JSON array that is nested too deep") from None
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            shown = json.dumps(entry, ensure_ascii=False)[:40]
            raise DataError(f"{path}, entry {number}: each entry is an object; found {shown}")
        yield number, entry


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


def _array(name: str, column: list[Any], sets: set[str], path: Path, place: Place) -> Any:
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


def half_letter(name: str, column: list[Any], path: Path, place: Place) -> DataError:
    """A lone surrogate: JSON can write it, no text can hold it."""
    row = next(row for row, value in enumerate(column) if not _is_whole(value))
    return DataError(
        f"{path}, {place(row)}: {name!r} holds half a letter (a lone surrogate), "
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
    return json.dumps(value_texts(value), ensure_ascii=False)


def value_texts(value: Any) -> list[str]:
    """A list of values as texts; a single value is a list of one."""
    values = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return [text for text in map(value_text, values) if text is not None]
