"""Parquet: a table in columns."""

from __future__ import annotations

from pathlib import Path

from dissensus.arrow_files import parquet_table
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.class_labels import with_class_names
from dissensus.readers.files import ending, head, read_bytes
from dissensus.readers.options import Options
from dissensus.readers.tables.arrow_columns import file_rows
from dissensus.readers.tables.shapes import table_corpus

MAGIC = b"PAR1"


def recognise(path: Path) -> bool:
    """By its first four bytes, or by its ending."""
    return head(path, 4) == MAGIC or ending(path) in (".parquet", ".pq")


def read(path: Path, options: Options) -> Corpus:
    """Read a table; numbers and dates are written out as texts."""
    data = read_bytes(path)
    if not data.startswith(MAGIC):
        raise DataError(
            f"{path}: not a Parquet file: it begins with {data[:4]!r}, not with {MAGIC!r}"
        )
    rows = file_rows(path, lambda: with_class_names(parquet_table(data, path)))
    return table_corpus(rows, options)
