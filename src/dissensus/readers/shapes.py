"""Shapes: a table has a row per answer (long) or a row per item (wide)."""

from __future__ import annotations

from dissensus.corpus import Corpus
from dissensus.readers.assignments import that_count, with_left_out
from dissensus.readers.long import long_table
from dissensus.readers.options import Options
from dissensus.readers.people import find_people
from dissensus.readers.rows import Rows
from dissensus.readers.wide import wide_table

SHAPES = ("long", "wide")  # formats that say what the rows are, not how the file is written


def any_table(rows: Rows, options: Options) -> Corpus:
    """Read a table of either shape: as the options say, else as its columns show.

    Rows that a crowdsourcing platform marks as rejected, skipped or expired are left out.
    """
    rows, left = that_count(rows)
    people = find_people(rows, options)
    corpus = long_table(rows, options) if people is None else wide_table(rows, people, options)
    return with_left_out(corpus, left, rows.name)
