"""Forms: a table and its layout -> a row for each answer, and the role of each column.

This is the one way in which tables become answers, whoever stated or proposed the layout. Columns
that have something in their names (an annotator, an item, a value, a question) become rows, and
so do lists, objects and digits in cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.readers.json_text import set_text, value_text
from dissensus.readers.layout import Layout, matching
from dissensus.readers.tables.answer_cells import (
    Entries,
    as_records,
    parsed_cell,
    parsed_column,
)
from dissensus.readers.tables.cleaning import without_blank_columns
from dissensus.readers.tables.column_names import (
    NAMES,
    WEAK,
    candidates,
    first_named,
    is_about_answers,
    is_named,
    plain,
)
from dissensus.readers.tables.column_roles import (
    ColumnRoles,
    find_roles,
    gold_columns,
    items_of,
    one_each,
    shown_columns,
)
from dissensus.readers.tables.proposals import columns_of_annotators
from dissensus.readers.tables.rows import Column, Rows, cells_of, free_name, numbered
from dissensus.readers.tables.structure import BY_NAME
from dissensus.readers.tables.vote_columns import Votes, votes_of

Slot = tuple[str, ...]
Parts = dict[str, str]  # what the name of a column contains: annotator, item, question, value, k
LONG = "long table"
COUNT = "count"  # a name for numbers of answers that every table recognises
COLUMN = "{column}"  # an item, if each column of answers is one
_PART = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Form:
    """A table with a row for each answer, the roles of its columns, and how it was written."""

    rows: Rows
    roles: ColumnRoles
    layout: Layout
    kind: str = LONG
    headers: tuple[str, ...] = ()  # the annotators, items or counts that are columns
    votes: Votes | None = None


def in_long_form(rows: Rows, layout: Layout) -> Form:
    """The table with a row for each answer, as its layout says."""
    votes = None
    if layout.format == "votes" or (layout.cells == "counts" and len(layout.answer or ()) > 1):
        votes = votes_of(rows, layout)
        pairs = zip(votes.counts, votes.values, strict=True)
        columns: dict[str, Parts] = {name: {"value": value} for name, value in pairs}
    else:
        columns = _columns_with_parts(rows, layout)
    if columns:
        return _melted(rows, layout, columns, votes)
    if layout.cells != "values":
        rows, layout = _exploded_cells(rows, layout)
    long_rows, roles = find_roles(rows, layout)
    return Form(long_rows, roles, layout)


# ---- columns whose names contain a part of the answer ----


def _columns_with_parts(rows: Rows, layout: Layout) -> dict[str, Parts]:
    """The columns of answers, if each is one annotator or item, and what each of them is."""
    answers = layout.answer or ()
    if layout.item == COLUMN:
        rows.check(answers)
        return {name: {"item": name} for name in answers}
    if not any(map(_PART.search, (*answers, layout.annotator or ""))):
        wide = layout.annotators is not None or layout.format == "wide"
        return columns_of_annotators(rows, layout) if wide else {}
    columns: dict[str, Parts] = {}
    for pattern in answers or ("{annotator}",):  # the question is called Score in Score{k}
        question = " ".join(_PART.sub(" ", pattern).split()).strip(" _-.:|[]()") or "answer"
        for name, parts in matching(pattern, rows.columns, rows.path).items():
            if layout.annotators is None or parts.get("annotator") in layout.annotators:
                columns[name] = {"question": question, **parts}
    if not columns:
        raise DataError(
            f"{rows.path}: no column is named like {listed(answers)}; it has "
            f"{listed(rows.columns, 5)}"
        )
    return {name: parts for name, parts in columns.items() if len(rows.columns[name].values)}


def _melted(rows: Rows, layout: Layout, columns: Mapping[str, Parts], votes: Votes | None) -> Form:
    """A row for each row of the table and each slot: what columns have in common but a question."""
    rows.check(sorted(layout.of_items - {COLUMN}))
    if both := sorted(layout.of_items & columns.keys()):
        raise DataError(f"{rows.path}: {both[0]!r} is named as an annotator and as something else")
    if binary := [name for name in columns if rows.columns[name].is_bytes]:
        raise DataError(f"{rows.path}: column {binary[0]!r} contains bytes, not answers")
    slots = {_slot(parts): parts for parts in columns.values()}
    questions: dict[str, dict[Slot, str]] = {}
    for name, parts in columns.items():
        questions.setdefault(parts.get("question", "answer"), {})[_slot(parts)] = name
    people: dict[Slot, str] = {}  # the columns that name the annotators of the slots
    if layout.annotator and _PART.search(layout.annotator):
        fitting = matching(layout.annotator, rows.columns, rows.path)
        people = {_slot(parts): name for name, parts in fitting.items()}
        if missing := [" ".join(slot) for slot in slots if slot not in people]:
            raise DataError(
                f"{rows.path}: {layout.annotator!r} has no column for {listed(missing, 5)}"
            )
    others = {n: one for n, one in rows.columns.items() if n not in (*columns, *people.values())}
    new = {
        role: _tiled([parts[role] for parts in slots.values()], rows.n_rows)
        for role in ("annotator", "item", "value")
        if all(role in parts for parts in slots.values())
    }
    if people:
        new["annotator"] = cells_of([rows.columns[people[slot]] for slot in slots])
    if counts := "value" in new:
        if len(questions) > 1:
            raise DataError(f"{rows.path}: {listed(questions)}: counts are of one question")
        new["answer"], questions = new.pop("value"), {COUNT: next(iter(questions.values()))}
    names = {name: free_name(name, others) for name in (*new, *questions)}
    answer = tuple(names[name] for name in (["answer"] if counts else questions))
    count = names[COUNT] if counts else None
    roles = ColumnRoles(names.get("item"), names.get("annotator"), answer, {}, count=count)
    if "item" in new:
        person = layout.annotator or first_named("annotator", replace(rows, columns=others))
        roles = replace(roles, annotator=roles.annotator or person)
    else:
        derived = () if votes is None else (votes.total, votes.majority)
        roles, items = _item_roles(rows, layout, {*columns, *people.values(), *derived}, roles)
        others[str(roles.item)] = items
    nothing = Column(pa.array([], pa.string()), np.full(rows.n_rows, -1))
    for question, of in questions.items():
        new[question] = cells_of([rows.columns[of[s]] if s in of else nothing for s in slots])
    (of_slot, *more) = questions.values()
    labels = [" ".join(slot) if more else of_slot[slot] for slot in slots]
    place, n_each = rows.place, len(labels)
    spread = {name: Column(c.values, np.repeat(c.codes, n_each)) for name, c in others.items()}
    orders = {q: {rows.orders.get(name) for name in of.values()} for q, of in questions.items()}
    long_rows = replace(
        rows,
        columns={**spread, **{names[name]: column for name, column in new.items()}},
        place=lambda row: f"{place(row // n_each)}, column {labels[row % n_each]!r}",
        sets=frozenset(names[q] for q, of in questions.items() if rows.sets & set(of.values())),
        orders={names[q]: one for q, (one, *two) in orders.items() if one and not two},
    )
    kind = "a row for each annotator" if "item" in new else "vote table" if counts else "wide table"
    headers = [str(layout.annotator)] if people else [" ".join(slot) for slot in slots]
    return Form(long_rows, roles, layout, kind, tuple(columns if counts else headers), votes)


def _slot(parts: Parts) -> Slot:
    return tuple(text for part, text in parts.items() if part != "question")


def _tiled(names: Sequence[str], n_rows: int) -> Column:
    """These names, in this order, for each row."""
    distinct = list(dict.fromkeys(names))
    codes = np.tile(np.array([distinct.index(name) for name in names], np.int32), n_rows)
    return Column(pa.array(distinct, pa.string()), codes)


# ---- tables with a row for each item ----


def _item_roles(
    rows: Rows, layout: Layout, taken: set[str | None], roles: ColumnRoles
) -> tuple[ColumnRoles, Column]:
    """The roles of the columns that are about items, and the items."""
    taken = taken | layout.of_items
    item, items, why = _items(rows, taken, layout)
    taken = taken | {item}
    shown = shown_columns(rows, layout, item, taken)
    why_content = BY_NAME
    if not shown and layout.text is None:  # a text for each item, whatever it is called
        texts = [
            name
            for name, column in rows.columns.items()
            if name not in taken and name not in rows.sets and column.first_blank is None
            if column.is_text and 2 * len(column.values) > rows.n_rows
        ]
        shown = {"text": texts[0]} if len(texts) == 1 else {name: name for name in texts}
        why_content = "a text for each item"
    taken = taken | {*shown.values()}
    gold = gold_columns(rows, layout, roles.answer, taken, items)
    split = first_named("split", rows, {*taken, *gold.values()}, lambda c: one_each(c, items))
    reasons = {} if item is None else {item: ("item", why)}
    reasons |= {name: ("content", why_content) for name in shown.values()}
    reasons |= {name: ("gold", BY_NAME) for name in gold.values()}
    reasons |= {split: ("split", BY_NAME)} if split else {}
    item = item or free_name("item", rows.columns)
    return replace(roles, item=item, shown=shown, gold=gold, split=split, reasons=reasons), items


def _items(rows: Rows, taken: set[str | None], layout: Layout) -> tuple[str | None, Column, str]:
    """The column that names the items, its content, and why: one with a known name, the unnamed
    index, one that never repeats, or row numbers.

    An `id` must never repeat, a `task` may; a name is a word or a whole number, not a text.
    """

    def names_items(name: str) -> bool:
        column = rows.columns[name]
        if column.is_bytes or column.first_blank is not None:
            return False
        several = len(column.values) > 1 or rows.n_rows == 1
        return column.is_unique if plain(name) in WEAK else several

    def never_repeats(name: str) -> bool:
        column = rows.columns[name]
        if name in taken or name in rows.sets or not column.is_unique or rows.n_rows < 3:
            return False
        numbers = column.numbers()
        return not column.is_text and (numbers is None or bool((numbers % 1 == 0).all()))

    name = layout.item or next(filter(names_items, candidates("item", rows, taken)), None)
    if name is not None:
        return name, items_of(rows, name, {}), BY_NAME
    if rows.index is not None and rows.index.is_unique:
        return None, rows.index, ""
    name = next(filter(never_repeats, rows.columns), None)
    if name is not None:
        return name, items_of(rows, name, {}), "another value in every row"
    return None, numbered(rows.n_rows), ""


# ---- cells that contain several answers ----


def _exploded_cells(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """The table with a row for each answer in a cell, and the layout that names its columns."""
    answers = layout.answer or ()
    if not answers and not (layout.cells == "lists" and layout.annotator):
        raise DataError(
            f"{rows.path}: cells={layout.cells!r} says what a cell of an answer contains; name its "
            "column (answer=, --answer)"
        )
    rows.check([one.partition(".")[0] if layout.cells == "records" else one for one in answers])
    if layout.cells in ("keys", "counts") and len(answers) != 1:
        raise DataError(f"{rows.path}: name one column of objects (answer=, --answer)")
    named = [name for name in candidates("item", rows) if rows.columns[name].is_unique]
    if layout.item is None and layout.text is None and not named:
        index = rows.index if rows.index is not None and rows.index.is_unique else None
        name = free_name("item", rows.columns)
        rows = replace(rows, columns={name: index or numbered(rows.n_rows), **rows.columns})
    changes: dict[str, Any] = {}
    if layout.cells == "lists":
        long_rows = _of_lists(rows, layout)
    elif layout.cells == "records":
        long_rows, changes = _of_records(rows, layout)
    elif layout.cells == "digits":
        texts = {name: rows.columns[name].array().to_pylist() for name in answers}
        digits = {n: [list((cell or "").strip()) for cell in cells] for n, cells in texts.items()}
        note = f"{', '.join(answers)}: each digit is an answer"
        long_rows = _exploded(rows, digits, set(answers), note)
    else:
        long_rows, changes = _of_objects(rows, layout)
    layout = layout.with_changes(cells="values", **changes)
    long_rows, notes = without_blank_columns(long_rows, layout)
    return replace(long_rows, notes=(*long_rows.notes, *notes)), layout


def _parsed(rows: Rows, name: str, kind: Any, what: str) -> list[Any]:
    """The list or object of each row, None for a blank; anything else is refused."""
    column = rows.columns[name]
    values = [parsed_cell(text) for text in column.values.to_pylist()]
    wrong = next((code for code, value in enumerate(values) if not isinstance(value, kind)), None)
    if wrong is not None:
        row = int((column.codes == wrong).argmax())
        raise DataError(f"{rows.at(row)}: {name!r} is no {what}, found {column[row][:40]!r}")
    return [(*values, None)[code] for code in column.codes.tolist()]


def _of_lists(rows: Rows, layout: Layout) -> Rows:
    """Lists with an entry for each annotator, and all other lists that are as long."""
    stated = [*([layout.annotator] if layout.annotator else []), *(layout.answer or ())]
    rows.check(stated)
    columns = {name: _parsed(rows, name, list, "list") for name in stated}
    sizes = _lengths(columns[stated[0]])
    for name, column in rows.columns.items():
        cells = columns.get(name) or parsed_column(column)
        if cells is None or not all(isinstance(one, list | None) for one in cells):
            continue
        different = _lengths(cells) != sizes
        usual = is_named(name, "answer") and different.mean() < 0.5
        if different.any() and (name in stated or usual):
            row = int(different.argmax())
            raise DataError(
                f"{rows.at(row)}: {sizes[row]} entries in {stated[0]!r}, but "
                f"{len(cells[row] or ())} in {name!r}; write one for each annotator"
            )
        if not different.any():
            columns[name] = cells
    together = [name for name in rows.columns if name in columns]
    note = f"{', '.join(together)}: lists with an entry for each annotator, read as rows"
    if layout.annotator is None:
        note = f"{together[0]}: lists of answers of unknown annotators"
    return _exploded(rows, columns, set(columns), note)


def _of_objects(rows: Rows, layout: Layout) -> tuple[Rows, dict[str, Any]]:
    """Objects with an answer for each annotator, or with a number of answers for each value."""
    (name,) = layout.answer or ("",)
    objects = _parsed(rows, name, dict, "object")
    pairs = [[(k, v) for k, v in (one or {}).items() if v is not None] for one in objects]
    keys, values = [[k for k, _ in one] for one in pairs], [[v for _, v in one] for one in pairs]
    if layout.cells == "counts":
        others = {free_name(n, [COUNT]) if n == COUNT else n: c for n, c in rows.columns.items()}
        note = f"{name}: objects with a number of answers for each value"
        rows = _exploded(replace(rows, columns=others), {name: keys, COUNT: values}, {name}, note)
        return rows, {"annotator": None, "format": "long"}
    person = free_name("annotator", rows.columns)
    every = dict.fromkeys(key for one in keys for key in one)
    note = f"{name}: objects with an answer for each annotator ({listed(every)}), read as rows; "
    note += "if these are questions, name them (answer=, --answer)"
    return _exploded(rows, {person: keys, name: values}, {name}, note), {"annotator": person}


def _of_records(rows: Rows, layout: Layout) -> tuple[Rows, dict[str, Any]]:
    """A list of objects in each cell, whose keys are columns; `column.key` names an answer."""
    stated = [name.partition(".") for name in layout.answer or ()]
    name = stated[0][0]
    values = _parsed(rows, name, list | dict, "list of objects")
    cells = [[] if value is None else as_records(value) for value in values]
    entries = [entry for cell in cells for entry in cell or ()]
    if None in cells or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{rows.path}: {name!r} is no list of objects")
    keys = list(dict.fromkeys(str(key) for entry in entries for key in entry))
    others = set(rows.columns) - {name}
    columns: dict[str, list[Entries]] = {
        f"{name}.{key}" if key in others else key: [
            [e.get(key) for e in cell or ()] for cell in cells
        ]
        for key in keys
    }
    note = f"{name}: lists with an entry for each annotator, read as rows"
    long_rows = _exploded(rows, columns, {name}, note)
    answers = [key for _, _, key in stated if key]
    if not answers and not any(plain(key) in NAMES["annotator"] for key in keys):
        new = {key: long_rows.columns[key] for key in columns if not is_about_answers(key)}
        answers = [
            key
            for key, one in new.items()
            if one.is_like_a_scale and 1 < len(one.values) <= (one.codes >= 0).sum() / 2
        ]
    return long_rows, {"answer": tuple(answers) or None}


def _lengths(cells: list[Entries]) -> np.ndarray:
    """How many entries each row has, (n_rows,)."""
    return np.array([len(cell or ()) for cell in cells], dtype=np.int64)


def _exploded(rows: Rows, columns: Mapping[str, list[Any]], replaced: set[str], note: str) -> Rows:
    """The table with a row for each entry of these columns, which replace others."""
    source = np.repeat(np.arange(rows.n_rows), _lengths(next(iter(columns.values()))))
    if not len(source):
        raise DataError(f"{rows.path}: every list of {next(iter(replaced))!r} is empty")
    kept = {name: column for name, column in rows.columns.items() if name not in replaced}
    new = {name: Column(column.values, column.codes[source]) for name, column in kept.items()}
    sets = set(rows.sets) - replaced
    for name, cells in columns.items():
        entries = [entry for cell in cells for entry in cell or ()]
        as_sets = any(isinstance(entry, list) for entry in entries)
        texts = [None if e is None else set_text(e) if as_sets else value_text(e) for e in entries]
        new[name] = Column.of(pa.array(texts, pa.string()))
        sets |= {name} if as_sets else set()
    place = rows.place
    return replace(
        rows,
        columns=new,
        sets=frozenset(sets),
        place=lambda row: place(int(source[row])),
        index=None,
        notes=(*rows.notes, note),
    )
