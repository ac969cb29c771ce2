"""List columns: a row for each item, with all its annotators and answers in lists -> long rows.

    {"id": "t1", "annotators": ["ann", "bob"], "labels": ["yes", "no"]}
    {"id": "t1", "annotations": [{"annotator": "ann", "label": "yes"}, ...]}
    {"id": "t1", "annotations": {"annotator": ["ann", "bob"], "label": ["yes", "no"]}}

They are recognised by the name of the annotators' list or key. Answers without annotators are
lists in which a value may occur twice, which a set cannot contain.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError
from dissensus.readers.json_text import set_text, value_text
from dissensus.readers.options import Options
from dissensus.readers.tables.column_names import NAMES, plain
from dissensus.readers.tables.rows import Column, Rows

Cell = list[Any] | None  # the entries of a row; None: a blank
PLACE_KEYS = ("start", "end", "start_offset", "end_offset", "startoffset", "endoffset")


def with_rows_of_lists(rows: Rows, options: Options) -> Rows:
    """The table with a row for each entry of its lists, and a note; or as it is."""
    lists = {
        name: cells
        for name, column in rows.columns.items()
        if (cells := _list_cells(column)) is not None
    }
    if not lists:
        return rows
    for name, cells in lists.items():
        keys = _object_keys(cells)
        annotator = next((key for key in keys if is_named(key, "annotator")), None)
        if annotator is not None and not {plain(key) for key in keys} & set(PLACE_KEYS):
            return _with_note(_of_objects(rows, name, cells, keys), [name])
    annotators = _annotators(lists, options)
    if annotators is not None:
        columns = _parallel(rows, lists, annotators)
        if len(columns) > 1:
            names = list(columns)
            if options.annotator is None and _singular(annotators) not in rows.columns:
                columns = {
                    _singular(name) if name == annotators else name: cells
                    for name, cells in columns.items()
                }
            return _with_note(exploded(rows, columns, set(names)), names)
    answers = _anonymous(rows, lists, options)
    if answers is not None:
        note = f"{answers}: lists of answers of unknown annotators, as a value occurs twice in one"
        long_rows = exploded(rows, {answers: lists[answers]}, {answers})
        return replace(long_rows, notes=(*rows.notes, note))
    return rows


def _with_note(rows: Rows, names: list[str]) -> Rows:
    note = f"{', '.join(names)}: lists with an entry for each annotator, read as rows"
    return replace(rows, notes=(*rows.notes, note))


# ---- which columns ----


def _list_cells(column: Column) -> list[Cell] | None:
    """The entries of each row; None unless all values are lists or objects of lists."""
    if column.is_bytes or not len(column.values):
        return None
    if not str(column.values[0].as_py()).lstrip().startswith(("[", "{")):
        return None
    cells: list[Cell] = []
    for text in column.values.to_pylist():
        entries = _entries(text)
        if entries is None:
            return None
        cells.append(entries)
    cells.append(None)
    return [cells[code] for code in column.codes.tolist()]


def _entries(text: str) -> Cell:
    """The entries of a JSON list, or of an object of lists as a list of objects."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return [_object(entry) for entry in value]
    if isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values()):
        if len({len(v) for v in value.values()}) == 1:
            return [
                dict(zip(value, entry, strict=True)) for entry in zip(*value.values(), strict=True)
            ]
    return None


def _object(entry: Any) -> Any:
    """An entry; one that was written as the JSON text of an object or list is that again."""
    if isinstance(entry, str) and (entry[:1], entry[-1:]) in (("{", "}"), ("[", "]")):
        try:
            return json.loads(entry, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            return entry
    return entry


def _object_keys(cells: list[Cell]) -> list[str]:
    """The keys of all entries; none unless every entry is an object of plain values and lists."""
    entries = [entry for cell in cells for entry in cell or ()]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return []
    if any(_is_nested(value) for entry in entries for value in entry.values()):
        return []
    return list(dict.fromkeys(str(key) for entry in entries for key in entry))


def _is_nested(value: Any) -> bool:
    inner = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict | list) for one in inner)


def is_named(column: str, part: str) -> bool:
    """Whether a column has a known name of annotators, answers and so on, one or several."""
    return plain(column) in NAMES[part] or plain(column).removesuffix("s") in NAMES[part]


def _singular(name: str) -> str:
    return name[:-1] if name[-1:] in "sS" else name


def _annotators(lists: dict[str, list[Cell]], options: Options) -> str | None:
    """The column with the annotators of each row, none of them twice."""
    for name, cells in lists.items():
        if name != options.annotator and not is_named(name, "annotator"):
            continue
        texts = [[value_text(entry) for entry in cell or ()] for cell in cells]
        if all(len(set(row)) == len(row) for row in texts):
            return name
    return None


def _parallel(rows: Rows, lists: dict[str, list[Cell]], annotators: str) -> dict[str, list[Cell]]:
    """The columns whose lists have an entry for each annotator; answers must."""
    n_annotators = _lengths(lists[annotators])
    columns = {}
    for name, cells in lists.items():
        lengths = _lengths(cells)
        different = lengths != n_annotators
        if not different.any():
            columns[name] = cells
        elif is_named(name, "answer") and different.mean() < 0.5:
            row = int(different.argmax())
            raise DataError(
                f"{rows.at(row)}: {n_annotators[row]} entries in {annotators!r}, but "
                f"{lengths[row]} in {name!r}; write one for each annotator"
            )
    return columns


def _lengths(cells: list[Cell]) -> np.ndarray:
    """How many entries each row has, (n_rows,)."""
    return np.array([len(cell or ()) for cell in cells], dtype=np.int64)


def _anonymous(rows: Rows, lists: dict[str, list[Cell]], options: Options) -> str | None:
    """A column of answers in whose lists a value occurs twice, in a table without annotators."""
    if any(is_named(name, "annotator") for name in rows.columns):
        return None
    for name, cells in lists.items():
        named = name in options.answer if options.answer else is_named(name, "answer")
        flat = all(not isinstance(e, dict | list) for cell in cells for e in cell or ())
        if named and flat and any(len(set(cell)) < len(cell) for cell in cells if cell):
            return name
    return None


# ---- rows ----


def _of_objects(rows: Rows, name: str, cells: list[Cell], keys: list[str]) -> Rows:
    """A row for each object, with a column for each of its keys."""
    others = set(rows.columns) - {name}
    columns: dict[str, list[Cell]] = {
        f"{name}.{key}" if key in others else key: [
            None if cell is None else [entry.get(key) for entry in cell] for cell in cells
        ]
        for key in keys
    }
    return exploded(rows, columns, {name})


def exploded(rows: Rows, columns: dict[str, list[Cell]], replaced: set[str]) -> Rows:
    """The table with a row for each entry of these columns, which replace others."""
    first = next(iter(columns.values()))
    source = np.repeat(np.arange(rows.n_rows), _lengths(first))
    if not len(source):
        raise DataError(f"{rows.path}: every list of {next(iter(replaced))!r} is empty")
    kept = {name: column for name, column in rows.columns.items() if name not in replaced}
    new = {name: Column(column.values, column.codes[source]) for name, column in kept.items()}
    sets = set(rows.sets) - replaced
    for name, cells in columns.items():
        entries = [entry for cell in cells for entry in cell or ()]
        if any(isinstance(entry, list) for entry in entries):
            sets.add(name)
            texts = [None if entry is None else set_text(entry) for entry in entries]
        else:
            texts = [value_text(entry) for entry in entries]
        new[name] = Column.of(pa.array(texts, pa.string()))
    place = rows.place
    return replace(
        rows,
        columns=new,
        sets=frozenset(sets),
        place=lambda row: place(int(source[row])),
        index=None,
    )
