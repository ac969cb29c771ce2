"""Shapes: a table has a row per answer (long), or per item, with annotators (wide) or votes."""

from __future__ import annotations

from dissensus.corpus import Corpus
from dissensus.readers.assignments import that_count, with_left_out
from dissensus.readers.long import long_table
from dissensus.readers.options import Options
from dissensus.readers.people import find_people
from dissensus.readers.rows import Rows
from dissensus.readers.votes import find_votes, votes_table
from dissensus.readers.wide import wide_table

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
