"""Long tables: one row per answer -> Corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import counted
from dissensus.readers.layout import Layout
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.assignments import take_rows
from dissensus.readers.tables.column_roles import ColumnRoles, items_of
from dissensus.readers.tables.dependence import cached_comparisons, n_distinct_pairs
from dissensus.readers.tables.extra_rows import copies
from dissensus.readers.tables.notes import long_notes, with_notes
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.structure import find_roles
from dissensus.readers.tables.unanswered import with_items


def long_table(rows: Rows, options: Layout) -> Corpus:
    """Turn a table with a row per answer into a corpus; its first note says what was recognised.

    A column without a role becomes an attribute of the items or annotators if it is constant for
    each of them, and otherwise an extra column of the answers. Of rows that are the same in every
    column, one is read, unless `repeats` says what to do with repeated answers.
    """
    rows, options = with_items(rows, options)
    with cached_comparisons():
        return _corpus(*find_roles(rows, options), options)


def _corpus(rows: Rows, roles: ColumnRoles, options: Layout) -> Corpus:
    repeated = np.zeros(rows.n_rows, dtype=bool)
    if options.repeats == "error" and _repeats_pairs(rows, roles):
        repeated = copies(rows)
    if not repeated.any():
        assembled = assemble(rows, roles, options)
        return with_notes(assembled.corpus, rows, long_notes(rows, roles, assembled))
    kept = take_rows(rows, ~repeated)
    assembled = assemble(kept, roles, options)
    note = (
        f"{counted(int(repeated.sum()), 'row')} left out that repeat another row in every column, "
        f"the first in {rows.place(int(repeated.argmax()))}; "
        'repeats="keep" (--repeats keep) reads them'
    )
    notes = [*long_notes(kept, roles, assembled), note]
    return with_notes(_with_copies(assembled.corpus, rows, roles, repeated), rows, notes)


def _repeats_pairs(rows: Rows, roles: ColumnRoles) -> bool:
    """Whether an annotator has several rows for an item."""
    if roles.annotator is None:
        return False
    items = items_of(rows, roles.item, roles.shown)
    return n_distinct_pairs(items, rows.columns[roles.annotator]) < rows.n_rows


def _with_copies(corpus: Corpus, rows: Rows, roles: ColumnRoles, repeated: np.ndarray) -> Corpus:
    """The corpus, which also counts the answers in rows that repeat another."""
    left_out = []
    for name in corpus.questions:
        answered = rows.columns[name if roles.question is None else roles.answer[0]].codes >= 0
        if roles.question is not None:
            questions = rows.columns[roles.question]
            answered &= questions.codes == questions.values.index(name).as_py()
        if n_left_out := int((answered & repeated).sum()):
            left_out.append(LeftOut(name, "repeated row", n_left_out))
    return replace(corpus, left_out=(*corpus.left_out, *left_out))
