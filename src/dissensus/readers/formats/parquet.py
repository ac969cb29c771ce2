"""Parquet: a table in columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.arrow import check_parquet, parquet_table
from dissensus.files.plain import open_plain
from dissensus.progress import progress
from dissensus.readers.class_labels import with_class_names
from dissensus.readers.files import is_large, read_bytes
from dissensus.readers.layout import Layout
from dissensus.readers.tables.arrow_columns import as_texts, damage_named, file_rows
from dissensus.readers.tables.column_parts import ColumnParts
from dissensus.readers.tables.rows import Rows, make_rows
from dissensus.readers.tables.shapes import table_corpus

MAGIC = b"PAR1"
ROWS = 500_000  # of a large file that are read together


def read(path: Path, options: Layout) -> Corpus:
    """Read a table; numbers and dates are written out as texts."""
    rows = _rows_in_parts(path) if is_large(path) else None
    if rows is not None:
        return table_corpus(rows, options)
    data = read_bytes(path)
    if not data.startswith(MAGIC):
        raise DataError(
            f"{path}: not a Parquet file: it begins with {data[:4]!r}, not with {MAGIC!r}"
        )
    rows = file_rows(path, lambda: with_class_names(parquet_table(data, path)))
    return table_corpus(rows, options)


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
