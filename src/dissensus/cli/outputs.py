"""The files and folders that commands write: which paths are refused, and how results are saved."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dissensus.cli.console import visible
from dissensus.errors import DataError
from dissensus.folders import check_free
from dissensus.staging import reserved, staged

if TYPE_CHECKING:
    import pyarrow as pa

    from dissensus.corpus import Corpus
    from dissensus.prediction import Prediction

TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
ENDINGS = ".csv, .tsv, .parquet, .json or .jsonl"  # for help and messages
FILE_ENDINGS = (*TABLES, ".txt", ".arrow", ".xlsx", ".svg", ".gz", ".zip")
DIGITS = 6  # significant ones, of confidences and shares in text files
RESULT_DIGITS = 10  # of measures and scores
_reservations: ContextVar[ExitStack | None] = ContextVar("reservations", default=None)


def is_table(output: Path) -> bool:
    """Whether a path ends like a table that can be written."""
    return output.suffix.lower() in TABLES


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


Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the folder if it already exists.")
]


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
    if output is not None and not is_table(output):
        raise DataError(f"{output}: write a {ENDINGS} file")


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


def write_result(output: Path, content: Any, tables: Callable[[], Sequence[Any]]) -> None:
    """Write a result as JSON, or as a table if the file ends like one.

    Args:
        content: the result as JSON.
        tables: returns the same result as tables, as in `write_tables`.
    """
    if is_table(output) and output.suffix.lower() != ".json":
        write_tables(tables(), output, RESULT_DIGITS)
        return

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=1)
            file.write("\n")

    _write_whole(output, write)


def answers_table(
    corpus: Corpus,
    prediction: Prediction,
    by: Literal["item", "annotator"] = "item",
    **counts: Any,
) -> pa.Table:
    """The items of a prediction as the user has them, with the answer, its confidence and the
    share of each value.

    Args:
        corpus: what was predicted; it has the text and other columns of each item.
        by: rows are items, or pairs of item and annotator.
        counts: further columns after the confidence.
    """
    import pyarrow as pa

    from dissensus.corpus.tables import item_column, item_columns, with_columns

    table = prediction.to_table(by)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    at = pa.array(corpus.items.codes(columns.pop("item"), "item"))
    about = {name: column.take(at) for name, column in item_columns(corpus).items()}
    if not about:
        about = {item_column(corpus): corpus.items.array.take(at)}
    if "annotator" in columns:
        name = corpus.columns.get("annotator", "annotator")
        about = with_columns(about, {name: columns.pop("annotator")})
    first = {name: columns.pop(name) for name in ("answer", "confidence", "sd") if name in columns}
    return pa.table(with_columns(about, {**first, **counts, **columns}))


def write_answers(tables: Mapping[str, pa.Table], output: Path | None) -> list[Path]:
    """Write the table of each question; return the files.

    One question is written to `output`, several to a file each, such as said-label.csv, or
    label.csv in a folder. On stdout (None), all are one table with the column `question`.
    """
    if output is None:
        several = len(tables) > 1
        write_tables([with_question(t, q) if several else t for q, t in tables.items()], None)
        return []
    if is_table(output):
        stem, ending = output.with_suffix(""), output.suffix
        one = len(tables) == 1
        paths = {
            q: output if one else stem.with_name(f"{stem.name}-{_file_name(q)}{ending}")
            for q in tables
        }
    else:
        paths = {question: output / f"{_file_name(question)}.csv" for question in tables}
    if len(set(paths.values())) < len(paths):  # questions "a/b" and "a:b"
        numbered = enumerate(paths.items(), 1)
        paths = {q: p.with_name(f"{p.stem}-{n}{p.suffix}") for n, (q, p) in numbered}
    for question, path in paths.items():
        own = tables[question]
        write_tables([with_question(own, question) if len(tables) > 1 else own], path)
    return list(paths.values())


def with_question(table: pa.Table, question: str) -> pa.Table:
    """The table with a column that names the question, before the answer."""
    import pyarrow as pa

    names = [name for name in table.column_names if name.startswith("answer")]
    place = table.column_names.index(names[0]) if names else 0
    name = "question"
    while name in table.column_names:
        name += "_"
    return table.add_column(place, name, pa.array([question] * len(table), pa.string()))


def write_tables(tables: Sequence[Any], output: Path | None, digits: int = DIGITS) -> None:
    """Write the tables of all questions as one; columns that a table does not have are empty.

    Args:
        tables: an Arrow table, or cells by name of the column, for each question.
        output: a file whose ending says the format; if None, CSV to stdout, where control
            characters are escaped.
        digits: significant ones, of numbers in text files.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = _joined([t if isinstance(t, pa.Table) else pa.table(t) for t in tables])
    check_table(output)
    if output is None:
        sys.stdout.buffer.write(visible(_delimited(whole, ",", digits)).encode())
        return
    ending = output.suffix.lower()
    if ending == ".parquet":
        _write_whole(output, lambda path: pq.write_table(whole, path))
    elif ending in (".json", ".jsonl"):
        text = _records(whole, ending == ".jsonl", digits)
        _write_whole(output, lambda path: path.write_bytes(text.encode()))
    else:
        text = _delimited(whole, "\t" if ending == ".tsv" else ",", digits)
        _write_whole(output, lambda path: path.write_bytes(text.encode()))


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all tables; answers of different types, such as texts and numbers, are texts."""
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowTypeError:
        texts = []
        for table in tables:
            cells = [
                ",".join(a) if isinstance(a, list) else str(a) for a in table["answer"].to_pylist()
            ]
            at = table.column_names.index("answer")
            texts.append(table.set_column(at, "answer", pa.array(cells, pa.string())))
        return pa.concat_tables(texts, promote_options="permissive")


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """A number with six significant digits; None if it is nan; anything else unchanged.

    Example:
        >>> rounded(2 / 3), rounded(1e-9 / 3), rounded("a")
        (0.666667, 3.33333e-10, 'a')
    """
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _delimited(table: pa.Table, delimiter: str, digits: int) -> str:
    """The table as text: numbers are rounded, and sets are values with commas."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)
    columns = [[_cell(value, digits) for value in column.to_pylist()] for column in table.columns]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _cell(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return f"{value:.{digits}g}" if math.isfinite(value) else ""
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _records(table: pa.Table, lines: bool, digits: int) -> str:
    """The rows as JSON objects: a list of them, or one in each line."""
    rows = ({k: rounded(value, digits) for k, value in row.items()} for row in table.to_pylist())
    texts = [json.dumps(row, ensure_ascii=False) for row in rows]
    return "\n".join(texts) + "\n" if lines else "[\n" + ",\n".join(texts) + "\n]\n"


def _file_name(question: str) -> str:
    """A question as part of a file's name."""
    return re.sub(r'[\\/:*?"<>|\s.]+', "-", question).strip("-") or "question"


def _write_whole(output: Path, write: Callable[[Path], Any]) -> None:
    """Write a file next to its final place, and move it there when it is complete."""
    with staged(output) as path:
        write(path)
