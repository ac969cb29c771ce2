"""Parquet: a table in columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.options import Options
from dissensus.readers.shapes import any_table
from dissensus.readers.table import rows_of
from dissensus.readers.text import ending, head, read_bytes

MAGIC = b"PAR1"


def recognise(path: Path) -> bool:
    """By its first four bytes, or by its ending."""
    return head(path, 4) == MAGIC or ending(path) in (".parquet", ".pq")


def read(path: Path, options: Options) -> Corpus:
    """Read a table; numbers and dates are written out as texts."""
    data = read_bytes(path)
    if not data.startswith(MAGIC):
        raise DataError(f"{path}: no Parquet file: it begins with {data[:4]!r}, not with {MAGIC!r}")
    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: damaged ({reason}); is the file cut off?") from None
    folder = path.resolve().parent
    rows = rows_of(table.column_names, table.columns, str(path), name=path.name, folder=folder)
    return any_table(rows, options)
