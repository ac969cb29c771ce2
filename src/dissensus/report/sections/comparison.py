"""Methods compared: scores with intervals, floors and tests."""

from __future__ import annotations

import re
from typing import Any

from dissensus.drawing.shapes import QUIET, SOFT
from dissensus.evaluation import ComparisonTable, Results, intervals
from dissensus.evaluation.best_method import comparison_tables
from dissensus.evaluation.comparison_table import Cell, Row
from dissensus.report.blocks import Block, Figure, Section, Table, Text
from dissensus.report.figures import labelled

PANELS = 3  # side by side
PAGE_COLOURS = {  # of a picture on white -> of one on a light or dark page
    "#222222": "currentColor",
    'fill="#6b6b6b"': f'fill="currentColor" fill-opacity="{SOFT:g}"',
    'stroke="#6b6b6b"': f'stroke="{QUIET}"',
    'stroke="#dddddd"': 'stroke="currentColor" stroke-opacity="0.18"',
    'fill="#ffffff"': 'fill="var(--page, #fff)"',
}


def comparison(results: Results) -> Section:
    blocks: list[Block] = [
        Text(
            "Each method was fitted on training items and scored on others. Lines are 95 % "
            "intervals; floors ignore the content; a dagger marks a difference from "
            "the reference that is significant after Holm's correction."
        )
    ]
    for table in comparison_tables(results):
        blocks += [scores_figure(table), _table(table)]
        blocks += [Text(note) for note in table.notes[:12]]
    return Section("methods", "Methods compared", blocks)


def scores_figure(table: ComparisonTable) -> Figure:
    """The mean score of each method, with its interval."""
    title = f"Scores, {table.question}"
    alt = f"The mean score of each method on {table.question} with its 95 % interval."
    rows = [
        [row.name, metric, cell.mean, cell.low, cell.high]
        for row in table.rows
        for metric, cell in row.cells.items()
    ]
    columns = ("method", "metric", "mean", "95 % from", "to")
    return Figure(title, alt, _on_page(intervals(table, PANELS), alt), columns, rows)


def _on_page(svg: str, alt: str) -> str:
    """The picture with the colours of the page."""
    svg = re.sub(r'<rect width="\d+" height="\d+" fill="#ffffff"/>', "", svg)
    for plain, of_page in PAGE_COLOURS.items():
        svg = svg.replace(plain, of_page)
    return labelled(svg, alt)


def _table(table: ComparisonTable) -> Table:
    tested = bool(table.n_comparisons)
    rows: list[list[Any]] = []
    for row in table.rows:
        for metric, cell in row.cells.items():
            against = cell.against
            difference = None if against is None else against.effect
            p = [None if against is None else against.adjusted] if tested else []
            scores = [cell.mean, cell.low, cell.high, difference, *p]
            rows.append([row.name, metric, *scores, _kind(row, cell)])
    difference_from = f"difference from {table.reference or 'the reference'}"
    names = ("mean", "95 % from", "to", difference_from, *(["p (Holm)"] if tested else []))
    return Table(f"All scores, {table.question}", ("method", "metric", *names, ""), rows)


def _kind(row: Row, cell: Cell) -> str:
    """Whether a row is a floor, the best method, or a score that needs no method."""
    if row.floor:
        return "floor" if cell.n_fits else "bound"
    return "best" if cell.best else ""
