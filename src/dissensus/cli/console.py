"""Printing to the terminal: results to stdout, messages to stderr.

Tables are plain lines in pipes and files, and no column is cut.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from json import dump
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from dissensus.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table


UNFINISHED = 3  # exit code if a time limit was reached
_quiet = ContextVar("quiet", default=False)
_UNSEEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)  # control characters, marks of direction, lone surrogates


def visible(text: str) -> str:
    r"""The text with control characters escaped, so that no answer or name from a file can change
    what the terminal shows.

    Example:
        >>> visible("n\x1b[31mo"), visible("two\nlines")
        ('n\\x1b[31mo', 'two\nlines')
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def say(line: str) -> None:
    """Print a message to stderr; stdout is for results."""
    if not _quiet.get():
        print(visible(line), file=sys.stderr, flush=True)


@contextmanager
def quiet() -> Iterator[None]:
    """Print no messages within the block: another process does."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def width() -> int | None:
    """Columns of the terminal; None if output is piped, so that lines are not cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_json(content: Any) -> None:
    """Print a result as JSON to stdout, with control characters escaped as JSON does; a long one,
    which nobody reads, in one line, which takes a third of the time."""
    text = json.dumps(content, ensure_ascii=False)
    if len(text) < LONG_JSON:
        text = json.dumps(content, ensure_ascii=False, indent=1)
    print(_UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def fail(line: str, code: int) -> NoReturn:
    """End the command with one line on stderr."""
    print(visible(" ".join(line.splitlines())), file=sys.stderr, flush=True)
    sys.exit(code)


def consensus(name: str | None) -> Literal["own", "all"] | None:
    """The value of --consensus."""
    if name not in (None, "own", "all"):
        raise DataError(f"--consensus must be own or all, found {name!r}")
    return cast('Literal["own", "all"] | None', name)


# ---- tables ----

GAP = 2  # between columns; 1 if only that makes a table fit
LEAST = 14  # width of a column of texts that are wrapped
MOST_CELL = 200  # characters of a cell that are shown
MOST_VALUE = 2000  # characters of a value that stands alone in its row


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """A table without a header: a name and a value per row."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", max_width=44)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(_cell(name)), Text(_cell(value, MOST_VALUE)))
    return table


def columns(
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str],
    whole: Sequence[str] = (),
) -> Table:
    """A table with a header; in a narrow terminal, headings are wrapped at hyphens, then texts.

    Args:
        numbers: right-aligned columns; a number is never wrapped.
        whole: columns that are never wrapped.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[_cell(cell) for cell in row] for row in rows]
    texts = list(zip(names, *cells, strict=True))
    room = Console().width
    headings = list(names)
    if _needed([max(map(cell_len, column)) for column in texts]) > room:
        headings = [name if name in whole else name.replace("-", "-\n") for name in names]
    widths, least = [], []
    for name, heading, (_, *column) in zip(names, headings, texts, strict=True):
        cell = max(map(cell_len, column), default=0)
        widths.append(max(cell, *map(cell_len, heading.split("\n")), 1))
        least.append(widths[-1] if name in whole else cell if name in numbers else LEAST)
    gap = GAP if _needed([min(pair) for pair in zip(widths, least, strict=True)]) <= room else 1
    widths = _narrowed(widths, least, room - gap * (len(widths) - 1))
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for name, heading, width in zip(names, headings, widths, strict=True):
        side: Literal["right", "left"] = "right" if name in numbers else "left"
        table.add_column(Text(heading), justify=side, overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _needed(widths: Sequence[int], gap: int = GAP) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _narrowed(widths: list[int], least: list[int], room: int) -> list[int]:
    """Make the widest columns narrower, until the table fits or all are at their least."""
    widths = list(widths)
    while sum(widths) > room:
        wide = [at for at, width in enumerate(widths) if width > least[at]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _cell(text: str, most: int = MOST_CELL) -> str:
    """What is shown of a text: its beginning, with control characters escaped."""
    return visible(text if len(text) <= most else f"{text[:most]}...")


def show(*parts: Any) -> None:
    """Print tables and headings (strings) one after another."""
    from rich.console import Console
    from rich.text import Text

    room = Console().width
    for table in (part for part in parts if not isinstance(part, str)):
        widths = [column.width or 0 for column in table.columns]
        if all(widths):  # unlike those of `facts`, which fits itself
            room = max(room, _needed(widths, table.padding[1]))
    console = Console(highlight=False, width=room)  # a long line is better than a lost number
    with console.capture() as captured:
        for part in parts:
            console.print(Text(visible(part), style="bold") if isinstance(part, str) else part)
    lines = captured.get().splitlines()
    sys.stdout.write("".join(line.rstrip() + "\n" for line in lines))


def show_each(blocks: Iterable[Sequence[Any]]) -> None:
    """Print blocks of tables and headings, with an empty line between them."""
    for place, parts in enumerate(blocks):
        show(*([""] if place else []), *parts)


def show_line(line: str) -> None:
    """Print a line that is part of the result."""
    print(visible(line))


def say_wrapped(line: str, indent: str = "") -> None:
    """Print a line as wide as the terminal."""
    print(textwrap.fill(visible(line), width() or 80, subsequent_indent=indent))


def with_rest(rows: list[list[str]], total: int, n_columns: int) -> list[list[str]]:
    """The rows of a table, and one that says how many more there are."""
    more = total - len(rows)
    return [*rows, [f"... {number(more)} more", *[""] * (n_columns - 1)]] if more > 0 else rows


def number(value: float, digits: int = 3) -> str:
    """A number as text; undefined is a dash.

    Example:
        >>> number(363209), number(-0.0001), number(float("nan"))
        ('363,209', '0.000', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:z,.{digits}f}"


FILE_ENDINGS = {".csv", ".tsv", ".parquet", ".json", ".jsonl", ".txt", ".arrow", ".xlsx", ".svg"}
FILE_ENDINGS |= {".gz", ".zip"}  # of paths that are no folders
DIGITS = 6  # significant ones, of confidences and shares
LONG_JSON = 1 << 24  # letters
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
    from dissensus.files.folders import reserved

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


def check_table(output: Path | None, overwrite: bool) -> None:
    """Refuse a file that is not a table, or exists, before any work is done."""
    from dissensus.files import tabular
    from dissensus.files.folders import check_free_file

    if output is not None:
        tabular.check_table(output)
        check_free_file(output, overwrite)


def check_tables(output: Path | None, overwrite: bool) -> None:
    """Refuse a path that is neither a table nor a folder, or a file that exists."""
    from dissensus.files.tabular import ENDINGS, is_table

    if output is not None and output.suffix.lower() in FILE_ENDINGS:
        check_table(output, overwrite)
    if output is not None and not is_table(output) and output.is_file():
        raise DataError(f"{output}: is a file; name a folder, or a {ENDINGS} file")


def check_result(output: Path | None, overwrite: bool) -> None:
    """Refuse a file that is neither a table nor JSON, or exists, before any work is done."""
    from dissensus.files.folders import check_free_file

    if output is not None:
        if output.suffix:
            check_table(output, overwrite)
        check_free_file(output, overwrite)


def emit(
    content: Callable[[], Any],
    tables: Callable[[], Sequence[Any]],
    show: Callable[[], None],
    output: Path | None,
    json: bool,
) -> None:
    """Write a result to a file, if one is named, and print it.

    Args:
        content: returns the result as JSON.
        tables: returns it as tables, as in `write_tables`, for a file that ends like one.
        show: prints it for people, unless JSON is wanted.
    """
    if output is not None and output.suffix.lower() not in ("", ".json"):
        write_tables(tables(), output, RESULT_DIGITS)
    elif output is not None:
        from dissensus.files.folders import staged

        with staged(output) as path, path.open("w", encoding="utf-8") as file:
            dump(content(), file, ensure_ascii=False, indent=1)
            file.write("\n")
    if output is not None:
        say(f"{output}: written")
    if json:
        print_json(content())
    else:
        show()


def emit_answers(
    tables: Mapping[str, pa.Table], output: Path | None, json: bool, overwrite: bool = False
) -> None:
    """Print the table of each question as JSON, or write it to a file or, as CSV, to stdout."""
    from dissensus.files.tabular import rounded
    from dissensus.prediction.answer_files import with_question

    if json:
        named = (with_question(table, question) for question, table in tables.items())
        rows = [row for table in named for row in table.to_pylist()]
        print_json([{name: rounded(value) for name, value in row.items()} for row in rows])
    if output is not None or not json:
        for path in write_answers(tables, output, overwrite):
            say(f"{path}: written")


def write_answers(
    tables: Mapping[str, pa.Table], output: Path | None, overwrite: bool = False
) -> list[Path]:
    """Write the table of each question; return the files. On stdout (None), all are one table with
    the column `question`."""
    from dissensus.prediction import answer_files

    if output is not None:
        return answer_files.write_answers(tables, output, overwrite)
    several = len(tables) > 1
    named = [answer_files.with_question(t, q) if several else t for q, t in tables.items()]
    write_tables(named, None)
    return []


def write_tables(tables: Sequence[Any], output: Path | None, digits: int = DIGITS) -> None:
    """Write tables as one, as CSV to stdout if `output` is None; there, control characters are
    escaped."""
    from dissensus.files.tabular import delimited
    from dissensus.prediction import answer_files

    if output is not None:
        answer_files.write_tables(tables, output, digits)
    else:
        text = delimited(answer_files.joined(tables), digits=digits)
        sys.stdout.buffer.write(visible(text).encode())


def say_encoders(model: Path, fitted: Any) -> None:
    """Print what a model reads its encoders from, if that is not installed, before it is read."""
    from dissensus.encoders.framework.catalogue import AND, outside_source

    named = getattr(fitted, "encoder", None) or ()
    names = named.values() if isinstance(named, dict) else [named] if isinstance(named, str) else ()
    sources = [outside_source(part) for name in names for part in name.split(AND)]
    for source in dict.fromkeys(source for source in sources if source is not None):
        say(f"{model}: its encoder is read from {source}, which is not part of the model")


def attribute_names(groups: list[str] | None) -> list[str]:
    """The attributes of a repeatable option, each of which may be a list with commas."""
    from dissensus.names import split_names

    return [name for text in groups or () for name in split_names(text)]
