"""Arrow's own files (Feather is another name for them): a table in columns, whole or streamed."""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.arrow import arrow_table
from dissensus.readers.class_labels import with_class_names
from dissensus.readers.files import read_bytes
from dissensus.readers.layout import Layout
from dissensus.readers.tables.arrow_columns import file_rows
from dissensus.readers.tables.shapes import table_corpus

MAGIC = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"  # before the first message of a stream
OLD = b"FEA1"


def read(path: Path, options: Layout) -> Corpus:
    """Read a table; numbers and dates are written out as texts."""
    data = read_bytes(path)
    if data.startswith(OLD):
        raise DataError(f"{path}: a Feather file of version 1; write it again as version 2")
    if not data.startswith((MAGIC, STREAM)):
        raise DataError(
            f"{path}: not an Arrow file: it begins with {data[:6]!r}, not with {MAGIC!r} or "
            f"{STREAM!r}"
        )
    rows = file_rows(path, lambda: with_class_names(arrow_table(data, path), path.parent))
    return table_corpus(rows, options)
