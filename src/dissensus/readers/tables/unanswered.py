"""Tables without answers, such as new texts to predict: each row is an item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import candidates
from dissensus.readers.tables.column_roles import shown_columns
from dissensus.readers.tables.rows import Column, Rows


def with_items(rows: Rows, options: Layout) -> tuple[Rows, Layout]:
    """The table with a column that names each row, and the options that name this column.

    It is the one that is called like items, or the first column if its entries are distinct. If
    there is none and a content occurs twice, rows are numbered.
    """
    if options.item is not None or options.answer != ():
        return rows, options
    shown = set(shown_columns(rows, options, None, set()).values())
    first = next(iter(rows.columns))
    names = [*candidates("item", rows, shown), *([] if first in shown else [first])]
    item = next((name for name in names if _names_rows(rows.columns[name])), None)
    if item is not None:
        return rows, replace(options, item=item)
    if not shown or any(_names_rows(rows.columns[name]) for name in shown):
        return rows, options
    name = "row"
    while name in rows.columns:
        name += "_"
    numbers = Column(pa.array([str(n + 1) for n in range(rows.n_rows)]), np.arange(rows.n_rows))
    return replace(rows, columns={name: numbers, **rows.columns}), replace(options, item=name)


def _names_rows(column: Column) -> bool:
    """Whether each row has another entry."""
    return not column.is_bytes and len(column.values) == len(column)
