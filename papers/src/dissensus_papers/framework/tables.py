"""Tables and verdicts as text, whole or within the width of a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from dissensus.evaluation import number, p_text
from dissensus_papers.framework.declared import Claim
from dissensus_papers.framework.reports import Report

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


def table(
    heading: str, names: Sequence[str], rows: Sequence[Sequence[str]], notes: str = ""
) -> Block | str:
    """A table with these names of columns; nothing if it has no rows."""
    return Block(heading, [names, *rows], notes) if rows else ""


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
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    text = KEPT.sub(lambda match: whole(match[0]), line)
    return textwrap.fill(text, max(width, 1), subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


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


def dealt(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Which columns go into each table, two spaces apart: the first, and as many others as fit.

    Example:
        >>> dealt([10, 8, 8, 8], width=30), dealt([10, 8, 8, 8], width=None)
        ([[0, 1, 2], [0, 3]], [[0, 1, 2, 3]])
    """
    parts: list[list[int]] = []
    for at, wide in enumerate(widths[1:], start=1):
        row = sum(widths[one] + 2 for one in parts[-1]) + wide if parts else 0
        if not parts or (width is not None and row > width):
            parts.append([0])
        parts[-1].append(at)
    return parts or [[0]]


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


LEVEL, UNKNOWN, UNTESTED = 0.05, "not shown", "not tested"
BEYOND = "Beyond the paper: "  # begins a claim that the paper does not make


def holds(test: Report, sign: int = 1) -> str:
    """Whether a difference is significant, in which direction, and whether only uncorrected.

    Args:
        sign: -1 if the claim is that the difference is below 0.
    """
    if np.isnan(number(test["p"])):
        return UNTESTED
    words = "holds" if sign * number(test["effect"]) > 0 else "the reverse holds"
    if number(test["adjusted"]) <= LEVEL:
        return words
    return f"{words} only uncorrected" if number(test["p"]) <= LEVEL else UNKNOWN


def alone(test: Report, what: str = "repetition") -> str:
    """A note where a difference was tested over the items of a single run."""
    return f", one {what}" * (test["n_runs"] == 1)


def interval(test: Report, times: float = 1, digits: int = 4) -> str:
    """A difference with its interval, or the reason why it has none."""
    effect, low, high = (times * number(test[name]) for name in ("effect", "low", "high"))
    if np.isnan(low):
        return f"{effect:+.{digits}f} ({test.get('reason', '')})"
    return f"{effect:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def points(test: Report, what: str = "repetition") -> str:
    """A difference of shares in points, with its interval and corrected p."""
    p = f", p {p_text(number(test['adjusted']))}{alone(test, what)}"
    return f"{interval(test, 100, 2)}{p * (not np.isnan(number(test['low'])))}"


def spread(scores: Sequence[float], digits: int = 2) -> str:
    """The standard deviation over runs, behind a mean; nothing of a single run."""
    return f" +- {np.std(scores, ddof=1):.{digits}f}" if len(scores) > 1 else ""


def claims_text(report: Report, claims: Iterable[Claim], unknown: str = "") -> str:
    """Each claim with its verdict, a line each.

    Args:
        unknown: the verdict on a claim that was not tested yet; if empty, the claim is left out.
    """
    verdicts = [(claim, verdict(report) or unknown) for claim, verdict in claims]
    lines = [f"- {claim}: {text}" for claim, text in verdicts if text]
    return "\n".join(["Claims", *lines]) if lines else ""
