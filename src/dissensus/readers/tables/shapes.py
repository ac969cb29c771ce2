"""Shapes: a table has a row per answer (long), or per item, with annotators (wide) or votes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.readers.options import Options
from dissensus.readers.tables.annotator_columns import find_annotators
from dissensus.readers.tables.assignments import take_rows, with_left_out, without_rejected
from dissensus.readers.tables.long import long_table
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.structure import with_joined
from dissensus.readers.tables.vote_columns import find_votes
from dissensus.readers.tables.votes import votes_table
from dissensus.readers.tables.wide import wide_table

SHAPES = ("long", "wide", "votes")  # what the rows are, in whatever format they are written


def table_corpus(rows: Rows, options: Options) -> Corpus:
    """Read a table of any shape: the one that the options name, or the one its columns show.

    Rows that a crowdsourcing platform marks as rejected, skipped or expired are left out.
    """
    rows, notes = without_blank_rows(rows)
    if options.item_parts:
        rows = with_joined(rows, options.item_parts)
    rows, left = without_rejected(rows)
    votes = find_votes(rows, options)
    annotators = None if votes else find_annotators(rows, options)
    if votes is not None:
        corpus = votes_table(rows, votes, options)
    elif annotators is not None:
        corpus = wide_table(rows, annotators, options)
    else:
        corpus = long_table(rows, options)
    corpus = replace(corpus, notes=(*corpus.notes, *notes)) if notes else corpus
    return with_left_out(corpus, left, rows.name)


def without_blank_rows(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows that have a filled cell, and a note about the others."""
    blank = np.all([column.codes < 0 for column in rows.columns.values()], axis=0)
    if not blank.any():
        return rows, []
    if blank.all():
        raise DataError(f"{rows.path}: all {counted(rows.n_rows, 'row')} are blank")
    first = rows.place(int(blank.argmax()))
    note = f"{rows.name}: {counted(int(blank.sum()), 'blank row')} skipped, the first in {first}"
    return take_rows(rows, ~blank), [note]
