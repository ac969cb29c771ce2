"""Parquet and Arrow files (Feather is another name for the latter): a table in columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.arrow import arrow_table, check_parquet, parquet_table
from dissensus.files.plain import open_plain
from dissensus.progress import progress
from dissensus.readers.class_labels import with_class_names
from dissensus.readers.files import is_large, read_bytes
from dissensus.readers.layout import Layout
from dissensus.readers.tables.arrow_columns import as_texts, damage_named, file_rows
from dissensus.readers.tables.rows import ColumnParts, Rows, make_rows
from dissensus.readers.tables.shapes import table_corpus

MAGIC = b"PAR1"
ARROW = (b"ARROW1", b"\xff\xff\xff\xff")  # at the beginning of a file, and of a stream
OLD = b"FEA1"
ROWS = 500_000  # of a large file that are read together


def read(path: Path, options: Layout) -> Corpus:
    """Read a table; numbers and dates are written out as texts."""
    rows = _rows_in_parts(path) if is_large(path) else None
    if rows is None:
        data = read_bytes(path)
        if not data.startswith(MAGIC):
            raise DataError(
                f"{path}: not a Parquet file: it begins with {data[:4]!r}, not with {MAGIC!r}"
            )
        rows = file_rows(path, lambda: column_table(path, data))
    return table_corpus(rows, options)


def read_arrow(path: Path, options: Layout) -> Corpus:
    """Read an Arrow table, whole or streamed."""
    data = read_bytes(path)
    if data.startswith(OLD):
        raise DataError(f"{path}: a Feather file of version 1; write it again as version 2")
    if not data.startswith(ARROW):
        raise DataError(
            f"{path}: not an Arrow file: it begins with {data[:6]!r}, not with {ARROW[0]!r} or "
            f"{ARROW[1]!r}"
        )
    return table_corpus(file_rows(path, lambda: column_table(path, data)), options)


def column_table(path: Path, data: bytes) -> Any:
    """The table in these bytes of a Parquet or Arrow file."""
    if data.startswith(MAGIC):
        return with_class_names(parquet_table(data, path))
    return with_class_names(arrow_table(data, path), path.parent)


def _rows_in_parts(path: Path) -> Rows | None:
    """The rows of a large file; None if not all columns are texts, whole numbers or truth values.

    Each part of such a column is written as texts in the same way.
    """
    with damage_named(path), open_plain(path) as file:
        if file.read(4) != MAGIC:
            return None
        table = pq.ParquetFile(file)
        names = table.schema_arrow.names
        if not all(_is_plain(kind) for kind in table.schema_arrow.types):
            return None
        check_parquet(file, path, ratio_only=True)
        parts = [ColumnParts() for _ in names]
        with progress("reading", table.metadata.num_rows) as advance:
            for batch in table.iter_batches(ROWS):
                columns = with_class_names(pa.Table.from_batches([batch]))
                columns.validate(full=True)
                for part, column in zip(parts, columns.columns, strict=True):
                    part.add(as_texts(column.combine_chunks()))
                advance(len(batch))
    columns = [part.column() for part in parts]
    return make_rows(names, columns, str(path), name=path.name, folder=path.resolve().parent)


def _is_plain(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return not kind.ordered and _is_plain(kind.value_type)
    types = pa.types
    return bool(types.is_string(kind) or types.is_integer(kind) or types.is_boolean(kind))
