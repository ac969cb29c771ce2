"""The files and folders that commands write: which paths are refused, and how results are saved."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import DataError

TABLES = (".csv", ".parquet")
FILE_ENDINGS = (
    *TABLES,
    *(".tsv", ".txt", ".json", ".jsonl", ".arrow", ".xlsx", ".svg", ".gz", ".zip"),
)


def check_folder(output: Path, command: str) -> None:
    """Refuse a path that ends like a file, before any work is done."""
    if output.suffix.lower() in FILE_ENDINGS:
        folder = output.with_suffix("")
        raise DataError(f"{output}: {command} writes a folder; name one, such as {folder}")


def check_table(output: Path | None) -> None:
    """Refuse a file that is not a table, before any work is done."""
    if output is not None and output.suffix not in TABLES:
        raise DataError(f"{output}: write a .csv or a .parquet file")


def check_result(output: Path | None) -> None:
    """Refuse a file that is neither a table nor JSON, before any work is done."""
    if output is not None and output.suffix not in (*TABLES, ".json", ""):
        raise DataError(f"{output}: write a .json, a .csv or a .parquet file")


def write_result(output: Path, content: Any, tables: Callable[[], Sequence[Any]]) -> None:
    """Write a result as JSON, or as a table if the file ends in .csv or .parquet.

    Args:
        content: the result as JSON.
        tables: returns the same result as tables, as in `write_tables`.
    """
    if output.suffix in TABLES:
        write_tables(tables(), output)
        return

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=1)
            file.write("\n")

    _write_whole(output, write)


def write_tables(tables: Sequence[Mapping[str, Any]], output: Path | None) -> None:
    """Write the tables of all questions as one; columns that a table does not have are empty.

    Args:
        tables: an Arrow table, or cells by name of the column, for each question.
        output: .csv or .parquet; CSV to stdout if None.
    """
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    whole = pa.concat_tables(
        [t if isinstance(t, pa.Table) else pa.table(t) for t in tables],
        promote_options="permissive",
    )
    check_table(output)
    if output is None:
        csv.write_csv(whole, sys.stdout.buffer)
    else:
        write = csv.write_csv if output.suffix == ".csv" else pq.write_table
        _write_whole(output, lambda path: write(whole, path))


def answer_text(answer: Any) -> str:
    """An answer in one cell; the values of a set are separated by commas."""
    return ",".join(answer) if isinstance(answer, tuple | list) else str(answer)


def _write_whole(output: Path, write: Callable[[Path], None]) -> None:
    """Write a file next to its final place, and move it there when it is complete."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as folder:
            write(Path(folder) / output.name)
            os.replace(Path(folder) / output.name, output)
    except OSError as error:
        raise DataError(f"{output}: cannot be written ({error.strerror or error})") from None
