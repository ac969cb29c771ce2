"""The files and folders that commands write: which paths are refused, and how results are saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from json import dump
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.cli.console import print_json, say, visible
from dissensus.errors import DataError
from dissensus.files.folders import check_free
from dissensus.files.staging import reserved, staged
from dissensus.prediction import answer_files
from dissensus.prediction.answer_files import (
    DIGITS,
    ENDINGS,
    TABLES,
    delimited,
    is_table,
    rounded,
    with_question,
)

FILE_ENDINGS = (*TABLES, ".txt", ".arrow", ".xlsx", ".svg", ".gz", ".zip")
RESULT_DIGITS = 10  # of measures and scores
_reservations: ContextVar[ExitStack | None] = ContextVar("reservations", default=None)


def check_folder(output: Path, command: str) -> None:
    """Refuse a path that ends like a file, before any work is done."""
    if output.suffix.lower() in FILE_ENDINGS:
        folder = output.with_suffix("")
        raise DataError(f"{output}: {command} writes a folder; name one, such as {folder}")


def reserve(output: Path | None) -> None:
    """Refuse other processes that write to the same place, until the command ends.

    A place whose folder does not exist yet is reserved when it is written.
    """
    stack = _reservations.get()
    if stack is not None and output is not None and output.parent.is_dir():
        stack.enter_context(reserved(output))


@contextmanager
def reservations() -> Iterator[None]:
    """Places that are reserved within the block are free again at its end."""
    with ExitStack() as stack:
        token = _reservations.set(stack)
        try:
            yield
        finally:
            _reservations.reset(token)


def check_not_replaced(output: Path, kind: str, overwrite: bool) -> None:
    """Refuse to replace a folder without --overwrite, before any work is done.

    Args:
        kind: of the JSON file in the folder: "config" (a model) or "corpus".
    """
    check_free(output, kind)
    if not overwrite and output.is_dir() and any(output.iterdir()):
        word = {"config": "model"}.get(kind, kind)
        raise DataError(
            f"{output}: already contains a {word}; use --overwrite to replace it, or choose "
            "another path"
        )


def check_table(output: Path | None) -> None:
    """Refuse a file that is not a table, before any work is done."""
    if output is not None:
        answer_files.check_table(output)


def check_tables(output: Path | None) -> None:
    """Refuse a path that is neither a table nor a folder, before any work is done."""
    if output is not None and output.suffix.lower() in FILE_ENDINGS:
        check_table(output)
    if output is not None and not is_table(output) and output.is_file():
        raise DataError(f"{output}: is a file; name a folder, or a {ENDINGS} file")


def check_result(output: Path | None) -> None:
    """Refuse a file that is neither a table nor JSON, before any work is done."""
    if output is not None and output.suffix:
        check_table(output)


def emit(
    content: Any,
    tables: Callable[[], Sequence[Any]],
    show: Callable[[], None],
    output: Path | None,
    json: bool,
) -> None:
    """Write a result to a file, if one is named, and print it.

    Args:
        content: the result as JSON.
        tables: returns it as tables, as in `write_tables`, for a file that ends like one.
        show: prints it for people, unless JSON is wanted.
    """
    if output is not None and is_table(output) and output.suffix.lower() != ".json":
        write_tables(tables(), output, RESULT_DIGITS)
    elif output is not None:
        with staged(output) as path, path.open("w", encoding="utf-8") as file:
            dump(content, file, ensure_ascii=False, indent=1)
            file.write("\n")
    if json:
        print_json(content)
    else:
        show()


def emit_answers(tables: Mapping[str, pa.Table], output: Path | None, json: bool) -> None:
    """Print the table of each question as JSON, or write it to a file or, as CSV, to stdout."""
    if json:
        named = (with_question(table, question) for question, table in tables.items())
        rows = [row for table in named for row in table.to_pylist()]
        print_json([{name: rounded(value) for name, value in row.items()} for row in rows])
    if output is not None or not json:
        for path in write_answers(tables, output):
            say(f"{path}: written")


def write_answers(tables: Mapping[str, pa.Table], output: Path | None) -> list[Path]:
    """Write the table of each question; return the files. On stdout (None), all are one table with
    the column `question`."""
    if output is not None:
        return answer_files.write_answers(tables, output)
    several = len(tables) > 1
    write_tables([with_question(t, q) if several else t for q, t in tables.items()], None)
    return []


def write_tables(tables: Sequence[Any], output: Path | None, digits: int = DIGITS) -> None:
    """Write tables as one, as CSV to stdout if `output` is None; there, control characters are
    escaped."""
    if output is not None:
        answer_files.write_tables(tables, output, digits)
    else:
        sys.stdout.buffer.write(visible(delimited(tables, digits=digits)).encode())
