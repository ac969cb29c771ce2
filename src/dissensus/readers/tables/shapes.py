"""Shapes: a table has a row per answer (long), or per item, with annotators (wide) or votes."""

from __future__ import annotations

from dissensus.corpus import Corpus
from dissensus.readers.options import Options
from dissensus.readers.tables.annotator_columns import find_people
from dissensus.readers.tables.assignments import that_count, with_left_out
from dissensus.readers.tables.long import long_table
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.vote_columns import find_votes
from dissensus.readers.tables.votes import votes_table
from dissensus.readers.tables.wide import wide_table

SHAPES = (
    "long",
    "wide",
    "votes",
)  # formats that say what the rows are, not how the file is written


def any_table(rows: Rows, options: Options) -> Corpus:
    """Read a table of either shape: as the options say, else as its columns show.

    Rows that a crowdsourcing platform marks as rejected, skipped or expired are left out.
    """
    rows, left = that_count(rows)
    votes = find_votes(rows, options)
    people = None if votes else find_people(rows, options)
    if votes is not None:
        corpus = votes_table(rows, votes, options)
    elif people is not None:
        corpus = wide_table(rows, people, options)
    else:
        corpus = long_table(rows, options)
    return with_left_out(corpus, left, rows.name)
