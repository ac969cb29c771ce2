"""A report as one HTML file that loads nothing else."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from dissensus.drawing.svg import LONGEST, brief, caption, colour, level_colour
from dissensus.report.blocks import (
    MOST_CELL,
    MOST_NAME,
    Bars,
    Block,
    Figure,
    Section,
    Table,
    Text,
    Thumbnail,
    brief_names,
    cells_of,
    json_cell,
)

FILTERED = 8  # rows from which a table has a filter
SHORT, LONG = 18, 40  # letters: texts of a column that stay in one line, and that need room
CODE = re.compile("`([^`]*)`")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def to_html(
    title: str,
    summary: Sequence[str],
    actions: Sequence[str],
    first: Table | None,
    sections: Sequence[Section],
    written: str,
    live: bool = False,
) -> str:
    """The page: what was found and what to do now, then sections that open with a click.

    Args:
        summary: what was found, in a few sentences.
        actions: what to do now.
        first: the items to discuss, shown before the sections.
        written: when and by what the report was written, shown last.
        live: whether `dissensus serve` shows it, so that a text can be typed.
    """
    policy = POLICY + "; connect-src 'self'" * live
    script = _resource("page.js") + _resource("live.js") * live
    page = _Page()
    front = "" if first is None else f"<section>{page.table(first, 'discuss')}</section>"
    body = "".join(page.section(section) for section in sections)
    links = "".join(f'<a href="#{s.key}">{escape(s.title)}</a>' for s in sections)
    to_do = f"<h2>What to do now</h2><ol>{_points(actions)}</ol>" if actions else ""
    data = json.dumps(page.data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return Template(_resource("page.html")).substitute(
        policy=policy,
        title=escape(title),
        style=_resource("page.css"),
        links=links,
        summary=_points(summary),
        to_do=to_do,
        front=front,
        live=_resource("live.html").strip() * live,
        body=body,
        written=escape(written),
        data=data,
        script=script,
    )


def _points(sentences: Sequence[str]) -> str:
    return "".join(f"<li>{_with_code(sentence)}</li>" for sentence in sentences)


def _with_code(text: str) -> str:
    """Text for HTML, with what stands between backquotes as code."""
    return CODE.sub(r"<code>\1</code>", escape(text))


def escape(text: str, most: int = LONGEST) -> str:
    """Text for HTML, cut where it is too long, without characters that it does not allow."""
    return html.escape(caption(brief(text, most)))


def _resource(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class _Page:
    """Sections as HTML; collects what can be saved as CSV."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []

    def section(self, section: Section) -> str:
        blocks = "".join(self.block(block, section.key) for block in section.blocks)
        return (
            f'<details class="section" id="{section.key}"><summary><h2>{escape(section.title)}</h2>'
            f"</summary>\n{blocks}</details>\n"
        )

    def block(self, block: Block, key: str) -> str:
        if isinstance(block, Text):
            tag = "pre" if "\n" in block.text else "p"
            return f"<{tag}>{_with_code(block.text)}</{tag}>\n"
        if isinstance(block, Figure):
            return self.figure(block, key)
        return self.table(block, key)

    def add(self, block: Table | Figure, key: str) -> int:
        """Keep what a block shows as data; returns its number."""
        title = f"{key} {block.title[:MOST_CELL]}".lower()
        name = re.sub(r"[^a-z0-9]+", "-", title).strip("-")[:60]
        self.data.append({"name": name, **cells_of(block)})
        return len(self.data) - 1

    def figure(self, figure: Figure, key: str) -> str:
        number = self.add(figure, key)
        return (
            f"<figure><h3>{escape(figure.title, MOST_CELL)}</h3>"
            f"{_scroll(figure.title)}{figure.svg}</div>"
            f"<figcaption>{escape(figure.alt)}</figcaption>"
            f'<div class="tools"><button type="button" data-svg="{number}">SVG</button>'
            f'<button type="button" data-csv="{number}">CSV</button></div></figure>\n'
        )

    def table(self, table: Table, key: str) -> str:
        table = table.without_empty()
        number = self.add(table, key)
        name = f"table-{number}"
        tools = f'<button type="button" data-csv="{number}">CSV</button>'
        if len(table.rows) >= FILTERED:
            tools += (
                f'<label>Filter <input type="search" data-filter="{name}" '
                f'aria-label="Filter {escape(table.title, MOST_CELL)}"></label>'
            )
        kinds = [_kind([row[at] for row in table.rows]) for at in range(len(table.columns))]
        head = "".join(
            f'<th scope="col"{kinds[at]}><button type="button" data-sort-by="{at}">'
            f"{escape(column)}</button></th>"
            for at, column in enumerate(table.columns)
        )
        rows = "".join(self.row(table, row, kinds) for row in table.rows)
        n, total = len(table.rows), table.total or 0
        rest = f'<p class="more">the first {n:,} of {total:,} rows</p>' * (total > n)
        return (
            f"<h3>{escape(table.title, MOST_CELL)}</h3>"
            f'{_key(table)}<div class="tools">{tools}</div>'
            f'{_scroll(table.title)}<table id="{name}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>{rest}\n"
        )

    def row(self, table: Table, row: Sequence[Any], kinds: Sequence[str]) -> str:
        name = None if table.annotators is None else str(row[table.annotators])
        owner = "" if name is None else f' data-annotator="{escape(name, MOST_NAME)}"'
        cells = "".join(
            _cell(value, kinds[at], table.annotators == at) for at, value in enumerate(row)
        )
        return f"<tr{owner}>{cells}</tr>"


def _scroll(title: str) -> str:
    """The start of a part that is scrolled sideways on small screens, with the keyboard too."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title, MOST_CELL)}">'
    )


def _kind(cells: Sequence[Any]) -> str:
    """The class attribute of a column: empty for numbers, else by the length of its texts."""
    lengths = [len(cell) for cell in cells if isinstance(cell, str)]
    if lengths:
        longest = max(lengths)
        return f' class="words{" short" * (longest <= SHORT)}{" long" * (longest > LONG)}"'
    drawn = any(isinstance(cell, Bars | Thumbnail) for cell in cells)
    return ' class="words"' if drawn else ""


def _key(table: Table) -> str:
    """The colours of values, if the table has bars or columns of them."""
    cells = [cell for row in table.rows for cell in row]
    bars = [cell for cell in cells if isinstance(cell, Bars)]
    names = dict.fromkeys(name for cell in bars for name in cell.shares)
    ordered = any(cell.ordered for cell in bars)
    colours = "".join(
        f'<i style="background:{_fill(at, len(names), ordered)}"></i>{escape(name)}'
        for at, name in enumerate(brief_names(names))
    )
    return f'<div class="key">{colours}</div>' if names else ""


def _fill(at: int, of: int, ordered: bool) -> str:
    return level_colour(at, of) if ordered else colour(at)


def _cell(value: Any, kind: str, pickable: bool) -> str:
    if isinstance(value, Thumbnail):
        picture = f'<img src="{value.address}" alt="{escape(value.words)}">'
        return f'<td class="words short">{picture}</td>'
    if isinstance(value, Bars):
        words = ", ".join(f"{name} {100 * share:.0f} %" for name, share in json_cell(value).items())
        n = len(value.shares)
        pieces = "".join(
            f'<i style="width:{100 * share:.1f}%;background:{_fill(at, n, value.ordered)}"></i>'
            for at, share in enumerate(value.shares.values())
        )
        return (
            f'<td class="words" data-sort="{value.sort:.6g}"><span class="bar" role="img" '
            f'aria-label="{escape(words)}">{pieces}</span></td>'
        )
    value = json_cell(value)
    if value is None:
        return '<td data-sort=""></td>'
    if isinstance(value, str):
        shown = escape(value)
        if pickable:
            name = escape(value, MOST_NAME)
            shown = f'<button type="button" data-pick aria-pressed="false">{name}</button>'
        return f"<td{kind}>{shown}</td>"
    if isinstance(value, bool):
        return f'<td data-sort="{int(value)}">{"yes" if value else "no"}</td>'
    number = f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    if isinstance(value, float) and (value == 0 or 1e-3 <= abs(value) < 1e4):
        digits = 3 if abs(value) < 10 else max(0, 3 - int(math.log10(abs(value))))
        number = f"{value:.{digits}f}"
    return f'<td data-sort="{value!r}">{number}</td>'
