"""Tables with one row per item: the roles of their columns, and several columns as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import WEAK, candidates, first_named, plain
from dissensus.readers.tables.column_roles import (
    BY_NAME,
    ColumnRoles,
    items_of,
    one_each,
    shown_columns,
)
from dissensus.readers.tables.explanations import is_text
from dissensus.readers.tables.rows import Column, Rows


def item_roles(
    rows: Rows, options: Layout, taken: set[str], added: str
) -> tuple[ColumnRoles, Column]:
    """The roles of the columns once each cell of `taken` has its own row, and the items.

    Args:
        taken: the columns that have a role already.
        added: the role of the column that is added next to the answers, "annotator" or "count".
    """
    named = {name for name in (options.item, options.gold) if name} | set(options.text or ())
    item, items = _items(rows, {*named, *taken}, options)
    shown = shown_columns(rows, options, item, {*named, *taken, item})
    reasons = {} if item is None else {item: ("item", _why_item(rows, item, options))}
    why_content = BY_NAME
    if not shown and options.text is None:
        shown, why_content = _texts(rows, {*named, *taken, item}), "a text for each item"
    reasons |= {name: ("content", why_content) for name in shown.values()}
    taken = {*taken, *shown.values()} | ({item} if item else set())

    def fits(column: Column) -> bool:
        return one_each(column, items)

    gold = options.gold or first_named("gold", rows, taken, fits)
    split = first_named("split", rows, {*taken, gold}, fits)
    labels = {gold: "gold", split: "split"}
    reasons |= {name: (role, BY_NAME) for name, role in labels.items() if name}
    answer, new, numbered = (free_name(name, rows.columns) for name in ("answer", added, "item"))
    roles = ColumnRoles(
        item or numbered,
        new if added == "annotator" else None,
        (answer,),
        shown,
        gold={answer: gold} if gold else {},
        count=new if added == "count" else None,
        split=split,
        reasons=reasons,
    )
    return roles, items


def _why_item(rows: Rows, item: str, options: Layout) -> str:
    by_name = item == options.item or item in candidates("item", rows)
    return BY_NAME if by_name else "another value in every row"


def _texts(rows: Rows, taken: set[str | None]) -> dict[str, str]:
    """Role -> column, for columns with a text for each item, whatever they are called."""
    names = [
        name
        for name, column in rows.columns.items()
        if name not in taken
        and name not in rows.sets
        and column.first_blank is None
        and is_text(column)
        and 2 * len(column.values) > rows.n_rows
    ]
    return {"text": names[0]} if len(names) == 1 else {name: name for name in names}


def spread(rows: Rows, columns: Sequence[str], items: Column, roles: ColumnRoles) -> Rows:
    """The table with a row for each item and each of these columns, whose cells are left out."""
    others = {name: column for name, column in rows.columns.items() if name not in columns}
    others[str(roles.item)] = items
    return replace(
        rows,
        columns={
            name: Column(column.values, np.repeat(column.codes, len(columns)))
            for name, column in others.items()
        },
        place=lambda row: (
            f"{rows.place(row // len(columns))}, column {columns[row % len(columns)]!r}"
        ),
        sets=frozenset(),
        orders={},
    )


def cells_of(columns: list[Column]) -> Column:
    """Columns of one length as a single one, row by row."""
    values = pa.concat_arrays([column.values.cast(pa.string()) for column in columns])
    encoded = values.dictionary_encode()
    new = np.append(encoded.indices.to_numpy(zero_copy_only=False), -1)
    starts = np.cumsum([0, *(len(column.values) for column in columns)])
    codes = [
        new[np.where(column.codes < 0, -1, column.codes + start)]
        for column, start in zip(columns, starts, strict=False)
    ]
    return Column(encoded.dictionary, np.stack(codes, axis=1).ravel())


def repeated(names: Sequence[str], n_rows: int) -> Column:
    """These names, in this order, for each row."""
    codes = np.tile(np.arange(len(names), dtype=np.int32), n_rows)
    return Column(pa.array(names, pa.string()), codes)


def _items(rows: Rows, taken: set[str], options: Layout) -> tuple[str | None, Column]:
    """The column that names the items, and its content: one with a known name, the unnamed index,
    one that never repeats, or row numbers."""
    name = options.item or next(
        (name for name in candidates("item", rows, taken) if _names_items(rows, name)), None
    )
    if name is not None:
        return name, items_of(rows, name, {})
    index = rows.index
    if index is not None and not index.is_bytes and len(index.values) == rows.n_rows:
        return None, index
    name = next(
        (name for name in rows.columns if name not in taken and _never_repeats(rows, name)), None
    )
    if name is not None:
        return name, items_of(rows, name, {})
    numbers = np.arange(rows.n_rows)
    return None, Column(pa.array(numbers).cast(pa.string()), numbers)


def _never_repeats(rows: Rows, name: str) -> bool:
    """Whether a column has another name in every row: words or whole numbers, not a text."""
    column = rows.columns[name]
    if column.is_bytes or name in rows.sets or len(column.values) < max(rows.n_rows, 3):
        return False
    numbers = column.numbers()
    return not is_text(column) and (numbers is None or bool((numbers % 1 == 0).all()))


def _names_items(rows: Rows, name: str) -> bool:
    """Whether a column distinguishes items: an `id` must never repeat, a `task` may."""
    column = rows.columns[name]
    if column.is_bytes or column.first_blank is not None:
        return False
    if plain(name) in WEAK:
        return len(column.values) == rows.n_rows
    return len(column.values) > 1 or rows.n_rows == 1


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name
