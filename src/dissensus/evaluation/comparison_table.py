"""ComparisonTable: methods by metrics for one question; as text, Markdown, LaTeX, HTML or CSV."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dissensus.evaluation.significance.difference import NAN, Difference, p_text
from dissensus.metrics import DENSITY_METRICS, METRICS
from dissensus.tables import Emphasis, Table, wrapped

FLOORS = ("prior", "annotator-majority", "annotator-median")  # methods that ignore the content
BASELINES = ("logistic", "logistic-votes", "annotator-logistic")  # linear models of vectors
ALPHA = 0.05
MARKS = {"text": ("*", "+"), "markdown": ("bold", "†"), "latex": ("bold", "†")}  # best, differs
COLUMNS = (
    "corpus", "question", "method", "kind", "metric", "mean", "sd over fits", "low", "high",
    "fits", "best", "reference", "difference", "difference low", "difference high", "p",
    "p (Holm)", "test", "notes",
)  # fmt: skip


def higher_is_better(metric: str) -> bool:
    """Whether higher scores are better; "accuracy (gold)" counts as accuracy."""
    if metric in DENSITY_METRICS:
        return DENSITY_METRICS[metric].higher_is_better
    return METRICS[metric.removesuffix(" (gold)")].higher_is_better


@dataclass(frozen=True)
class Cell:
    """The score of a method on a metric, and its difference from the reference.

    Example:
        >>> str(Cell(0.8123, 0.0102, 0.79, 0.834)), str(Cell(0.5))
        ('0.812 ± 0.010 [0.790, 0.834]', '0.500')
    """

    mean: float  # over runs; of all items together if the metric is computed from items
    spread: float = NAN  # standard deviation over fits
    low: float = NAN  # the interval of the mean
    high: float = NAN
    n_fits: int = 0  # number of fits that have a score
    best: bool = False
    against: Difference | None = None  # this method minus the reference

    def __str__(self) -> str:
        """Mean, standard deviation over fits and interval, if defined."""
        spread = "" if math.isnan(self.spread) else f" ± {self.spread:.3f}"
        ends = "" if math.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.mean:.3f}{spread}{ends}"

    @property
    def differs(self) -> bool:
        """Whether it differs from the reference significantly, after Holm's correction."""
        return self.against is not None and self.against.adjusted < ALPHA


@dataclass(frozen=True)
class Row:
    """A method, or a floor that needs no fitted method."""

    name: str
    cells: dict[str, Cell]  # by metric; metrics without a score are missing
    floor: bool = False


@dataclass(frozen=True)
class ComparisonTable:
    """Methods by metrics for one question."""

    corpus: str
    question: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]  # floors last
    reference: str | None
    n_comparisons: int  # over which p was corrected
    notes: tuple[str, ...]
    command: str

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def _repr_html_(self) -> str:
        """Means with intervals, and differences from the reference, for notebooks."""
        parts = [part.to_html() for part in _parts(self, "text", compact=False)]
        notes = [*_legend(self, "text", compact=False), *self.notes]
        return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in notes)])


def to_text(
    table: ComparisonTable,
    width: int | None = None,
    *,
    compact: bool = False,
    fold: bool = True,
    legend: bool = True,
) -> str:
    """Plain text; the best mean is marked with *, a difference from the reference with +.

    Args:
        width: of the terminal; metrics that do not fit go to further tables below.
        compact: means only, without intervals and the table of differences.
        fold: whether notes are wrapped to the width too.
        legend: whether to explain the numbers and marks below.
    """
    blocks = [part.to_text(width) for part in _parts(table, "text", compact)]
    notes = [*(_legend(table, "text", compact) if legend else ()), *table.notes]
    closing = [wrapped(note, width if fold else None) for note in notes]
    closing += [table.command] if table.command else []  # unwrapped, to be copied
    return "\n\n".join([*blocks, *(["\n".join(closing)] if closing else [])]) + "\n"


def to_markdown(table: ComparisonTable, *, compact: bool = False, legend: bool = True) -> str:
    """As `to_text` in Markdown; the best mean is bold, a difference from the reference has a
    dagger."""
    *first, last = _parts(table, "markdown", compact)
    notes = [*(_legend(table, "markdown", compact) if legend else ()), *table.notes]
    parts = [part.to_markdown() for part in (*first, replace(last, notes=notes))]
    command = [] if notes or not table.command else [""]
    command += [f"`{table.command}`"] if table.command else []
    return "\n".join(["\n\n".join(parts), *command]) + "\n"


def to_latex(table: ComparisonTable, *, compact: bool = False, legend: bool = True) -> str:
    """A LaTeX `table` with caption, label and booktabs rules, another one for differences, and
    notes as comments. Names are escaped. As `to_text`, with the legend in the caption."""
    scores, *differences = _parts(table, "latex", compact)
    title = f"{table.corpus}, {table.question}"
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{table.corpus}-{table.question}").strip("-").lower()
    label = name or "comparison"
    caption = [f"{title}.", *(_legend(table, "latex", compact) if legend else ())]
    texts = [replace(scores, title=" ".join(caption)).to_latex(label)]
    for part in differences:
        caption = [f"{title}: difference from {table.reference}, with 95 % interval and p"]
        caption += ["after Holm's correction."]
        texts.append(replace(part, title=" ".join(caption)).to_latex(f"{label}-differences"))
    comments = [*table.notes, *([table.command] if table.command else [])]
    lines = [f"% {' '.join(line.split())}" for line in comments]
    return "\n".join(["\n\n".join(texts), *lines]) + "\n"


def to_csv(*tables: ComparisonTable) -> str:
    """One line for each method and metric, with all numbers unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for table, row in [(each, row) for each in tables for row in each.rows]:
        for metric, cell in row.cells.items():
            kind = "floor" if row.floor else "method"
            known = [table.corpus, table.question, row.name, kind, metric]
            figures = map(_exact, [cell.mean, cell.spread, cell.low, cell.high])
            marks = [cell.n_fits or "", "yes" if cell.best else ""]
            writer.writerow([*known, *figures, *marks, *_against(cell.against, table.reference)])
    return text.getvalue()


FORMATS: dict[str, Callable[..., str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "latex": to_latex,
    "csv": to_csv,
}


def format_tables(
    tables: Sequence[ComparisonTable],
    style: str = "text",
    *,
    compact: bool = False,
    width: int | None = None,
    fold: bool = True,
) -> str:
    """The tables of several questions in one of `FORMATS`; what they share is said once, below.

    Args:
        compact: means only, without intervals and tables of differences; not for CSV.
        width: of tables as text; `fold` wraps notes to it too.
    """
    if style == "csv":
        return to_csv(*tables)
    shared = [note for note in tables[0].notes if all(note in table.notes for table in tables)]
    options: dict[str, Any] = {"compact": compact}
    options |= {"width": width, "fold": fold} if style == "text" else {}
    parts = []
    for table in tables:
        last = table is tables[-1]
        own = [note for note in table.notes if note not in shared]
        notes = (*own, *(shared if last else ()))
        shown = replace(table, notes=notes, command=table.command if last else "")
        parts.append(FORMATS[style](shown, legend=last or style == "latex", **options))
    return "\n".join(parts)


def _parts(table: ComparisonTable, style: str, compact: bool) -> list[Table]:
    """The table of scores, and that of differences from the reference, if there are some."""
    arrows = ["↑" if higher_is_better(metric) else "↓" for metric in table.metrics]
    named = [f"{m} {arrow}" for m, arrow in zip(table.metrics, arrows, strict=True)]
    rows: list[list[Any]] = [
        [
            Emphasis(row.name, italic=True) if row.floor and style == "markdown" else row.name,
            *(_score(row.cells.get(m), style, compact) for m in table.metrics),
        ]
        for row in table.rows
    ]
    n_methods = sum(not row.floor for row in table.rows)
    floors = [[], *rows[n_methods:]] if n_methods < len(rows) else []
    scores = Table([table.question, *named], [[], *rows[:n_methods], *floors])
    differences = [
        [row.name, *(_difference(row.cells.get(m)) for m in table.metrics)] for row in table.rows
    ]
    compared = [row for row in differences if any(cell != "-" for cell in row[1:])]
    if compact or table.reference is None or not compared:
        return [scores]
    title = f"Difference from {table.reference}{':' * (style == 'markdown')}"
    return [scores, Table(["", *table.metrics], compared, title)]


def _score(cell: Cell | None, style: str, compact: bool) -> str | Emphasis:
    if cell is None:
        return "-"
    best, apart = MARKS[style]
    mark = apart if cell.differs else ""
    mean, blank, rest = f"{cell}".partition(" ")
    rest = "" if compact else blank + rest
    if style == "text":
        return f"{mean}{rest}{best if cell.best else ''}{mark}"
    return Emphasis(mean, mark + rest) if cell.best else f"{mean}{mark}{rest}"


def _difference(cell: Cell | None) -> str:
    """Effect with interval, then p."""
    difference = None if cell is None else cell.against
    if difference is None or math.isnan(difference.effect):
        return "-"
    p = "" if math.isnan(difference.p) else f", p {p_text(difference.adjusted)}"
    return f"{difference.effect_text()}{p}"


def _against(difference: Difference | None, reference: str | None) -> list[str]:
    if difference is None:
        return [""] * 8
    figures = difference.effect, difference.low, difference.high, difference.p, difference.adjusted
    notes = "; ".join([*difference.notes, *([difference.reason] if difference.reason else [])])
    return [reference or "", *map(_exact, figures), difference.test, notes]


def _exact(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _legend(table: ComparisonTable, style: str, compact: bool) -> list[str]:
    """What numbers and marks mean, and over which comparisons p is corrected."""
    best, apart = MARKS[style]
    figures = "Mean over fits" if compact else "Mean ± sd over fits [95 % interval]"
    lines = [f"{figures}; {best}: best mean, without floors."]
    if table.reference is not None and not table.n_comparisons:
        lines.append(f"No difference from {table.reference} could be tested.")
    elif table.reference is not None:
        floors = [cell for row in table.rows if row.floor for cell in row.cells.values()]
        tested = ", floors included" if any(cell.against is not None for cell in floors) else ""
        lines.append(
            f"{apart}: differs from {table.reference} (p < {ALPHA:g} after Holm's correction over "
            f"{table.n_comparisons} comparisons{tested})."
        )
    return lines
