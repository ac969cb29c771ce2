"""Extra rows and columns: blank ones, totals and copies of a row, which are no answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.errors import DataError, counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.annotator_columns import is_named_like_an_annotator
from dissensus.readers.tables.assignments import take_rows
from dissensus.readers.tables.column_names import NAMES, plain
from dissensus.readers.tables.rows import Rows

MOST_TOTALS = 5  # rows at the end of a table that are looked at
TOTALS = frozenset(
    "total totals subtotal sum mean average avg median count overall gesamt summe totale moyenne "
    "all".split()
) | {"grand total"}


def without_blank_rows(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows that have a filled cell, and a note about the others."""
    blank = np.ones(rows.n_rows, dtype=bool)
    for column in rows.columns.values():
        blank &= column.codes < 0
    if not blank.any():
        return rows, []
    if blank.all():
        raise DataError(f"{rows.path}: all {counted(rows.n_rows, 'row')} are blank")
    first = rows.place(int(blank.argmax()))
    note = f"{rows.name}: {counted(int(blank.sum()), 'blank row')} skipped, the first in {first}"
    return take_rows(rows, ~blank), [note]


def without_blank_columns(rows: Rows, layout: Layout) -> tuple[Rows, list[str]]:
    """The columns that have a filled cell, or a known name, and a note about the others."""
    named = layout.columns_named.values()
    kept = {name for one in named for name in ([one] if isinstance(one, str) else one)}
    known = {name for part in NAMES.values() for name in part}
    blank = [
        name
        for name, column in rows.columns.items()
        if not len(column.values)
        and name not in kept
        and plain(name) not in known
        and not is_named_like_an_annotator(name)
    ]
    if not blank:
        return rows, []
    columns = {name: column for name, column in rows.columns.items() if name not in blank}
    note = f"{rows.name}: {counted(len(blank), 'blank column')} left out: {listed(blank, 5)}"
    return replace(rows, columns=columns), [note]


def without_totals(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows without those at the end that sum up the others, and a note about these.

    Such a row begins with a word such as "Total", and is blank in a column that no other row is.
    """
    n_kept = rows.n_rows
    while n_kept > max(1, rows.n_rows - MOST_TOTALS) and _is_total(rows, n_kept - 1):
        n_kept -= 1
    if n_kept == rows.n_rows:
        return rows, []
    note = (
        f"{rows.name}: {counted(rows.n_rows - n_kept, 'row')} of totals left out: "
        f"{rows.place(n_kept)}, {_first_cell(rows, n_kept)!r}"
    )
    return take_rows(rows, np.arange(rows.n_rows) < n_kept), [note]


def copies(rows: Rows) -> np.ndarray:
    """Whether each row is the same as one above it in every column, (n_rows,)."""
    groups = np.zeros(rows.n_rows, dtype=np.int64)
    for column in rows.columns.values():
        pairs = groups * (len(column.values) + 1) + column.codes + 1
        groups = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    repeated = np.ones(rows.n_rows, dtype=bool)
    repeated[np.unique(groups, return_index=True)[1]] = False
    return repeated


def _is_total(rows: Rows, row: int) -> bool:
    above = slice(0, row)
    return _first_cell(rows, row).strip().rstrip(":").casefold() in TOTALS and any(
        column.codes[row] < 0 and bool((column.codes[above] >= 0).all())
        for column in rows.columns.values()
    )


def _first_cell(rows: Rows, row: int) -> str:
    cells = (column[row] for column in rows.columns.values() if not column.is_bytes)
    return next((cell for cell in cells if cell is not None), "")
