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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from dissensus.errors import DataError

if TYPE_CHECKING:
    from rich.table import Table

_quiet = ContextVar("quiet", default=False)
_UNSEEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)  # control characters, marks of direction, half letters


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
    """Print a result as JSON to stdout, with control characters escaped as JSON does."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=True)
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
    """A table with a header; if the terminal is narrow, texts and headings are wrapped.

    Args:
        numbers: right-aligned columns; a number is never wrapped.
        whole: columns that are never wrapped.
    """
    from rich.table import Table
    from rich.text import Text

    rows = [[_cell(cell) for cell in row] for row in rows]
    cells = [_widest(row[at] for row in rows) for at in range(len(names))]
    headings, widths, gap = _laid_out(names, cells, numbers, whole)
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for name, heading, wide in zip(names, headings, widths, strict=True):
        side: Literal["right", "left"] = "right" if name in numbers else "left"
        table.add_column(Text(heading), justify=side, overflow="fold", width=wide)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _cell(text: str, most: int = MOST_CELL) -> str:
    """What is shown of a text: its beginning, with control characters escaped."""
    return visible(text if len(text) <= most else f"{text[:most]}...")


def _laid_out(
    names: Sequence[str], cells: Sequence[int], numbers: Sequence[str], whole: Sequence[str]
) -> tuple[list[str], list[int], int]:
    """Headings, widths, and the gap between columns.

    To save room, headings are wrapped at hyphens first, then texts are wrapped, then gaps are
    narrower, then headings are wrapped anywhere.
    """
    from rich.console import Console

    room = Console().width
    widths = _widths(names, cells)
    if _needed(widths, GAP) <= room:
        return list(names), widths, GAP
    headings = [name if name in whole else name.replace("-", "-\n") for name in names]
    widths = _widths(headings, cells)
    kinds = ["whole" if n in whole else "number" if n in numbers else "text" for n in names]
    columns = list(zip(kinds, widths, cells, strict=True))
    fair = [min(width, LEAST) if kind == "text" else width for kind, width, _ in columns]
    least = [c if kind == "number" else f for (kind, _, c), f in zip(columns, fair, strict=True)]
    gap = GAP if _needed(fair, GAP) <= room else 1
    return headings, _narrowed(widths, least, room - gap * (len(names) - 1)), gap


def _widths(headings: Sequence[str], cells: Sequence[int]) -> list[int]:
    """The widths of columns whose headings may be wrapped."""
    lines = [_widest(heading.split("\n")) for heading in headings]
    return [max(line, cell, 1) for line, cell in zip(lines, cells, strict=True)]


def _widest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)


def _needed(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _narrowed(widths: list[int], least: list[int], room: int) -> list[int]:
    """Make the widest columns narrower, one by one, until the table fits or all are at their least.

    Example:
        >>> _narrowed([30, 6, 12], [12, 6, 4], 30)
        [12, 6, 12]
    """
    widths = [max(low, min(width, room)) for width, low in zip(widths, least, strict=True)]
    while sum(widths) > room:
        loose = [at for at, width in enumerate(widths) if width > least[at]]
        if not loose:
            break
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def show(*parts: Any) -> None:
    """Print tables and headings (strings) one after another."""
    from rich.console import Console
    from rich.text import Text

    room = max([Console().width, *(_width(part) for part in parts if not isinstance(part, str))])
    console = Console(highlight=False, width=room)  # a long line is better than a lost number
    with console.capture() as captured:
        for part in parts:
            console.print(Text(visible(part), style="bold") if isinstance(part, str) else part)
    lines = captured.get().splitlines()
    sys.stdout.write("".join(line.rstrip() + "\n" for line in lines))


def _width(table: Table) -> int:
    """The least width of a table; 0 for `facts`, which fits itself."""
    widths = [column.width or 0 for column in table.columns]
    return _needed(widths, table.padding[1]) if all(widths) else 0


def show_each(blocks: Iterable[Sequence[Any]]) -> None:
    """Print blocks of tables and headings, with an empty line between them."""
    for place, parts in enumerate(blocks):
        show(*([""] if place else []), *parts)


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
