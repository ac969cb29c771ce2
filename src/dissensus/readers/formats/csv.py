"""CSV, TSV and the like: fields between commas, tabs, semicolons or bars, under a line of names."""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.delimited import NO_NAMES, delimited_rows
from dissensus.readers.layout import Layout
from dissensus.readers.tables.shapes import table_corpus


def read(path: Path, options: Layout) -> Corpus:
    """Read a table; every field is a text, "007" stays "007"."""
    rows = delimited_rows(path, options)
    try:
        return table_corpus(rows, options)
    except DataError as error:
        about = [note for note in rows.notes if note.startswith(NO_NAMES)]
        if not about:
            raise
        error.args = (f"{error} ({about[0]})",)
        raise
