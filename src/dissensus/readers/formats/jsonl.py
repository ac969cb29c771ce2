"""JSON lines: one object per line, with one answer or one item; or an array of objects, or one
object with an object for each item: {"t1": {"text": ..., "labels": [...]}, "t2": ...}."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.readers.files import check_width, read_utf8
from dissensus.readers.json_text import (
    DECODER,
    objects,
    parsed,
    set_text,
    text_array,
    unit_of,
    value_text,
)
from dissensus.readers.layout import Layout
from dissensus.readers.tables.rows import Rows, free_name, make_rows
from dissensus.readers.tables.shapes import table_corpus

MOST_BLANK = 20_000_000  # cells of a table of which nearly all are blank
SPARSE = 20  # columns for each key that an object has, above which a table is so


def read(path: Path, options: Layout) -> Corpus:
    """Read a table of objects; a list as an answer is a set of values."""
    return table_corpus(object_rows(path, options), replace(options, corpus=None))


def object_rows(path: Path, options: Layout) -> Rows:
    """A table of objects."""
    text = read_utf8(path, options.encoding).decode("utf-8")
    if options.corpus is not None:
        text = _inside(text, options.corpus.split("."), path)
    whole = _object(text)
    by_item = None if whole is None else _by_item(whole)
    if by_item is not None:
        parsed(text, path)  # refuses an item that is there twice
    elif whole is not None and _object(text.lstrip().split("\n", 1)[0]) is None:
        lists = [key for key, value in whole.items() if isinstance(value, list)]
        hint = f"; or name the list of objects (corpus=, --corpus): {listed(lists, 5)}"
        raise DataError(
            f"{path}: one JSON object over many lines; write one object per line and answer"
            f"{hint if lists else ''}"
        )
    columns, numbers = _columns_of(objects(text, path) if by_item is None else by_item, path)
    if not numbers:
        raise DataError(f"{path}: the file is empty")
    if not columns:
        raise DataError(f"{path}: every object is empty")
    unit = unit_of(text) if by_item is None else "entry"

    def place(row: int) -> str:
        return f"{unit} {numbers[row]}"

    sets, arrays = set(), []
    for name, column in columns.items():
        try:
            arrays.append(text_array(name, column, path, place))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # lists are written as JSON
            is_set = any(isinstance(value, list) for value in column)
            sets |= {name} if is_set else set()
            texts = [v if v is None or not is_set else set_text(v) for v in column]
            arrays.append(text_array(name, [value_text(text) for text in texts], path, place))
    facts = {"place": place, "folder": path.resolve().parent, "sets": frozenset(sets)}
    return make_rows(list(columns), arrays, str(path), name=path.name, **facts)


def _inside(text: str, keys: list[str], path: Path) -> str:
    """The part of a JSON document under these keys."""
    value = parsed(text, path)
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            there = f"there are {listed(value, 5)}" if isinstance(value, dict) else "no keys there"
            raise DataError(f"{path}: no key {key!r}; {there}")
        value = value[key]
    return json.dumps(value, ensure_ascii=False)


def _by_item(whole: dict[str, Any]) -> list[tuple[int, dict[str, Any]]] | None:
    """The objects of a single object that has one for each item, with the name of the item; None
    if it has anything else, or objects that have nothing in common."""
    entries = list(whole.values())
    if len(entries) < 2 or not all(isinstance(entry, dict) for entry in entries):
        return None
    shared = set.intersection(*map(set, entries))
    known = {name for entry in entries for name in entry}
    if len(shared) < 2 and sum(map(len, entries)) < 2 * len(known):
        return None
    column = free_name("item", known)
    return [(n, {column: key, **entry}) for n, (key, entry) in enumerate(whole.items(), start=1)]


def _object(text: str) -> dict[str, Any] | None:
    """The one object that a text is; None of any other text."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        content, end = DECODER.raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    return dict(content) if end == len(text) else None


def _columns_of(
    numbered_objects: Iterable[tuple[int, dict[str, Any]]], path: Path
) -> tuple[dict[str, list[Any]], list[int]]:
    """The values by name, None where an object lacks one, and the number of each object."""
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    n_cells = 0
    for number, content in numbered_objects:
        for name, value in content.items():
            column = columns.get(name)
            if column is None:
                check_width(len(columns) + 1, path)
                column = columns[name] = []
            if len(column) < len(numbers):  # earlier objects lack this value
                column.extend([None] * (len(numbers) - len(column)))
            column.append(value)
        numbers.append(number)
        n_cells += len(content)
        if (len(columns) * len(numbers)) > max(MOST_BLANK, SPARSE * n_cells):
            raise DataError(
                f"{path}: {len(columns):,} keys, of which an object has {n_cells // len(numbers)}; "
                "write an object for each answer, with the same keys (item, annotator, answer)"
            )
    for column in columns.values():
        column.extend([None] * (len(numbers) - len(column)))
    return columns, numbers
