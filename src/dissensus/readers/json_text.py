"""JSON: parsed with errors that name the place, and its values as texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.errors import DataError
from dissensus.files.checked_json import kind, parse_json


def parsed(text: str | bytes, path: Path) -> Any:
    """JSON as Python values; a key that occurs twice in one object is refused."""
    return parse_json(text, path, refuse_repeated=True)


def as_object(value: Any, where: str, of: str) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected an object of {of}, found {kind(value)}")
    return value


Place = Callable[[int], str]  # of a row, as Rows has it
DECODER = json.JSONDecoder(  # numbers stay as they are written: no id loses a digit
    parse_int=str, parse_float=str, parse_constant=lambda _: None
)


def unit_of(text: str) -> str:
    """What objects are counted by: "line", or "entry" of an array."""
    return "entry" if re.match(r"\s*\[", text) else "line"


def objects(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each non-blank line, or of each entry of an array, and its object."""
    if unit_of(text) == "entry":
        yield from _entries(text, path)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line_object(line.strip(), number, path)


def _entries(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        entries = DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno}: not a complete JSON array ({error.msg}: column "
            f"{error.colno}); is the file cut off?"
        ) from None
    except RecursionError:
        raise DataError(f"{path}: a JSON array that is nested too deep") from None
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            shown = json.dumps(entry, ensure_ascii=False)[:40]
            raise DataError(f"{path}, entry {number}: each entry must be an object, found {shown}")
        yield number, entry


def line_object(line: str, number: int, path: Path) -> dict[str, Any]:
    """The object in a line."""
    try:
        content, end = DECODER.raw_decode(line)
    except json.JSONDecodeError as error:
        reason = f"{error.msg}: column {error.colno}"
    except RecursionError:
        reason = "nested too deep"
    else:
        if isinstance(content, dict) and end == len(line):
            return content
        if end == len(line):
            raise DataError(
                f"{path}, line {number}: each line must contain one object, such as "
                f'{{"item": "t1", "annotator": "ann", "answer": "yes"}}; found {line[:40]!r}'
            )
        reason = f"more after it: column {end + 1}"
    raise DataError(
        f"{path}, line {number}: not a complete JSON object ({reason}); "
        "each line must contain one object; is the line cut off?"
    )


def text_array(name: str, column: list[Any], path: Path, place: Place) -> Any:
    """Texts as Arrow strings; a lone surrogate, which JSON can write, is refused."""
    try:
        return pa.array(column, pa.string())
    except UnicodeEncodeError:
        half = re.compile("[\ud800-\udfff]")
        row = next(row for row, value in enumerate(column) if half.search(str(value)))
        raise DataError(
            f"{path}, {place(row)}: {name!r} contains a lone surrogate (half of a character), "
            f"found {column[row][:40]!r}; correct it"
        ) from None


def value_text(value: Any) -> str | None:
    """A value as a text: true and false as JSON writes them, objects as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def object_in(value: Any) -> dict[str, Any]:
    """The value if it is an object; otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """The value if it is a list; otherwise an empty one."""
    return value if isinstance(value, list) else []


def texts_in(
    value: Any, prefix: str = "", skip: Collection[str] = (), kinds: Any = str
) -> dict[str, str]:
    """The texts in an object, by key; none if it is no object."""
    kept = {k: v for k, v in object_in(value).items() if isinstance(v, kinds) and k not in skip}
    return {f"{prefix}{key}": str(value_text(value)) for key, value in kept.items()}


def set_text(value: Any) -> str:
    """A list of values as JSON; a single value is a list of one."""
    return json.dumps(value_texts(value), ensure_ascii=False)


def value_texts(value: Any) -> list[str]:
    """A list of values as texts; a single value is a list of one."""
    values = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return [text for text in map(value_text, values) if text is not None]
