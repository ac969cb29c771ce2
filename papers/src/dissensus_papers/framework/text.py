"""A report as text: tables, verdicts and claims, whole or within the width of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dissensus.evaluation import number
from dissensus.tables import BLANK, Table, wrapped
from dissensus_papers.framework.reports import Report


def table(
    heading: str, names: Sequence[str], rows: Sequence[Sequence[str]], notes: str = ""
) -> Table | str:
    """A table whose last column is left-aligned too; nothing if it has no rows."""
    if not rows:
        return ""
    align = f"l{'r' * (len(names) - 2)}l"
    return Table(names, rows, heading, align, [notes] if notes else [])


class Section(NamedTuple):
    """A table of a report, as declared: what it says, and from the report to its rows."""

    heading: str
    columns: Sequence[str]
    rows: Callable[[Report], Iterable[Sequence[str]]]
    notes: str = ""

    def __call__(self, report: Report) -> Table | str:
        return table(self.heading, self.columns, list(self.rows(report)), self.notes)


def front_page(report: Report, title: str, *more: str, before: str = "", after: str = "") -> str:
    """The title of a report, when and where it was made, and the command that makes it again.

    Args:
        more: lines below; empty ones are left out.
        before, after: text before the date and after the command.
    """
    origin = f"{before}{report['date']}, {'; '.join(report['machines'])}"
    how = f"commit {', '.join(report['commits'])}: {whole(report['command'])}{after}"
    return "\n".join(line for line in (title, origin, how, *more) if line)


def written(parts: Iterable[str | Table], width: int | None = None) -> str:
    """Parts one after another; those that say nothing are left out.

    Args:
        width: of a terminal; nothing is broken if left out.
    """
    texts = [
        part.to_text(width) if isinstance(part, Table) else wrapped(part, width) for part in parts
    ]
    return "\n\n".join(text for text in texts if text) + "\n"


def whole(text: str) -> str:
    """A text that `written` does not break, such as a command to be copied."""
    return text.replace(" ", BLANK)


def option(command: str, name: str, values: Collection[str]) -> str:
    """A command with an option that has several values; the same without any.

    Example:
        >>> option("dissensus papers individual DATA", "conditions", ["speech", "music"])
        'dissensus papers individual DATA --conditions "speech, music"'
    """
    listed = ", ".join(values)
    listed = f'"{listed}"' if len(values) > 1 else listed
    return f"{command} --{name} {listed}" if values else command


BEYOND = "Beyond the paper: "  # begins a claim that the paper does not make


def interval(test: Report, times: float = 1, digits: int = 4) -> str:
    """A difference with its interval, or the reason why it has none."""
    effect, low, high = (times * number(test[name]) for name in ("effect", "low", "high"))
    if np.isnan(low):
        return f"{effect:+.{digits}f} ({test.get('reason', '')})"
    return f"{effect:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def spread(scores: Sequence[float], digits: int = 2) -> str:
    """The standard deviation over runs, behind a mean; nothing of a single run."""
    return f" +- {np.std(scores, ddof=1):.{digits}f}" if len(scores) > 1 else ""


def extremes(values: Iterable[float], digits: int = 1) -> str:
    """The least and the greatest of some figures."""
    least, most = min(known := list(values)), max(known)
    return f"{least:.{digits}f} to {most:.{digits}f}"
