"""Table: texts in named columns, as plain text, Markdown, LaTeX or HTML."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dissensus.errors import InstallError

BLANK = "\N{NO-BREAK SPACE}"  # stands for a space at which no line ends
KEPT = re.compile(r"\[[^][]*\]|\bp [<=]+ [\d.]+")  # an interval, a p: never wrapped
LEAST_HEADING = 12  # characters of a column's name, however narrow its cells are
LEAST_FIRST = 0.3  # of the width, for the first column of a table that does not fit
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
SIGNS = {"±": r"$\pm$", "†": r"$^\dagger$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "<": "$<$"}
NUMBER = re.compile(r"(?<![\w.])([+-]\d+\.\d+)")


@dataclass(frozen=True)
class Emphasis:
    """A cell that begins with a bold or italic text, in Markdown and LaTeX."""

    text: str
    rest: str = ""
    italic: bool = False

    def __str__(self) -> str:
        return self.text + self.rest


Cell = str | Emphasis


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Args:
        columns: their names; no line of names if all are empty.
        rows: a cell for each column. A row with one cell is a heading of the rows below it, a row
            without cells a rule.
        title: above the table; the caption in LaTeX.
        align: "l" or "r" for each column, as in LaTeX; if left out, the first is left-aligned.
        notes: lines below the table.

    Example:
        >>> table = Table(["", "paper", "ours"], [["stems"], ["  STL", "73.59", "75.50 ± 0.97"]])
        >>> print(table.to_text())
               paper          ours
        stems
          STL  73.59  75.50 ± 0.97
        >>> print(Table(["measure", "value"], [["a|b", "0.31"]], "label").to_markdown())
        label
        <BLANKLINE>
        | measure | value |
        | --- | --: |
        | a\\|b | 0.31 |
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    align: str = ""
    notes: Sequence[str] = ()

    def sides(self) -> str:
        return self.align or "l" + "r" * (len(self.columns) - 1)

    # ---- plain text ----

    def to_text(self, width: int | None = None) -> str:
        """Title, table and notes; nothing is wrapped if the width of a terminal is left out.

        If the table is too wide, texts are wrapped, then columns go to further tables below, each
        with the first column.
        """
        named = [self.columns] if any(self.columns) else []
        cells = [[str(cell) for cell in row] for row in (*named, *self.rows)]
        whole = [row for row in cells if len(row) == len(self.columns)] or [list(self.columns)]
        columns: list[Sequence[str]] = list(zip(*whole, strict=True))
        widths = [_width(column) for column in columns]
        if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
            columns = _narrowed(columns, width)
            widths = [_width(column) for column in columns]
        parts = [
            self._lines(cells, columns, widths, part, width) for part in divided(widths, width)
        ]
        above, below = (wrapped(text, width) for text in (self.title, "\n".join(self.notes)))
        return "\n".join(part for part in (above, "\n\n".join(parts), below) if part)

    def _lines(
        self,
        rows: Sequence[Sequence[str]],
        columns: Sequence[Sequence[str]],
        widths: Sequence[int],
        part: Sequence[int],
        width: int | None,
    ) -> str:
        """The lines of some of the columns; rows that have nothing in these are left out."""
        sides, of_part = self.sides(), zip(*(columns[at] for at in part), strict=True)
        lines = []
        for row in rows:
            if not row:
                lines.append("-" * (sum(widths[at] for at in part) + 2 * (len(part) - 1)))
                continue
            if len(row) == 1 < len(columns):
                lines.append(wrapped(row[0], width))
                continue
            cells = next(of_part)
            if len(part) < len(columns) and not any(cells[1:]):
                continue
            for texts in zip_longest(*(cell.split("\n") for cell in cells), fillvalue=""):
                padded = [
                    text + _blanks(text, widths[at])
                    if sides[at] == "l"
                    else _blanks(text, widths[at]) + text
                    for at, text in zip(part, texts, strict=True)
                ]
                lines.append("  ".join(padded).rstrip().replace(BLANK, " "))
        return "\n".join(lines)

    # ---- markup ----

    def to_markdown(self) -> str:
        """A Markdown table; names are escaped, a rule is left out."""
        rule = ["--:" if side == "r" else "---" for side in self.sides()]
        lines = [_pipes(list(map(_markdown, self.columns))), _pipes(rule)]
        for row in (row for row in self.rows if row):
            more = [""] * (len(self.columns) - len(row))
            lines.append(_pipes([*map(_markdown, row), *more]))
        above = [escaped_markdown(self.title), ""] if self.title else []
        below = ["", *(f"{escaped_markdown(note)}  " for note in self.notes)] if self.notes else []
        return "\n".join([*above, *lines, *below])

    def to_latex(self, label: str = "") -> str:
        """A `table` environment with booktabs rules; notes are comments."""
        n = len(self.columns)
        lines = [f"{' & '.join(map(_latex, self.columns))} \\\\", "\\midrule"]
        for row in self.rows:
            if not row:
                lines += ["\\midrule"] if lines[-1] != "\\midrule" else []
            elif len(row) == 1 < n:
                lines.append(f"\\multicolumn{{{n}}}{{l}}{{{_latex(row[0])}}} \\\\")
            else:
                lines.append(f"{' & '.join(map(_latex, row))} \\\\")
        return "\n".join(
            [
                "\\begin{table}[t] % \\usepackage{booktabs}",
                "\\centering",
                *([f"\\caption{{{_latex(self.title)}}}"] if self.title else []),
                *([f"\\label{{tab:{label}}}"] if label else []),
                f"\\begin{{tabular}}{{{self.sides()}}}",
                "\\toprule",
                *lines,
                "\\bottomrule",
                "\\end{tabular}",
                "\\end{table}",
                *(f"% {' '.join(note.split())}" for note in self.notes),
            ]
        )

    def to_html(self) -> str:
        """An HTML table for notebooks."""
        rows = [list(map(str, row)) for row in self.rows if row]
        notes = [f"<p>{html.escape(note)}</p>" for note in self.notes]
        return "".join([html_table(self.columns, rows, self.title), *notes])


# ---- widths ----


def divided(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Which columns go into each table, two spaces apart: the first, and as many others as fit.

    Example:
        >>> divided([10, 8, 8, 8], width=30), divided([10, 8, 8, 8], width=None)
        ([[0, 1, 2], [0, 3]], [[0, 1, 2, 3]])
    """
    parts: list[list[int]] = []
    for at, wide in enumerate(widths[1:], start=1):
        row = sum(widths[one] + 2 for one in parts[-1]) + wide if parts else 0
        if not parts or (width is not None and row > width):
            parts.append([0])
        parts[-1].append(at)
    return parts or [[0]]


def _narrowed(columns: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Cells on several lines, so that all is within the width, in few tables of few lines."""
    widest = _width(columns[0])
    least = min(widest, int(LEAST_FIRST * width))
    tried = [_with_first(columns, first, width) for first in range(widest, least - 1, -1)]

    def cost(narrowed: list[Sequence[str]]) -> tuple[int, int, int]:
        first, *others = widths = [_width(column) for column in narrowed]
        beyond = max(0, first + 2 + max(others, default=-2) - width)
        n_lines = sum(cell.count("\n") for column in narrowed for cell in column)
        return beyond, len(divided(widths, width)), n_lines

    return min(tried, key=cost)


def _with_first(columns: Sequence[Sequence[str]], first: int, width: int) -> list[Sequence[str]]:
    """The first column so wide at most; others in the room that is left, names as their cells."""
    narrowed: list[Sequence[str]] = [[_wrapped_line(cell, first) for cell in columns[0]]]
    room = width - _width(narrowed[0]) - 2
    for name, *cells in columns[1:]:
        within = [_wrapped_line(cell, room) for cell in cells]
        figures = max(_width(within), LEAST_HEADING) if within else room
        narrowed.append([_wrapped_line(name, min(figures, room)), *within])
    return narrowed


def _width(column: Sequence[str]) -> int:
    return max(text_width(line) for cell in column for line in cell.split("\n"))


def text_width(text: str) -> int:
    """The columns of a terminal that a text takes: Chinese characters two, accents none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def _blanks(text: str, width: int) -> str:
    return " " * (width - text_width(text))


def wrapped(text: str, width: int | None) -> str:
    """Lines within the width, as far as words allow; continued lines are indented. At a `BLANK`,
    and within an interval or a p value, no line ends.

    Example:
        >>> print(wrapped("- MTL beats STL: it does in 6 of 9", 20))
        - MTL beats STL: it
          does in 6 of 9
    """
    if width is not None:
        text = "\n".join(_wrapped_line(line, width) for line in text.split("\n"))
    return text.replace(BLANK, " ")


def _wrapped_line(line: str, width: int) -> str:
    """Intervals and p values stay on one line."""
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    text = KEPT.sub(lambda match: match[0].replace(" ", BLANK), line)
    return textwrap.fill(text, max(width, 1), subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


# ---- escaping ----


def escaped_latex(text: str) -> str:
    """Escape a text for LaTeX.

    Example:
        >>> print(escaped_latex("soft_label & 50 %"))
        soft\\_label \\& 50 \\%
    """
    return "".join(LATEX.get(sign, sign) for sign in text)


def _latex(cell: Cell) -> str:
    if isinstance(cell, Emphasis):
        kind = "textit" if cell.italic else "textbf"
        return f"\\{kind}{{{_latex(cell.text)}}}{_latex(cell.rest)}"
    return NUMBER.sub(r"$\1$", "".join(SIGNS.get(sign, sign) for sign in escaped_latex(cell)))


def escaped_markdown(text: str) -> str:
    """Escape a text for Markdown; brackets only where they would be a link."""
    signs = "\\`*_<>|" + "[]" * ("](" in text)
    return "".join(f"\\{sign}" if sign in signs else sign for sign in text.replace("\n", " "))


def _markdown(cell: Cell) -> str:
    if isinstance(cell, Emphasis):
        mark = "*" if cell.italic else "**"
        return f"{mark}{escaped_markdown(cell.text)}{mark}{escaped_markdown(cell.rest)}"
    return escaped_markdown(cell)


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


MOST_ROWS = 10  # of a table in a notebook
MOST_LETTERS = 120  # of a cell in a notebook


def to_frame(table: Any, index: Any | None = None) -> Any:
    """An Arrow table as a pandas DataFrame; pandas is imported here and nowhere else.

    Args:
        index: the index of the frame; 0, 1, ... if left out.
    """
    try:
        import pandas as pd  # noqa: F401
    except ImportError:
        raise InstallError(
            "to_pandas() needs pandas, which is not installed: pip install pandas; or use the "
            "Arrow table of to_table() (of a figure: data)"
        ) from None
    frame = table.to_pandas()
    if index is not None:
        frame.index = index
    return frame


def html_table(
    names: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", total: int | None = None
) -> str:
    """A plain HTML table for a notebook; all texts are escaped, long ones are shortened.

    Args:
        total: the number of rows of the whole table, if `rows` are only the first ones.

    Example:
        >>> html_table(["item", "share"], [("<t1>", 0.25)])
        '<table><thead><tr><th>item</th><th>share</th></tr></thead><tbody><tr><td
        style="text-align:left">&lt;t1&gt;</td><td>0.25</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    cells = [list(row) for row in rows]
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in cells)
    if total is not None and total > len(cells):
        more = f"... {total - len(cells):,} more rows"
        body += f'<tr><td colspan="{len(names)}" style="text-align:left">{more}</td></tr>'
    title = f"<p>{html.escape(caption)}</p>" if caption else ""
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_rows(table: Any, caption: str = "", total: int | None = None) -> str:
    """The first rows of an Arrow table as HTML, and how many more there are.

    Args:
        total: the number of rows of the whole table, if `table` has only the first ones.
    """
    first = table.slice(0, MOST_ROWS)
    rows = zip(*(column.to_pylist() for column in first.columns), strict=True)
    return html_table(table.column_names, rows, caption, len(table) if total is None else total)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"<td>{'' if value != value else format(value, '.4g')}</td>"
    if isinstance(value, int):
        return f"<td>{value}</td>"
    text = "" if value is None else str(value)
    if isinstance(value, list | tuple | set | frozenset):
        text = ", ".join(format(v, ".4g") if isinstance(v, float) else str(v) for v in value)
    if len(text) > MOST_LETTERS:
        text = text[:MOST_LETTERS] + "..."
    return f'<td style="text-align:left">{html.escape(text)}</td>'
