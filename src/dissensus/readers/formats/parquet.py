"""Parquet and Arrow files (Feather is another name for the latter): a table in columns.

Class labels of Hugging Face `datasets` are whole numbers, whose names are in the features.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.arrow import arrow_table, check_parquet, parquet_table
from dissensus.files.plain import open_plain
from dissensus.progress import progress
from dissensus.readers.files import is_large, read_bytes
from dissensus.readers.json_text import list_in, object_in
from dissensus.readers.layout import Layout
from dissensus.readers.tables.arrow_columns import as_texts, damage_named, file_rows
from dissensus.readers.tables.rows import ColumnParts, Rows, make_rows
from dissensus.readers.tables.shapes import table_corpus

MAGIC = b"PAR1"
ARROW = (b"ARROW1", b"\xff\xff\xff\xff")  # at the beginning of a file, and of a stream
OLD = b"FEA1"
ROWS = 500_000  # of a large file that are read together
KEY = b"huggingface"  # in the metadata of a table
INFO = "dataset_info.json"


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

    def is_plain(kind: Any) -> bool:
        if pa.types.is_dictionary(kind):
            return not kind.ordered and is_plain(kind.value_type)
        types = pa.types
        return bool(types.is_string(kind) or types.is_integer(kind) or types.is_boolean(kind))

    with damage_named(path), open_plain(path) as file:
        if file.read(4) != MAGIC:
            return None
        table = pq.ParquetFile(file)
        names = table.schema_arrow.names
        if not all(map(is_plain, table.schema_arrow.types)):
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


# ---- class labels ----


def with_class_names(table: Any, folder: Path | None = None) -> Any:
    """The table with the names of classes instead of their numbers; -1 is a missing label.

    Args:
        folder: a folder that `save_to_disk` wrote, whose dataset_info.json has the features.

    Example:
        >>> features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
        >>> metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        >>> table = pa.table({"label": [1, 0, -1]}).replace_schema_metadata(metadata)
        >>> with_class_names(table)["label"].to_pylist()
        ['yes', 'no', None]
    """
    features = _features(table, folder)
    for name, feature in features.items():
        at = table.schema.get_field_index(name)
        if at < 0:
            continue
        column = table.column(at)
        named = _named(column.combine_chunks() if column.num_chunks else column, feature)
        if named is not None:
            table = table.set_column(at, name, named)
    return table


def _features(table: Any, folder: Path | None) -> dict[str, Any]:
    texts: list[str | bytes] = []
    if KEY in (table.schema.metadata or {}):
        texts.append(table.schema.metadata[KEY])
    if folder is not None and (folder / INFO).is_file():
        texts.append((folder / INFO).read_text(encoding="utf-8", errors="replace"))
    for text in texts:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        features = object_in(object_in(content).get("info", content)).get("features")
        if isinstance(features, dict):
            return features
    return {}


def _named(column: Any, feature: Any) -> Any:
    """The column with names, also inside lists and objects; None if it has no classes."""
    if isinstance(feature, list) and feature:  # an older way to write a list
        feature = {"_type": "Sequence", "feature": feature[0]}
    if not isinstance(feature, dict):
        return None
    if feature.get("_type") == "ClassLabel":
        names = [str(name) for name in list_in(feature.get("names"))]
        if not names or not pa.types.is_integer(column.type):
            return None
        inside = pc.and_(pc.greater_equal(column, 0), pc.less(column, len(names)))
        missing = pa.scalar(None, column.type)
        return pa.array(names).take(pc.if_else(inside, column, missing).cast(pa.int64()))
    if feature.get("_type") in ("Sequence", "List", "LargeList"):
        inner = feature.get("feature")
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
            return _named(column, inner)
        values = _named(column.values, inner)
        return None if values is None else type(column).from_arrays(column.offsets, values)
    if not pa.types.is_struct(column.type):
        return None
    fields = {field.name: column.field(at) for at, field in enumerate(column.type)}
    new = {name: _named(field, feature.get(name)) for name, field in fields.items()}
    if all(one is None for one in new.values()):
        return None
    whole = [field if new[name] is None else new[name] for name, field in fields.items()]
    return pa.StructArray.from_arrays(whole, list(fields))
