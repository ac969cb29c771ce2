"""Tables that commands write for people, with names in the place of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import DataError

TABLES = (".csv", ".parquet")


def answer_text(answer: Any) -> str:
    """An answer in one cell; of a set its values with commas between."""
    return ",".join(answer) if isinstance(answer, tuple | list) else str(answer)


def check_table(output: Path | None) -> None:
    """Refuse a file of another kind, before there is something to write."""
    if output is not None and output.suffix not in TABLES:
        raise DataError(f"{output}: write a .csv or a .parquet file")


def check_output(output: Path | None) -> None:
    """Refuse a file that is neither a table nor JSON, before there is something to write."""
    if output is not None and output.suffix not in (*TABLES, ".json", ""):
        raise DataError(f"{output}: write a .json, a .csv or a .parquet file")


def write_tables(tables: Sequence[Mapping[str, Any]], output: Path | None) -> None:
    """One table of all questions; what one does not have stays empty.

    Args:
        tables: name of a column -> its cells, of each question.
        output: .csv or .parquet; CSV to stdout if None.
    """
    import os
    import sys
    import tempfile

    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    table = pa.concat_tables([pa.table(t) for t in tables], promote_options="permissive")
    check_table(output)
    if output is None:
        csv.write_csv(table, sys.stdout.buffer)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output.parent) as folder:
            part = Path(folder) / output.name
            (csv.write_csv if output.suffix == ".csv" else pq.write_table)(table, part)
            os.replace(part, output)
    except OSError as error:
        raise DataError(f"{output}: cannot be written ({error.strerror or error})") from None
