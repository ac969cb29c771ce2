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
from dissensus.readers.tables.answer_cells import as_records, parsed_cell, parsed_column
from dissensus.readers.tables.cleaning import without_blank_columns
from dissensus.readers.tables.column_names import (
    NAMES,
    WEAK,
    candidates,
    first_named,
    is_about_answers,
    is_named,
    kind_of,
    plain,
)
from dissensus.readers.tables.column_roles import (
    ColumnRoles,
    find_roles,
    gold_columns,
    items_of,
    shown_columns,
)
from dissensus.readers.tables.proposals import COLUMN, columns_of_annotators
from dissensus.readers.tables.rows import Column, Rows, cells_of, free_name, numbered
from dissensus.readers.tables.structure import BY_NAME
from dissensus.readers.tables.vote_columns import Votes, votes_of

Slot = tuple[str, ...]
Parts = dict[str, str]  # what the name of a column contains: annotator, item, question, value, k
LONG, WIDE, VOTES = "long table", "wide table", "vote table"
COUNT = "count"  # a name for numbers of answers that every table recognises
MOST_CELLS = 200_000_000  # of a table with a row for each answer
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
        columns = {name: {"value": value} for name, value in votes.counts.items()}
    else:
        columns = _columns_with_parts(rows, layout)
    if columns:
        return _melted(rows, layout, columns, votes)
    exploded = (rows, layout) if layout.cells == "values" else _exploded(rows, layout)
    return Form(*find_roles(*exploded), layout)


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
    free = [name for name in rows.columns if name not in (layout.item, layout.annotator)]
    for pattern in answers or ("{annotator}",):  # the question is called Score in Score{k}
        question = _stem(pattern) or "answer"
        for name, parts in matching(pattern, free, rows.path).items():
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
    rows.check(sorted(name for name in layout.of_items if not _PART.search(name)))
    if both := sorted(layout.of_items & columns.keys()):
        raise DataError(f"{rows.path}: {both[0]!r} is named as an annotator and as something else")
    rows.check_texts(columns, "answers")
    slots = {_slot(parts): parts for parts in columns.values()}
    questions: dict[str, dict[Slot, str]] = {}
    for name, parts in columns.items():
        questions.setdefault(parts.get("question", "answer"), {})[_slot(parts)] = name
    texts = {_stem(text): text for text in layout.text or () if _PART.search(text)}
    beside: dict[str, dict[Slot, str]] = {}  # what the columns beside those of answers contain
    for part, pattern in {"annotator": layout.annotator, "item": layout.item, **texts}.items():
        if pattern and pattern != COLUMN and _PART.search(pattern):
            fitting = matching(pattern, rows.columns, rows.path)
            of = beside[part] = {_slot(parts): name for name, parts in fitting.items()}
            if missing := [" ".join(slot) for slot in slots if slot not in of]:
                raise DataError(f"{rows.path}: {pattern!r} has no column for {listed(missing, 5)}")
    used = {*columns, *(name for of in beside.values() for name in of.values())}
    others = {name: one for name, one in rows.columns.items() if name not in used}
    new = {
        role: _tiled([parts[role] for parts in slots.values()], rows.n_rows)
        for role in ("annotator", "item", "value")
        if all(role in parts for parts in slots.values())
    }
    for part, of in beside.items():
        new[part] = cells_of([rows.columns[of[slot]] for slot in slots])
    if counts := "value" in new:
        if len(questions) > 1:
            raise DataError(f"{rows.path}: {listed(questions)}: counts are of one question")
        new["answer"], questions = new.pop("value"), {COUNT: next(iter(questions.values()))}
    names = {name: free_name(name, others) for name in (*new, *questions)}
    answer = tuple(names[name] for name in (["answer"] if counts else questions))
    count = names[COUNT] if counts else None
    shown = {kind_of(text) if len(texts) == 1 else text: names[text] for text in texts}
    roles = ColumnRoles(names.get("item"), names.get("annotator"), answer, shown, count=count)
    if "item" in new:
        person = layout.annotator or first_named("annotator", replace(rows, columns=others))
        roles = replace(roles, annotator=roles.annotator or person)
    else:
        derived = () if votes is None else (votes.total,)
        roles, items = _item_roles(rows, layout, {*used, *derived}, roles)
        others[str(roles.item)] = items
    nothing = Column(pa.array([], pa.string()), np.full(rows.n_rows, -1))
    for question, of in questions.items():
        new[question] = cells_of([rows.columns[of[s]] if s in of else nothing for s in slots])
    (of_slot, *more) = questions.values()
    labels = [" ".join(slot) if more else of_slot[slot] for slot in slots]
    place, n_each = rows.place, len(labels)
    kept = np.any([new[question].codes >= 0 for question in questions], axis=0)
    if "item" not in new:
        kept[::n_each] = True  # an item without answers is one, too
    where = np.flatnonzero(kept & (new["item"].codes >= 0) if "item" in beside else kept)
    if (n_cells := len(where) * len(others)) > MOST_CELLS:
        raise DataError(
            f"{rows.path}: {len(where):,} answers in {n_each:,} columns, and {len(others):,} other "
            f"columns, are {n_cells:,} cells, more than {MOST_CELLS:,}; name the columns of "
            "annotators (annotators=, --annotator-columns), or leave some out (ignore= of a layout)"
        )
    spread = {name: Column(c.values, c.codes[where // n_each]) for name, c in others.items()}
    if "item" in new and not kept.all():  # annotators without answers are none
        spread = {name: c if c.is_bytes else Column.of(c.array()) for name, c in spread.items()}
    new = {name: Column(c.values, c.codes[where]) for name, c in new.items()}
    orders = {q: {rows.orders.get(name) for name in of.values()} for q, of in questions.items()}
    long_rows = replace(
        rows,
        columns={**spread, **{names[name]: column for name, column in new.items()}},
        place=lambda row: f"{place(where[row] // n_each)}, column {labels[where[row] % n_each]!r}",
        index=None,
        sets=frozenset(names[q] for q, of in questions.items() if rows.sets & set(of.values())),
        orders={names[q]: one for q, (one, *two) in orders.items() if one and not two},
    )
    kind = "a row for each annotator" if "item" in new else VOTES if counts else WIDE
    patterns = [str(getattr(layout, part)) for part in ("item", "annotator") if part in beside]
    headers = patterns or [" ".join(slot) for slot in slots]
    return Form(long_rows, roles, layout, kind, tuple(columns if counts else headers), votes)


def _stem(pattern: str) -> str:
    """What is around the parts of a pattern, as a name: Score of Score{k}."""
    bare = re.sub(r"\[\s*\]|\(\s*\)", " ", _PART.sub(" ", pattern))
    return " ".join(bare.split()).strip(" _-.:|")


def _slot(parts: Parts) -> Slot:
    return tuple(text for part, text in parts.items() if part != "question")


def _tiled(names: Sequence[str], n_rows: int) -> Column:
    """These names, in this order, for each row."""
    distinct = list(dict.fromkeys(names))
    code = {name: code for code, name in enumerate(distinct)}
    codes = np.tile(np.array([code[name] for name in names], np.int32), n_rows)
    return Column(pa.array(distinct, pa.string()), codes)


# ---- tables with a row for each item ----


def _item_roles(
    rows: Rows, layout: Layout, taken: set[str | None], roles: ColumnRoles
) -> tuple[ColumnRoles, Column]:
    """The roles of the columns that are about items, and the items."""
    taken = taken | layout.of_items
    item, items, why = _items(rows, taken, layout)
    taken |= {item}
    shown = shown_columns(rows, layout, item, taken)
    why_content = BY_NAME
    if not shown and layout.text is None:  # a text for each item, whatever it is called
        others = {*taken, *rows.sets}
        free = {n: one for n, one in rows.columns.items() if n not in others}
        texts = [n for n, one in free.items() if one.is_text and 2 * len(one.values) > len(one)]
        shown = {"text": texts[0]} if len(texts) == 1 else {name: name for name in texts}
        why_content = "a text for each item"
    taken |= {*shown.values()}
    gold = gold_columns(rows, layout, roles.answer, taken, items)
    taken |= {*gold.values()}
    split = first_named("split", rows, taken, lambda column: column.conflict(items) is None)
    reasons = {item: ("item", why)} if item else {}
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

    def is_name(name: str) -> bool:
        column = rows.columns[name]
        several = len(column.values) > 1 or rows.n_rows == 1
        repeats = plain(name) not in WEAK and column.is_filled and several
        return not column.is_bytes and (column.is_unique or repeats)

    index = rows.index if rows.index is not None and rows.index.is_unique else None
    if by_name := layout.item or next(filter(is_name, candidates("item", rows, taken)), None):
        return by_name, items_of(rows, by_name, {}), BY_NAME
    for name, column in rows.columns.items() if index is None and rows.n_rows > 2 else ():
        if name not in (*taken, *rows.sets) and column.is_unique and not column.is_text:
            numbers = column.numbers()
            if numbers is None or (numbers % 1 == 0).all():
                return name, column, "another value in every row"
    return None, index or numbered(rows.n_rows), ""


# ---- cells that contain several answers ----

Entries = dict[str, list[Any]]  # of new columns: a list for each row of the table
Exploded = tuple[Entries, str, dict[str, Any]]  # and a note, and changes of the layout


def _exploded(rows: Rows, layout: Layout) -> tuple[Rows, Layout]:
    """The table with a row for each answer in a cell, and the layout that names its columns."""
    kind, answers = layout.cells, layout.answer or ()
    stated = [one.partition(".")[0] if kind == "records" else one for one in answers]
    if kind == "lists" and layout.annotator:
        stated = [layout.annotator, *stated]
    if not stated:
        raise DataError(
            f"{rows.path}: cells={kind!r} says what a cell of an answer contains; name its column "
            "(answer=, --answer)"
        )
    rows.check(stated)
    if kind in ("keys", "counts") and len(stated) != 1:
        raise DataError(f"{rows.path}: name one column of objects (answer=, --answer)")
    named = [name for name in candidates("item", rows) if rows.columns[name].is_unique]
    if layout.item is None and layout.text is None and not named:
        index = rows.index if rows.index is not None and rows.index.is_unique else None
        item = {free_name("item", rows.columns): index or numbered(rows.n_rows)}
        rows = replace(rows, columns=item | rows.columns)
    if kind == "counts" and COUNT in rows.columns:  # it counts something else
        columns = rows.columns.items()
        rows = replace(rows, columns={f"{n}_" if n == COUNT else n: one for n, one in columns})
    entries, note, changes = _ENTRIES[kind](rows, layout, stated)
    source = np.repeat(np.arange(rows.n_rows), [len(one) for one in next(iter(entries.values()))])
    if not len(source):
        raise DataError(f"{rows.path}: every list of {stated[0]!r} is empty")
    others = rows.without({*stated, *entries}).columns
    new = {name: Column(one.values, one.codes[source]) for name, one in others.items()}
    sets, place = set(rows.sets) & new.keys(), rows.place
    for name, cells in entries.items():
        every = [entry for cell in cells for entry in cell]
        sets |= {name} if any(isinstance(entry, list) for entry in every) else set()
        write = set_text if name in sets else value_text
        texts = [None if entry is None else write(entry) for entry in every]
        new[name] = Column.of(pa.array(texts, pa.string()))
    long_rows = replace(
        rows,
        columns=new,
        sets=frozenset(sets),
        place=lambda row: place(int(source[row])),
        index=None,
    )
    if kind == "records":
        changes = {"answer": _keys_of_answers(long_rows, layout, entries)}
    layout = layout.with_changes(cells="values", **changes)
    long_rows, notes = without_blank_columns(long_rows, layout)
    return replace(long_rows, notes=(*rows.notes, note, *notes)), layout


def _parsed(rows: Rows, name: str, kind: Any, what: str) -> list[Any]:
    """The list or object of each row, an empty list for a blank; anything else is refused."""
    column = rows.columns[name]
    values = [parsed_cell(text) for text in column.values.to_pylist()]
    wrong = next((code for code, value in enumerate(values) if not isinstance(value, kind)), None)
    if wrong is not None:
        row = int((column.codes == wrong).argmax())
        raise DataError(f"{rows.at(row)}: {name!r} is no {what}, found {column[row][:40]!r}")
    return [(*values, [])[code] for code in column.codes.tolist()]


def _lists(rows: Rows, layout: Layout, stated: list[str]) -> Exploded:
    """Lists with an entry for each annotator, and all other lists that are as long."""
    entries = {name: _parsed(rows, name, list, "list") for name in stated}
    sizes = np.array([len(one) for one in entries[stated[0]]])
    for name, column in rows.columns.items():
        cells = entries.get(name) or parsed_column(column) or [{}]
        if not all(isinstance(one, list | None) for one in cells):
            continue
        different = np.array([len(one or ()) for one in cells]) != sizes
        if not different.any():
            entries[name] = [one or [] for one in cells]
        elif name in stated or (is_named(name, "answer") and different.mean() < 0.5):
            row = int(different.argmax())
            raise DataError(
                f"{rows.at(row)}: {sizes[row]} entries in {stated[0]!r}, but "
                f"{len(cells[row] or ())} in {name!r}; write one for each annotator"
            )
    entries = {name: entries[name] for name in rows.columns if name in entries}
    if layout.annotator is None:
        return entries, f"{next(iter(entries))}: lists of answers of unknown annotators", {}
    return (
        entries,
        f"{', '.join(entries)}: lists with an entry for each annotator, read as rows",
        {},
    )


def _digits(rows: Rows, layout: Layout, stated: list[str]) -> Exploded:
    texts = {name: rows.columns[name].array().to_pylist() for name in stated}
    digits = {n: [list((cell or "").strip()) for cell in cells] for n, cells in texts.items()}
    return digits, f"{', '.join(digits)}: each digit is an answer", {}


def _objects(rows: Rows, layout: Layout, stated: list[str]) -> Exploded:
    """Objects with an answer for each annotator, or with a number of answers for each value."""
    (name,) = stated
    objects = [dict(one) for one in _parsed(rows, name, dict, "object")]
    keys = [[key for key, value in one.items() if value is not None] for one in objects]
    values = [[value for value in one.values() if value is not None] for one in objects]
    if layout.cells == "counts":
        note = f"{name}: objects with a number of answers for each value"
        return {name: keys, COUNT: values}, note, {"annotator": None, "format": "long"}
    person = free_name("annotator", rows.columns)
    every = dict.fromkeys(key for one in keys for key in one)
    note = f"{name}: objects with an answer for each annotator ({listed(every)}), read as rows; "
    note += "if these are questions, name them (answer=, --answer)"
    return {person: keys, name: values}, note, {"annotator": person}


def _records(rows: Rows, layout: Layout, stated: list[str]) -> Exploded:
    """A list of objects in each cell, whose keys are columns; `column.key` names an answer."""
    name = stated[0]
    cells = [as_records(one) for one in _parsed(rows, name, list | dict, "list of objects")]
    lists = [cell for cell in cells if cell is not None]
    every = [entry for cell in lists for entry in cell]
    if len(lists) < len(cells) or not all(isinstance(entry, dict) for entry in every):
        raise DataError(f"{rows.path}: {name!r} is no list of objects")
    keys = {str(key): key for entry in every for key in entry}
    names = {key: f"{name}.{key}" if key in rows.columns and key != name else key for key in keys}
    entries = {names[key]: [[one.get(key) for one in cell] for cell in lists] for key in keys}
    return entries, f"{name}: lists with an entry for each annotator, read as rows", {}


def _keys_of_answers(rows: Rows, layout: Layout, keys: Entries) -> tuple[str, ...] | None:
    """The keys that are answers: those that are stated, or whose values are those of a scale; None
    if the annotator is known."""
    answers = [key for _, _, key in (one.partition(".") for one in layout.answer or ()) if key]
    if not answers and not any(plain(key) in NAMES["annotator"] for key in keys):
        new = {key: rows.columns[key] for key in keys if not is_about_answers(key)}
        answers = [
            key
            for key, one in new.items()
            if one.is_like_a_scale and 1 < len(one.values) <= (one.codes >= 0).sum() / 2
        ]
    return tuple(answers) or None


_ENTRIES = {
    "lists": _lists,
    "digits": _digits,
    "keys": _objects,
    "counts": _objects,
    "records": _records,
}
