"""CSV, TSV and the like: fields between commas, tabs, semicolons or bars, under a line of names."""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.head import Head
from dissensus.readers.options import Options
from dissensus.readers.tables.shapes import table_corpus


def recognise(head: Head) -> bool:
    """Any text can be a CSV file, so this format is tried last."""
    return head.is_text


def read(path: Path, options: Options) -> Corpus:
    """Read a table; every field is a text, "007" stays "007"."""
    return table_corpus(delimited_rows(path, options.encoding), options)
