"""Tables for people: coloured on a terminal, plain lines without cut columns elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """One fact a line: what it is, and its value."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", max_width=44)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def columns(
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str],
    whole: Sequence[str] = (),
) -> Table:
    """A table with a header.

    Args:
        numbers: the columns that stand to the right.
        whole: the columns that are never broken into lines; others are where room is short.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    rows = list(rows)
    for name, heading in zip(names, _headings(names, rows, whole), strict=True):
        side: Literal["right", "left"] = "right" if name in numbers else "left"
        table.add_column(Text(heading), justify=side, overflow="fold", no_wrap=name in whole)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _headings(
    names: Sequence[str], rows: Sequence[Sequence[str]], whole: Sequence[str]
) -> list[str]:
    """The names; where there is no room for them all, those with hyphens stand on several lines."""
    from rich.console import Console

    cells = [max((len(row[at]) for row in rows), default=0) for at in range(len(names))]
    wide = sum(max(len(name), cell) + 2 for name, cell in zip(names, cells, strict=True))
    if wide - 2 <= Console().width:
        return list(names)
    return [name if name in whole else name.replace("-", "-\n") for name in names]


def show(*parts: Any) -> None:
    """Print tables and lines one after another; a text is a heading."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(Text(part, style="bold") if isinstance(part, str) else part)
    lines = captured.get().splitlines()
    sys.stdout.write("".join(line.rstrip() + "\n" for line in lines))


def number(value: float, digits: int = 3) -> str:
    """A number for people; what is undefined is a dash.

    Example:
        >>> number(363209), number(0.5), number(float("nan"))
        ('363,209', '0.500', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
