"""Extra rows and columns: blank ones, totals and copies of a row, which are no answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.corpus import LeftOut
from dissensus.errors import DataError, counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import NAMES, WORDS, is_one_annotator, plain
from dissensus.readers.tables.column_roles import ColumnRoles, items_of
from dissensus.readers.tables.dependence import n_distinct_pairs
from dissensus.readers.tables.rows import Rows, combined, take_rows

MOST_TOTALS = 5  # rows at the end of a table that are looked at
TOTALS = WORDS["total"] | {"grand total"}


def cleaned(rows: Rows, layout: Layout) -> tuple[Rows, list[str]]:
    """The table without blank rows, rows of totals and blank columns, and notes about them."""
    rows, blank_rows = _without_blank_rows(rows)
    rows, totals = _without_totals(rows)
    rows, blank_columns = without_blank_columns(rows, layout)
    return rows, [*blank_rows, *totals, *blank_columns]


def _without_blank_rows(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows that have a filled cell, and a note about the others."""
    blank = np.ones(rows.n_rows, dtype=bool)
    for column in rows.columns.values():
        blank &= column.codes < 0
    if not blank.any():
        return rows, []
    if blank.all():
        raise DataError(f"{rows.path}: all {counted(rows.n_rows, 'row')} are blank")
    first = rows.place(int(blank.argmax()))
    note = f"{counted(int(blank.sum()), 'blank row')} skipped, the first in {first}"
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
        and not is_one_annotator(name)
    ]
    if not blank:
        return rows, []
    columns = {name: column for name, column in rows.columns.items() if name not in blank}
    note = f"{counted(len(blank), 'blank column')} left out: {listed(blank, 5)}"
    return replace(rows, columns=columns), [note]


def _without_totals(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows without those at the end that sum up the others, and a note about these.

    Such a row begins with a word such as "Total", and is blank in a column that no other row is.
    """
    n_kept = rows.n_rows
    while n_kept > max(1, rows.n_rows - MOST_TOTALS) and _is_total(rows, n_kept - 1):
        n_kept -= 1
    if n_kept == rows.n_rows:
        return rows, []
    note = (
        f"{counted(rows.n_rows - n_kept, 'row')} of totals left out: "
        f"{rows.place(n_kept)}, {_first_cell(rows, n_kept)!r}"
    )
    return take_rows(rows, np.arange(rows.n_rows) < n_kept), [note]


def without_copies(
    rows: Rows, roles: ColumnRoles, layout: Layout
) -> tuple[Rows, list[str], list[LeftOut]]:
    """The rows without copies of one that is the same in every column, a note and their answers.

    Copies stay if `repeats` says what to do with repeated answers, or if no annotator has several
    rows for an item.
    """
    if roles.annotator is None or layout.repeats != "error":
        return rows, [], []
    items = items_of(rows, roles.item, roles.shown)
    if n_distinct_pairs(items, rows.columns[roles.annotator]) == rows.n_rows:
        return rows, [], []
    repeated = np.ones(rows.n_rows, dtype=bool)
    repeated[np.unique(combined(rows.columns.values()).codes, return_index=True)[1]] = False
    if not repeated.any():
        return rows, [], []
    left = {name: repeated & (rows.columns[name].codes >= 0) for name in roles.answer}
    if roles.question is not None:
        asked, (answered,) = rows.columns[roles.question], left.values()
        names = asked.values.to_pylist()
        left = {name: answered & (asked.codes == code) for code, name in enumerate(names)}
    note = (
        f"{counted(int(repeated.sum()), 'row')} left out that repeat another row in every column, "
        f"the first in {rows.place(int(repeated.argmax()))}; "
        'repeats="keep" (--repeats keep) reads them'
    )
    numbers = [LeftOut(name, "repeated row", int(which.sum())) for name, which in left.items()]
    return take_rows(rows, ~repeated), [note], [one for one in numbers if one.answers]


def _is_total(rows: Rows, row: int) -> bool:
    above = slice(0, row)
    return _first_cell(rows, row).strip().rstrip(":").casefold() in TOTALS and any(
        column.codes[row] < 0 and bool((column.codes[above] >= 0).all())
        for column in rows.columns.values()
    )


def _first_cell(rows: Rows, row: int) -> str:
    cells = (column[row] for column in rows.columns.values() if not column.is_bytes)
    return next((cell for cell in cells if cell is not None), "")
