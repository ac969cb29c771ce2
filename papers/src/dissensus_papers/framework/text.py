"""A report as text: tables, verdicts and claims, whole or within the width of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dissensus.evaluation import number, p_text
from dissensus.tables import BLANK, Table, wrapped
from dissensus_papers.framework.declared import Claim
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
    lines = [
        title,
        f"{before}{report['date']}, {'; '.join(report['machines'])}",
        f"commit {', '.join(report['commits'])}: {whole(report['command'])}{after}",
        *more,
    ]
    return "\n".join(line for line in lines if line)


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
