"""A table of results as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dissensus.evaluation.report.tables import ALPHA, Cell, ComparisonTable, higher_is_better
from dissensus.evaluation.significance.difference import Difference, p_text

LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
SIGNS = {"±": r"$\pm$", "†": r"$^\dagger$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "<": "$<$"}
NUMBER = re.compile(r"(?<![\w.])([+-]\d+\.\d+)")
COLUMNS = (
    "corpus", "question", "method", "kind", "metric", "mean", "sd over fits", "low", "high",
    "fits", "best", "reference", "difference", "difference low", "difference high", "p",
    "p (Holm)", "test", "notes",
)  # fmt: skip


def to_text(
    table: ComparisonTable,
    digits: int = 3,
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
    cells = [
        [row.name, *(_marked(row.cells.get(m), digits, "*", "+", compact) for m in table.metrics)]
        for row in table.rows
    ]
    n_methods = sum(not row.floor for row in table.rows)
    parts = _fitting([_header(table), *cells], width)
    blocks = [_ruled(_aligned(part), n_methods) for part in parts]
    differences = [] if compact else _differences(table, digits)
    if differences:
        for part in _fitting(differences, width):
            lines = [f"Difference from {table.reference}", *_aligned(part)]
            blocks.append("\n".join(line.rstrip() for line in lines))
    notes = [*(_legend(table, "*", "+", compact) if legend else ()), *table.notes]
    closing = [folded(note, width if fold else None) for note in notes]
    closing += [table.command] if table.command else []  # unwrapped, to be copied
    return "\n\n".join([*blocks, *(["\n".join(closing)] if closing else [])]) + "\n"


def folded(line: str, width: int | None) -> str:
    """Wrap a line to the width; further lines are indented.

    Example:
        >>> print(folded("- MTL beats STL: it does in 6 of 9", 20))
        - MTL beats STL: it
          does in 6 of 9
    """
    if width is None or len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, max(width, 1), subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


def _ruled(lines: Sequence[str], n_methods: int) -> str:
    """A header, methods and floors, separated by rules."""
    ruled = [lines[0], "-" * len(lines[0]), *lines[1 : n_methods + 1]]
    if n_methods + 1 < len(lines):
        ruled += ["-" * len(lines[0]), *lines[n_methods + 1 :]]
    return "\n".join(line.rstrip() for line in ruled)


def _fitting(cells: Sequence[Sequence[str]], width: int | None) -> list[list[list[str]]]:
    """Split a table into tables that fit the width, each with the first column."""
    parts = dealt([max(map(len, column)) for column in zip(*cells, strict=True)], width)
    return [[[row[at] for at in part] for row in cells] for part in parts]


def dealt(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Which columns go into each table, two spaces apart: the first, and as many others as fit.

    Example:
        >>> dealt([10, 8, 8, 8], width=30), dealt([10, 8, 8, 8], width=None)
        ([[0, 1, 2], [0, 3]], [[0, 1, 2, 3]])
    """
    first, *others = widths
    parts: list[list[int]] = []
    room = -1
    for at, wide in enumerate(others, start=1):
        if not parts or (width is not None and wide + 2 > room):
            parts.append([0])
            room = (width or 0) - first
        parts[-1].append(at)
        room -= wide + 2
    return parts or [[0]]


def to_markdown(
    table: ComparisonTable, digits: int = 3, *, compact: bool = False, legend: bool = True
) -> str:
    """Markdown tables; the best mean is bold, a difference from the reference has a dagger.

    Args:
        compact: means only, without intervals and the table of differences.
        legend: whether to explain the numbers and marks below.
    """
    header = _header(table)
    lines = [_pipes(header), _pipes(["---"] + ["--:"] * len(table.metrics))]
    for row in table.rows:
        name = f"*{_safe(row.name)}*" if row.floor else _safe(row.name)
        cells = [_bold(row.cells.get(m), digits, "**{}**", "†", compact) for m in table.metrics]
        lines.append(_pipes([name, *cells]))
    differences = [] if compact else _differences(table, digits)
    if differences:
        first, *rest = differences
        lines += ["", f"Difference from {_safe(str(table.reference))}:", "", _pipes(first)]
        lines += [_pipes(["---"] + ["--:"] * (len(first) - 1))]
        lines += [_pipes([_safe(name), *cells]) for name, *cells in rest]
    notes = [*(_legend(table, "bold", "†", compact) if legend else ()), *table.notes]
    closing = [f"{_safe(note)}  " for note in notes]
    closing += [f"`{table.command}`"] if table.command else []
    return "\n".join([*lines, *([""] if closing else []), *closing]) + "\n"


def to_latex(
    table: ComparisonTable, digits: int = 3, *, compact: bool = False, legend: bool = True
) -> str:
    """A LaTeX `table` with caption, label and booktabs rules, another one for differences, and
    notes as comments. Names are escaped.

    Args:
        compact: means only, without intervals and the table of differences.
        legend: whether the caption explains the numbers and marks.
    """
    floors = [row for row in table.rows if row.floor]
    methods = [row for row in table.rows if not row.floor]
    sections = [
        [
            [
                row.name,
                *(
                    _bold(row.cells.get(m), digits, "\\textbf{{{}}}", "†", compact)
                    for m in table.metrics
                ),
            ]
            for row in rows
        ]
        for rows in (methods, floors)
    ]
    title, label = f"{table.corpus}, {table.question}", _label(table)
    caption = [f"{title}.", *(_legend(table, "bold", "†", compact) if legend else ())]
    lines = _floating(_tabular([[_header(table)], *sections]), " ".join(caption), label)
    differences = [] if compact else _differences(table, digits)
    if differences:
        first, *rest = differences
        caption = [f"{title}: difference from {table.reference}, with 95 % interval and p"]
        caption += ["after Holm's correction."]
        shown = _tabular([[first], rest])
        lines += ["", *_floating(shown, " ".join(caption), f"{label}-differences")]
    comments = [*table.notes, *([table.command] if table.command else [])]
    return "\n".join([*lines, *(f"% {' '.join(line.split())}" for line in comments)]) + "\n"


def _floating(tabular: Sequence[str], caption: str, label: str) -> list[str]:
    """A table environment; it needs the package booktabs."""
    return [
        "\\begin{table}[t] % \\usepackage{booktabs}",
        "\\centering",
        f"\\caption{{{_latex(caption)}}}",
        f"\\label{{tab:{label}}}",
        *tabular,
        "\\end{table}",
    ]


def _label(table: ComparisonTable) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{table.corpus}-{table.question}").strip("-")
    return name.lower() or "comparison"


def _tabular(sections: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Sections of rows, separated by rules."""
    width = len(sections[0][0])
    lines = [f"\\begin{{tabular}}{{l{'r' * (width - 1)}}}", "\\toprule"]
    for number, section in enumerate(part for part in sections if part):
        lines += ["\\midrule"] if number else []
        lines += [f"{' & '.join(map(_latex, row))} \\\\" for row in section]
    return [*lines, "\\bottomrule", "\\end{tabular}"]


def _latex(cell: str) -> str:
    """A cell with escaped names and LaTeX signs; bold stays as it is."""
    bold = cell.startswith("\\textbf{")
    mean, rest = cell.removeprefix("\\textbf{").split("}", 1) if bold else ("", cell)
    shown = "".join(SIGNS.get(sign, sign) for sign in escaped(rest))
    mean, shown = (NUMBER.sub(r"$\1$", part) for part in (mean, shown))
    return f"\\textbf{{{mean}}}{shown}" if bold else shown


def to_csv(table: ComparisonTable) -> str:
    """One line for each method and metric, with all numbers unrounded."""
    return _csv([table])


def _csv(tables: Sequence[ComparisonTable]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for table, row in [(each, row) for each in tables for row in each.rows]:
        for metric, cell in row.cells.items():
            kind = "floor" if row.floor else "method"
            known = [table.corpus, table.question, row.name, kind, metric]
            figures = [cell.mean, cell.spread, cell.low, cell.high]
            writer.writerow(
                [*known, *map(_exact, figures), cell.n_fits or "", "yes" if cell.best else ""]
                + _against(cell.against, table.reference)
            )
    return text.getvalue()


FORMATS: dict[str, Callable[[ComparisonTable], str]] = {
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
        return _csv(tables)
    shared = [
        note for note in tables[0].notes if all(note in table.notes for table in tables)
    ]  # fmt: skip
    options: dict[str, Any] = {"compact": compact}
    options |= {"width": width, "fold": fold} if style == "text" else {}
    write: Callable[..., str] = FORMATS[style]
    parts = []
    for table in tables:
        last = table is tables[-1]
        own = [note for note in table.notes if note not in shared]
        notes = (*own, *(shared if last else ()))
        shown = replace(table, notes=notes, command=table.command if last else "")
        parts.append(write(shown, legend=last or style == "latex", **options))
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Escape a text for LaTeX.

    Example:
        >>> print(escaped("soft_label & 50 %"))
        soft\\_label \\& 50 \\%
    """
    return "".join(LATEX.get(sign, sign) for sign in text)


# ---- cells ----


def _header(table: ComparisonTable) -> list[str]:
    arrows = ["↑" if higher_is_better(metric) else "↓" for metric in table.metrics]
    return [
        table.question,
        *(f"{m} {arrow}" for m, arrow in zip(table.metrics, arrows, strict=True)),
    ]


def figure(cell: Cell, digits: int = 3) -> str:
    """Mean, standard deviation over fits and interval, if defined.

    Example:
        >>> figure(Cell(0.8123, 0.0102, 0.79, 0.834)), figure(Cell(0.5))
        ('0.812 ± 0.010 [0.790, 0.834]', '0.500')
    """
    spread = "" if math.isnan(cell.spread) else f" ± {cell.spread:.{digits}f}"
    ends = "" if math.isnan(cell.low) else f" [{cell.low:.{digits}f}, {cell.high:.{digits}f}]"
    return f"{cell.mean:.{digits}f}{spread}{ends}"


def _marked(cell: Cell | None, digits: int, best: str, apart: str, compact: bool) -> str:
    if cell is None:
        return "-"
    shown = f"{cell.mean:.{digits}f}" if compact else figure(cell, digits)
    return shown + (best if cell.best else "") + (apart if cell.differs else "")


def _bold(cell: Cell | None, digits: int, bold: str, apart: str, compact: bool) -> str:
    if cell is None:
        return "-"
    mean, _, rest = figure(cell, digits).partition(" ")
    rest = "" if compact else rest
    mark = apart if cell.differs else ""
    return f"{bold.format(mean) if cell.best else mean}{mark}{' ' if rest else ''}{rest}"


def _differences(table: ComparisonTable, digits: int) -> list[list[str]]:
    """The table of differences from the reference: effect with interval, then p.

    Empty without a reference, or if there is no score to compare.
    """
    rows = [["", *table.metrics]]
    for row in table.rows:
        differences = [row.cells[m].against if m in row.cells else None for m in table.metrics]
        if any(difference is not None for difference in differences):
            rows.append([row.name, *(_difference(each, digits) for each in differences)])
    compared = any(cell != "-" for _, *cells in rows[1:] for cell in cells)
    return rows if table.reference is not None and compared else []


def _difference(difference: Difference | None, digits: int) -> str:
    if difference is None or math.isnan(difference.effect):
        return "-"
    ends = (
        ""
        if math.isnan(difference.low)
        else f" [{difference.low:+.{digits}f}, {difference.high:+.{digits}f}]"
    )
    p = "" if math.isnan(difference.p) else f", p {p_text(difference.adjusted)}"
    return f"{difference.effect:+.{digits}f}{ends}{p}"


def _against(difference: Difference | None, reference: str | None) -> list[str]:
    if difference is None:
        return [""] * 8
    figures = difference.effect, difference.low, difference.high, difference.p, difference.adjusted
    notes = "; ".join([*difference.notes, *([difference.reason] if difference.reason else [])])
    return [reference or "", *map(_exact, figures), difference.test, notes]


def _exact(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


# ---- lines ----


def _legend(table: ComparisonTable, best: str, apart: str, compact: bool) -> list[str]:
    """What numbers and marks mean, and over which comparisons p is corrected."""
    figures = "Mean over fits" if compact else "Mean ± sd over fits [95 % interval]"
    lines = [f"{figures}; {best}: best mean, without floors."]
    if table.reference is not None and not table.n_comparisons:
        lines.append(f"No difference from {table.reference} could be tested.")
    elif table.reference is not None:
        floors = ", floors included" if table.tests_floors else ""
        lines.append(
            f"{apart}: differs from {table.reference} (p < {ALPHA:g} after Holm's correction over "
            f"{table.n_comparisons} comparisons{floors})."
        )
    return lines


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns: the first is left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _safe(text: str) -> str:
    """A name for Markdown, with all special characters escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|" else sign for sign in text)
