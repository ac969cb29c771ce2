"""Long tables: one row per answer -> Corpus."""

from __future__ import annotations

from dissensus.corpus import Corpus
from dissensus.readers.options import Options
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.notes import long_notes, with_notes
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.structure import find_roles
from dissensus.readers.tables.unanswered import with_items


def long_table(rows: Rows, options: Options) -> Corpus:
    """Turn a table with a row per answer into a corpus; its first note says what was recognised.

    A column without a role becomes an attribute of the items or annotators if it is constant for
    each of them, and otherwise an extra column of the answers.
    """
    rows, options = with_items(rows, options)
    rows, roles = find_roles(rows, options)
    assembled = assemble(rows, roles, options)
    return with_notes(assembled.corpus, rows, long_notes(rows, roles, assembled))
