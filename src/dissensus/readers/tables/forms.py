"""Forms: a table in the form that its layout states -> a row for each answer.

Names of columns with parts in braces, lists, objects and digits become rows; what is left to do
then is the same for every table.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, counted, listed
from dissensus.readers.json_text import set_text, value_text
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import NAMES, candidates, is_about_answers, plain
from dissensus.readers.tables.item_rows import cells_of, free_name
from dissensus.readers.tables.rows import Column, Rows

Entries = list[Any] | None  # of a cell; None: a blank
FEW_VALUES = 20  # so many are the values of a scale, whatever their share
COUNT = "count"  # a name for numbers of answers that every table recognises
_PART = re.compile(r"\{(\w+)\}")
_KNOWN = ("annotator", "item", "question", "value")


def in_long_form(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """The table with a row for each answer, and the layout that names its columns."""
    patterns = (*(layout.answer or ()), layout.annotator or "")
    if any(map(_PART.search, patterns)):
        return _of_pattern(rows, layout)
    if layout.cells == "values":
        return rows, layout
    if not layout.answer and not (layout.cells == "lists" and layout.annotator):
        raise DataError(
            f"{rows.path}: cells={layout.cells!r} says what a cell of an answer contains; name its "
            "column (answer=, --answer)"
        )
    answers = layout.answer or ()
    records = layout.cells == "records"
    rows.check([name.partition(".")[0] if records else name for name in answers])
    if layout.cells == "counts" and len(answers) > 1:
        return rows, layout.with_changes(format="votes", cells="values")
    return _FORMS[layout.cells](_with_items(rows, layout), layout)


def _with_items(rows: Rows, layout: Layout) -> Rows:
    """The table with a column of items: each row is one, if no column names it."""
    if layout.item is not None or layout.text is not None:
        return rows
    named = [name for name in candidates("item", rows) if _is_unique(rows.columns[name])]
    if named:
        return rows
    index = rows.index
    if index is None or not _is_unique(index):
        index = Column(pa.array([str(n) for n in range(rows.n_rows)]), np.arange(rows.n_rows))
    return replace(rows, columns={free_name("item", rows.columns): index, **rows.columns})


def _is_unique(column: Column) -> bool:
    return not column.is_bytes and len(column.values) == len(column)


# ---- names with parts in braces ----


def _of_pattern(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """Columns whose names fit patterns: a row for each of their texts `{k}` and row."""
    answers = layout.answer or ("{annotator}",)
    found = [(pattern, *match) for pattern in answers for match in _matches(rows, pattern)]
    if not found:
        raise DataError(
            f"{rows.path}: no column is named like {listed(answers)}; it has "
            f"{listed(rows.columns, 5)}"
        )
    blank = [name for _, name, _ in found if not len(rows.columns[name].values)]
    found = [one for one in found if one[1] not in blank]
    slots = list(dict.fromkeys(_slot(parts) for _, _, parts in found))
    questions: dict[str, dict[tuple[str, ...], str]] = {}
    for pattern, name, parts in found:
        question = parts.get("question") or _name_of(pattern)
        questions.setdefault(question, {})[_slot(parts)] = name
    used = {name for _, name, _ in found} | set(blank)
    new: dict[str, Column] = {}
    facts = {_slot(parts): parts for _, _, parts in found}
    changes: dict[str, Any] = {"answer": tuple(questions), "cells": "values", "format": "long"}
    for role in ("annotator", "item", "value"):
        if all(role in parts for parts in facts.values()):
            new[role] = _tiled([facts[slot][role] for slot in slots], rows.n_rows)
            changes[role] = role
    if layout.annotator and _PART.search(layout.annotator):
        named = {_slot(parts): name for name, parts in _matches(rows, layout.annotator)}
        missing = [slot for slot in slots if slot not in named]
        if missing:
            raise DataError(
                f"{rows.path}: {layout.annotator!r} has no column for "
                f"{listed([' '.join(slot) for slot in missing], 5)}"
            )
        used |= set(named.values())
        new["annotator"] = cells_of([rows.columns[named[slot]] for slot in slots])
        changes["annotator"] = "annotator"
    nothing = Column(pa.array([], pa.string()), np.full(rows.n_rows, -1))
    cells = {
        question: cells_of([rows.columns[of[slot]] if slot in of else nothing for slot in slots])
        for question, of in questions.items()
    }
    if "value" in changes:
        if len(cells) > 1:
            raise DataError(f"{rows.path}: {listed(answers)}: counts are of one question")
        new["answer"], new[COUNT] = new.pop("value"), next(iter(cells.values()))
        changes |= {"answer": ("answer",)}
        del changes["value"]
    else:
        new |= cells
    rows = rows if "item" in changes else _with_items(rows, layout)
    others = {n: one for n, one in rows.columns.items() if n not in used}
    clash = [name for name in new if name in others]
    if clash:
        others = {free_name(n, new) if n in new else n: one for n, one in others.items()}
    note = _pattern_note(layout, slots, blank)
    return _spread(rows, others, new, len(slots), note), layout.with_changes(**changes)


def _pattern_note(layout: Layout, slots: Sequence[tuple[str, ...]], blank: list[str]) -> str:
    stated = [*(layout.answer or ()), *([layout.annotator] if layout.annotator else [])]
    texts = listed([" ".join(slot) for slot in slots], 5)
    note = f"{' and '.join(stated)}: columns of {counted(len(slots), 'answer')} a row ({texts})"
    return f"{note}; blank columns left out: {listed(blank, 5)}" if blank else note


def _matches(rows: Rows, pattern: str) -> list[tuple[str, dict[str, str]]]:
    """The columns whose names fit a pattern, and what stands for its parts."""
    literal = [re.escape(text) for text in _PART.split(pattern)[::2]]
    names = _PART.findall(pattern)
    if len(set(names)) != len(names):
        raise DataError(f"{rows.path}: {pattern!r} has the same part twice")
    whole = "".join(
        text + (f"(?P<{names[at]}>.+?)" if at < len(names) else "")
        for at, text in enumerate(literal)
    )
    found = [(name, re.fullmatch(whole, name)) for name in rows.columns]
    return [(name, match.groupdict()) for name, match in found if match]


def _slot(parts: dict[str, str]) -> tuple[str, ...]:
    """What columns that belong together have in common: all parts but the question."""
    return tuple(text for part, text in parts.items() if part != "question")


def _name_of(pattern: str) -> str:
    """What a question is called whose columns fit a pattern: `Score` of `Score{k}`."""
    return " ".join(_PART.sub(" ", pattern).split()).strip(" _-.:|[]()") or "answer"


def _tiled(names: Sequence[str], n_rows: int) -> Column:
    distinct = list(dict.fromkeys(names))
    codes = np.tile([distinct.index(name) for name in names], n_rows)
    return Column(pa.array(distinct, pa.string()), codes)


def _spread(
    rows: Rows, others: dict[str, Column], new: dict[str, Column], n_each: int, note: str
) -> Rows:
    """The table with so many rows for each, and new columns."""
    place = rows.place
    kept = {
        name: Column(column.values, np.repeat(column.codes, n_each))
        for name, column in others.items()
    }
    return replace(
        rows,
        columns={**kept, **new},
        place=lambda row: place(row // n_each),
        sets=frozenset(),
        orders={},
        index=None,
        notes=(*rows.notes, note) if note else rows.notes,
    )


# ---- cells that contain several answers ----


def parsed_cell(text: str) -> Any:
    """A cell as a list or an object, in JSON or in Python; None if it is neither.

    Example:
        >>> parsed_cell('["a", 1]'), parsed_cell("['a', []]"), parsed_cell("a")
        (['a', '1'], ['a', []], None)
    """
    if text.strip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _parsed(rows: Rows, name: str, kind: Any, what: str) -> list[Any]:
    """The lists or objects of a column, None for a blank; anything else is refused."""
    column = rows.columns[name]
    values = [parsed_cell(text) for text in column.values.to_pylist()]
    wrong = next((code for code, value in enumerate(values) if not isinstance(value, kind)), None)
    if wrong is not None:
        row = int((column.codes == wrong).argmax())
        raise DataError(f"{rows.at(row)}: {name!r} is no {what}, found {column[row][:40]!r}")
    return [*values, None]


def as_records(value: Any) -> list[Any] | None:
    """A list, whose entries may be written as texts of objects; an object of lists as a list.

    Example:
        >>> as_records({"worker": ["ann", "bob"], "label": [1, 0]})
        [{'worker': 'ann', 'label': 1}, {'worker': 'bob', 'label': 0}]
    """
    if isinstance(value, list):
        parsed = [parsed_cell(one) if isinstance(one, str) else None for one in value]
        return [one if as_is is None else as_is for one, as_is in zip(value, parsed, strict=True)]
    lists = list(value.values()) if isinstance(value, dict) else []
    if not lists or not all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        return None
    return [dict(zip(value, entry, strict=True)) for entry in zip(*lists, strict=True)]


def _of_lists(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """Lists with an entry for each annotator, and all other lists that are as long."""
    stated = [*([layout.annotator] if layout.annotator else []), *(layout.answer or ())]
    rows.check(stated)
    columns = {
        name: [values[code] for code in rows.columns[name].codes.tolist()]
        for name in stated
        for values in (_parsed(rows, name, list, "list"),)
    }
    sizes = _lengths(columns[stated[0]])
    for name, column in rows.columns.items():
        if name in columns or not column.is_like_lists:
            continue
        values = [*map(parsed_cell, column.values.to_pylist()), None]
        if all(isinstance(value, list | None) for value in values):
            columns[name] = [values[code] for code in column.codes.tolist()]
    for name in list(columns):
        different = _lengths(columns[name]) != sizes
        usual = plain(name) in NAMES["answer"] or plain(name[:-1]) in NAMES["answer"]
        if different.any() and (name in stated or (usual and different.mean() < 0.5)):
            row = int(different.argmax())
            raise DataError(
                f"{rows.at(row)}: {sizes[row]} entries in {stated[0]!r}, but "
                f"{len(columns[name][row] or ())} in {name!r}; write one for each annotator"
            )
        if different.any():
            del columns[name]
    together = [name for name in rows.columns if name in columns]
    note = f"{', '.join(together)}: lists with an entry for each annotator, read as rows"
    if layout.annotator is None:
        note = f"{together[0]}: lists of answers of unknown annotators"
    return exploded(rows, columns, set(columns), note), layout.with_changes(cells="values")


def _of_keys(rows: Rows, layout: Layout, key: str = "annotator") -> tuple[Rows, Layout]:
    """Objects with an answer for each annotator."""
    if len(layout.answer or ()) != 1:
        raise DataError(f"{rows.path}: name one column of objects (answer=, --answer)")
    (name,) = layout.answer or ("",)
    objects = _parsed(rows, name, dict, "object")
    values = [
        None if one is None else [(k, v) for k, v in one.items() if v is not None]
        for one in objects
    ]
    cells = [values[code] for code in rows.columns[name].codes.tolist()]
    keys, entries = free_name(key, rows.columns), name
    columns: dict[str, list[Entries]] = {
        keys: [None if one is None else [k for k, _ in one] for one in cells],
        entries: [None if one is None else [v for _, v in one] for one in cells],
    }
    named = list(dict.fromkeys(k for one in values[:-1] for k, _ in one or ()))
    note = f"{name}: objects with an answer for each annotator ({listed(named)}), read as rows; "
    note += "if these are questions, name them (answer=, --answer)"
    long_rows = exploded(rows, columns, {name}, note)
    return long_rows, layout.with_changes(cells="values", annotator=keys)


def _of_counts(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """Objects with a number of answers for each value."""
    (name,) = layout.answer or ("",)
    long_rows, _ = _of_keys(rows, layout, "value of an answer")
    columns = dict(long_rows.columns)
    values = columns.pop(free_name("value of an answer", rows.columns))
    if COUNT in columns:
        columns[free_name(COUNT, columns)] = columns.pop(COUNT)
    columns[COUNT] = columns[name]
    columns[name] = values
    note = f"{name}: objects with a number of answers for each value"
    rows = replace(long_rows, columns=columns, notes=(*long_rows.notes[:-1], note))
    return rows, layout.with_changes(cells="values", annotator=None, format="long")


def _of_records(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """A list of objects in each cell, whose keys are columns; `column.key` names an answer."""
    stated = [name.partition(".") for name in layout.answer or ()]
    name = stated[0][0]
    values = _parsed(rows, name, list | dict, "list of objects")
    records = [None if value is None else as_records(value) for value in values]
    cells = [records[code] for code in rows.columns[name].codes.tolist()]
    entries = [entry for cell in cells for entry in cell or ()]
    if None in records[:-1] or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{rows.path}: {name!r} is no list of objects")
    keys = list(dict.fromkeys(str(key) for entry in entries for key in entry))
    columns: dict[str, list[Entries]] = {
        key: [[e.get(key) for e in cell or ()] for cell in cells] for key in keys
    }
    others = set(rows.columns) - {name}
    renamed = {f"{name}.{key}" if key in others else key: one for key, one in columns.items()}
    note = f"{name}: lists with an entry for each annotator, read as rows"
    long_rows = exploded(_with_items(rows, layout), renamed, {name}, note)
    answers = [key for _, _, key in stated if key]
    if not answers and not any(plain(key) in NAMES["annotator"] for key in keys):
        answers = [key for key in renamed if _is_answer(long_rows.columns[key], key)]
    changes = {"cells": "values", "answer": tuple(answers) or None}
    return long_rows, layout.with_changes(**changes)


def _is_answer(column: Column, name: str) -> bool:
    """Whether a key of records has few values, and is not about an answer by its name."""
    n_filled = int((column.codes >= 0).sum())
    few = 1 < len(column.values) <= max(FEW_VALUES, n_filled // 10)
    return few and 2 * len(column.values) <= n_filled and not is_about_answers(name)


def _of_digits(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """A cell such as 11213, each digit of which is the answer of somebody."""
    names = list(layout.answer or ())
    columns: dict[str, list[Entries]] = {
        name: [None if cell is None else list(cell.strip()) for cell in _cells(rows, name)]
        for name in names
    }
    note = f"{', '.join(names)}: each digit is an answer"
    return exploded(rows, columns, set(names), note), layout.with_changes(cells="values")


def _cells(rows: Rows, name: str) -> list[str | None]:
    column = rows.columns[name]
    values = [*column.values.to_pylist(), None]
    return [values[code] for code in column.codes.tolist()]


def _lengths(cells: list[Entries]) -> np.ndarray:
    """How many entries each row has, (n_rows,)."""
    return np.array([len(cell or ()) for cell in cells], dtype=np.int64)


def exploded(
    rows: Rows, columns: dict[str, list[Entries]], replaced: set[str], note: str = ""
) -> Rows:
    """The table with a row for each entry of these columns, which replace others."""
    source = np.repeat(np.arange(rows.n_rows), _lengths(next(iter(columns.values()))))
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
        notes=(*rows.notes, note) if note else rows.notes,
    )


_FORMS: dict[str, Callable[[Rows, Layout], tuple[Rows, Layout]]] = {
    "lists": _of_lists,
    "keys": _of_keys,
    "counts": _of_counts,
    "records": _of_records,
    "digits": _of_digits,
}
