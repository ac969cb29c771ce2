"""Annotator rows: tables with one row per annotator and one column per item -> Corpus.

annotator,gender,img1.jpg,img2.jpg,img3.jpg
ann,f,3,1,5
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from dissensus.corpus import Corpus
from dissensus.readers.layout import Layout
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.column_names import candidates, first_named
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.item_rows import cells_of, free_name, repeated
from dissensus.readers.tables.notes import annotator_rows_notes, with_notes
from dissensus.readers.tables.rows import Column, Rows

CONTENTS = ("item", "text", "image", "audio", "video")
_ITEM = re.compile(
    r"(?i)(item|task|doc|document|stimulus|stim|image|img|clip|trial|example|sample)[\W_]*\d+|"
    r".+\.(jpe?g|png|gif|wav|mp3|mp4|txt|flac)"
)


@dataclass(frozen=True)
class AnnotatorRows:
    """The column that names the annotator of each row, and the columns of items."""

    annotator: str
    items: tuple[str, ...]


def find_annotator_rows(rows: Rows, columns: tuple[str, ...]) -> AnnotatorRows | None:
    """Whether each row is an annotator: a column says so, or the other names are those of items.

    Args:
        columns: those that have values in common.
    """
    if any(candidates(role, rows, columns) for role in CONTENTS):
        return None
    named = first_named("annotator", rows, columns, _names_rows)
    if named is not None:
        return AnnotatorRows(named, columns)
    first = next(iter(rows.columns))
    if first in columns or not _names_rows(rows.columns[first]):
        return None
    return AnnotatorRows(first, columns) if all(map(_ITEM.fullmatch, columns)) else None


def _names_rows(column: Column) -> bool:
    return not column.is_bytes and len(column.values) == len(column) > 1


def annotator_rows_table(rows: Rows, table: AnnotatorRows, options: Layout) -> Corpus:
    """Turn a table with a row per annotator into a corpus of one question, "answer".

    The names of columns are the items; a blank cell means that there is no answer. Other columns
    are attributes of the annotators.
    """
    n_items = len(table.items)
    others = {name: column for name, column in rows.columns.items() if name not in table.items}
    item, answer = (free_name(name, others) for name in ("item", "answer"))
    spread = {
        name: Column(column.values, np.repeat(column.codes, n_items))
        for name, column in others.items()
    }
    spread[item] = repeated(table.items, rows.n_rows)
    spread[answer] = cells_of([rows.columns[name] for name in table.items])
    long_rows = replace(
        rows,
        columns=spread,
        place=lambda row: f"{rows.place(row // n_items)}, column {table.items[row % n_items]!r}",
        sets=frozenset(),
        orders={},
    )
    roles = ColumnRoles(item, table.annotator, (answer,), {})
    assembled = assemble(long_rows, roles, options)
    left_out = tuple(row for row in assembled.corpus.left_out if row.reason != "no answer")
    assembled = replace(assembled, corpus=replace(assembled.corpus, left_out=left_out))
    notes = annotator_rows_notes(roles, assembled, table.items)
    return with_notes(assembled.corpus, rows, notes)
