"""Parts of a report as text: whole, or within the width of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dissensus.evaluation.report.formats import dealt, folded

BLANK = "\N{NO-BREAK SPACE}"  # stands for a space at which no line ends
KEPT = re.compile(r"\[[^][]*\]|\bp [<=]+ [\d.]+")  # an interval, a p
NAME = 12  # columns that the name of a column may take, however narrow its figures are
LEAST = 0.3  # of the width, for the first column of a table that is cut


@dataclass(frozen=True)
class Block:
    """A table below its heading, and what is to be known to read it."""

    heading: str
    rows: Sequence[Sequence[str]]  # the first names the columns; one cell heads the rows below
    notes: str = ""

    def written(self, width: int | None) -> str:
        """As text; a table that is too wide is cut into several, each with the first column."""
        above, below = (wrapped(text, width) for text in (self.heading, self.notes))
        parts = (above, aligned(self.rows, width), below)
        return "\n".join(part for part in parts if part)


def front_page(
    report: Mapping[str, Any], title: str, *more: str, before: str = "", after: str = ""
) -> str:
    """The title of a report, when and where it was made, and the command that makes it again.

    Args:
        more: lines below; empty ones are left out.
        before, after: text before the date and after the command.
    """
    lines = [
        title,
        f"{before}{report['date']}, {'; '.join(report['machines'])}",
        f"commit {', '.join(report['commits'])}: {whole(report['command'])}{after}",
        *more,
    ]
    return "\n".join(line for line in lines if line)


def written(parts: Iterable[str | Block], width: int | None = None) -> str:
    """Parts one after another; those that say nothing are left out.

    Args:
        width: of a terminal; nothing is broken if left out.
    """
    texts = [
        part.written(width) if isinstance(part, Block) else wrapped(part, width) for part in parts
    ]
    return "\n\n".join(text for text in texts if text).replace(BLANK, " ") + "\n"


def whole(text: str) -> str:
    """A text that `written` does not break, such as a command to be copied."""
    return text.replace(" ", BLANK)


def wrapped(text: str, width: int | None) -> str:
    """Lines within the width, as far as words allow; continued lines are indented."""
    return text if width is None else "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    """Intervals and p values stay on one line."""
    if len(line) <= width:
        return line
    return folded(KEPT.sub(lambda match: whole(match[0]), line), width)


# ---- tables ----


def aligned(rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Columns under one another, the first and last to the left; a row of one cell is a heading.

    Example:
        >>> print(aligned([["", "paper", "ours"], ["stems"], ["  STL", "73.59", "75.50 +- 0.97"]]))
               paper  ours
        stems
          STL  73.59  75.50 +- 0.97
    """
    table = [row for row in rows if len(row) > 1]
    columns: list[Sequence[str]] = list(zip(*table, strict=True))
    widths = [_width(column) for column in columns]
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        columns = _narrowed(columns, width)
        widths = [_width(column) for column in columns]
    parts = dealt(widths, width) if widths else [[]]  # headings alone
    return "\n\n".join(_lines(rows, columns, widths, part, width) for part in parts)


def _lines(
    rows: Sequence[Sequence[str]],
    columns: Sequence[Sequence[str]],
    widths: Sequence[int],
    part: Sequence[int],
    width: int | None,
) -> str:
    """The lines of some of the columns; rows that have nothing in these are left out."""
    left = (0, len(columns) - 1)
    every = zip(*(columns[at] for at in part), strict=True)
    lines = []
    for row in rows:
        if len(row) == 1:
            lines.append(wrapped(row[0], width))
            continue
        cells = next(every)
        if len(part) < len(columns) and not any(cells[1:]):
            continue
        for texts in zip_longest(*(cell.split("\n") for cell in cells), fillvalue=""):
            padded = [
                text.ljust(widths[at]) if at in left else text.rjust(widths[at])
                for at, text in zip(part, texts, strict=True)
            ]
            lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _width(column: Sequence[str]) -> int:
    return max(len(line) for cell in column for line in cell.split("\n"))


def _narrowed(columns: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Cells on several lines, so that all is within the width, in few tables of few lines."""
    widest = _width(columns[0])
    least = min(widest, int(LEAST * width))
    tried = [_with_first(columns, first, width) for first in range(widest, least - 1, -1)]

    def cost(narrowed: list[Sequence[str]]) -> tuple[int, int, int]:
        first, *others = widths = [_width(column) for column in narrowed]
        beyond = max(0, first + 2 + max(others) - width)
        n_lines = sum(cell.count("\n") for column in narrowed for cell in column)
        return beyond, len(dealt(widths, width)), n_lines

    return min(tried, key=cost)


def _with_first(columns: Sequence[Sequence[str]], first: int, width: int) -> list[Sequence[str]]:
    """The first column so wide at most; others in the room that is left, names as their figures."""
    narrowed: list[Sequence[str]] = [[_folded(cell, first) for cell in columns[0]]]
    room = width - _width(narrowed[0]) - 2
    for name, *cells in columns[1:]:
        within = [_folded(cell, room) for cell in cells]
        figures = max(_width(within), NAME) if within else room
        narrowed.append([_folded(name, min(figures, room)), *within])
    return narrowed
