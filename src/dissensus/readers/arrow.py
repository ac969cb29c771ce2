"""Arrow's own files (Feather is another name for them): a table in columns, whole or streamed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.options import Options
from dissensus.readers.shapes import any_table
from dissensus.readers.table import rows_of
from dissensus.readers.text import ending, head, read_bytes

MAGIC = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"  # before the first message of a stream
OLD = b"FEA1"
ENDINGS = (".arrow", ".arrows", ".feather", ".ipc")


def recognise(path: Path) -> bool:
    """By its first bytes, or by its ending."""
    return head(path, 6).startswith((MAGIC, STREAM, OLD)) or ending(path) in ENDINGS


def read(path: Path, options: Options) -> Corpus:
    """Read a table; numbers and dates are written out as texts."""
    table = _table(read_bytes(path), path)
    folder = path.resolve().parent
    rows = rows_of(table.column_names, table.columns, str(path), name=path.name, folder=folder)
    return any_table(rows, options)


def _table(data: bytes, path: Path) -> Any:
    """The table in these bytes, checked down to its last offset: reading alone would trust it."""
    if data.startswith(OLD):
        raise DataError(f"{path}: a Feather file of version 1; write it again as version 2")
    if not data.startswith((MAGIC, STREAM)):
        raise DataError(
            f"{path}: no Arrow file: it begins with {data[:6]!r}, not with {MAGIC!r} or {STREAM!r}"
        )
    open_any = pa.ipc.open_file if data.startswith(MAGIC) else pa.ipc.open_stream
    try:
        table = open_any(pa.BufferReader(data)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].removesuffix(".")
        raise DataError(f"{path}: damaged ({reason}); is the file cut off?") from None
    return table
