"""Tables with one row per item: which item each row is, and several columns as one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from dissensus.readers.options import Options
from dissensus.readers.tables.column_names import WEAK, candidates, plain
from dissensus.readers.tables.column_roles import items_of
from dissensus.readers.tables.rows import Column, Rows


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


def wide_items(rows: Rows, taken: set[str], options: Options) -> tuple[str | None, Column]:
    """The column that names the items, and it: a known name, the unnamed index, or row numbers."""
    name = options.item or next(
        (name for name in candidates("item", rows, taken) if _names_items(rows, name)), None
    )
    if name is not None:
        return name, items_of(rows, name, {})
    index = rows.index
    if index is not None and not index.is_bytes and len(index.values) == rows.n_rows:
        return None, index
    numbers = np.arange(rows.n_rows)
    return None, Column(pa.array(numbers).cast(pa.string()), numbers)


def _names_items(rows: Rows, name: str) -> bool:
    """Whether a column tells items apart; an `id` must never repeat, `task` may be one for all."""
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
