"""Cleaning: rows and columns of a table that are no answers.

Blank ones, totals, copies of a row, and the rows that a crowdsourcing platform rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, counted, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import KNOWN, WORDS, is_one_annotator, plain
from dissensus.readers.tables.column_roles import ColumnRoles, items_of
from dissensus.readers.tables.dependence import n_distinct_pairs
from dissensus.readers.tables.rows import Rows, combined, take_rows

MOST_TOTALS = 5  # rows at the end of a table that are looked at
TOTALS = WORDS["total"] | {"grand total"}


def cleaned(rows: Rows, layout: Layout) -> tuple[Rows, list[str]]:
    """The table without blank rows, rows of totals and blank columns, and notes about them."""
    notes = []
    blank = np.all([column.codes < 0 for column in rows.columns.values()], axis=0)
    if blank.all():
        raise DataError(f"{rows.path}: all {counted(rows.n_rows, 'row')} are blank")
    if blank.any():
        first = rows.place(int(blank.argmax()))
        notes = [f"{counted(int(blank.sum()), 'blank row')} skipped, the first in {first}"]
        rows = take_rows(rows, ~blank)
    n_kept = rows.n_rows
    while n_kept > max(1, rows.n_rows - MOST_TOTALS) and _is_below(rows, n_kept - 1):
        n_kept -= 1
    if n_kept < rows.n_rows:
        below = f"{counted(rows.n_rows - n_kept, 'row')} of totals or notes"
        notes += [f"{below} left out, the first in {rows.place(n_kept)}"]
        rows = take_rows(rows, np.arange(rows.n_rows) < n_kept)
    rows, blank_columns = without_blank_columns(rows, layout)
    return rows, [*notes, *blank_columns]


def without_blank_columns(rows: Rows, layout: Layout) -> tuple[Rows, list[str]]:
    """The columns that have a filled cell, or a known name, and a note about the others."""
    stated = layout.named | set(layout.annotators or ())
    blank = [
        name
        for name, column in rows.columns.items()
        if not len(column.values) and name not in stated
        if plain(name) not in KNOWN and not is_one_annotator(name)
    ]
    note = f"{counted(len(blank), 'blank column')} left out: {listed(blank, 5)}"
    return rows.without(blank), [note] if blank else []


def _is_below(rows: Rows, row: int) -> bool:
    """Whether a row is below the table: it has a blank where no row above has, and begins with a
    word for totals, or is one text without what stands first in a row."""
    columns = [column for column in rows.columns.values() if not column.is_bytes]
    filled = [place for place, column in enumerate(columns) if column.codes[row] >= 0]
    body = slice(min(row, max(1, rows.n_rows - MOST_TOTALS)))
    full = [bool((column.codes[body] >= 0).all()) for column in columns]
    if not filled or not any(np.delete(full, filled)):
        return False
    if columns[filled[0]][row].strip().rstrip(":").casefold() in TOTALS:
        return True
    named = rows.index is not None and rows.index.numbers() is None  # each row, as bob,,m is
    return full[0] and len(filled) == 1 and filled[0] > 0 and not named


def without_copies(rows: Rows, roles: ColumnRoles, layout: Layout) -> tuple[Rows, list[LeftOut]]:
    """The rows without copies of one that is the same in every column, and how many answers they
    have; copies stay if `repeats` says what to do with repeated answers."""
    if roles.annotator is None or layout.repeats != "error":
        return rows, []
    items = items_of(rows, roles.item, roles.shown)
    if n_distinct_pairs(items, rows.columns[roles.annotator]) == rows.n_rows:
        return rows, []
    repeated = np.ones(rows.n_rows, dtype=bool)
    repeated[np.unique(combined(rows.columns.values()).codes, return_index=True)[1]] = False
    if not repeated.any():
        return rows, []
    copies = take_rows(rows, repeated).columns
    left = [LeftOut(n, "repeated row", int((copies[n].codes >= 0).sum())) for n in roles.answer]
    if roles.question is not None:
        answered = copies[roles.answer[0]].codes >= 0
        questions = Counter(copies[roles.question].array().filter(pa.array(answered)).to_pylist())
        left = [LeftOut(name, "repeated row", n) for name, n in questions.items()]
    note = (
        f"{counted(int(repeated.sum()), 'row')} left out that repeat another row in every column, "
        f"the first in {rows.place(int(repeated.argmax()))}; "
        'repeats="keep" (--repeats keep) reads them'
    )
    kept = replace(take_rows(rows, ~repeated), notes=(note, *rows.notes))
    return kept, [one for one in left if one.answers]


# ---- assignments of crowdsourcing platforms that were rejected or expired ----


STATUSES = {  # a platform's column -> what it contains where an assignment does not count -> why
    "AssignmentStatus": {"Rejected": "rejected"},
    "ASSIGNMENT:status": {"REJECTED": "rejected", "EXPIRED": "expired", "SKIPPED": "skipped"},
    "_tainted": {"true": "tainted", "TRUE": "tainted"},
}
REJECTED = "Reject"  # a column that is filled in where an assignment of the first is rejected


def without_rejected(rows: Rows) -> tuple[Rows, Counter[str]]:
    """The rows of a platform's table that count, and how many do not, by reason."""
    column = next((name for name in STATUSES if name in rows.columns), None)
    if column is None:
        return rows, Counter()
    why = STATUSES[column]
    reasons = [why.get(str(cell).strip()) for cell in rows.columns[column].array().to_pylist()]
    if "Rejected" in why and REJECTED in rows.columns:
        cells = rows.columns[REJECTED].array().to_pylist()
        said = [str(cell).strip().lower() not in ("none", "") for cell in cells]
        reasons = ["rejected" if no else one for no, one in zip(said, reasons, strict=True)]
    left = Counter(one for one in reasons if one is not None)
    if left.total() == rows.n_rows:
        raise DataError(f"{rows.path}: no answers: {_by_reason(left)}")
    return take_rows(rows, np.array([one is None for one in reasons])) if left else rows, left


def with_left_out(corpus: Corpus, left: Mapping[str, int], name: str) -> Corpus:
    """The corpus of a file with this name, which also says how many rows do not count."""
    if not left:
        return corpus
    more = [LeftOut(q, why, n) for q in corpus.questions for why, n in left.items()]
    note = f"{name}: rows left out by their status: {_by_reason(left)}"
    return replace(corpus, left_out=(*corpus.left_out, *more), notes=(*corpus.notes, note))


def _by_reason(left: Mapping[str, int]) -> str:
    return ", ".join(f"{why} {n}" for why, n in left.items())
