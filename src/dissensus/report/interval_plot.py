"""Scores of methods as SVG: an interval for each method and metric, with floors as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.drawing import svg
from dissensus.drawing.svg import INK, QUIET, letters, plain_line, text
from dissensus.evaluation.comparison_table import Cell, ComparisonTable, Row, higher_is_better
from dissensus.report.figures import LETTER

PANEL = 250  # width of a metric's panel, in pixels, as all below
GAP = 28  # between panels
EDGE = 20
LINE = 26  # height of a method's line
ACROSS = 3  # panels side by side
HEAD = 40  # for the title of the picture
TITLE, AXIS = 44, 34  # above and below a panel's lines
PAGE = "var(--page, #fff)"
DASHES = ("6 3", "2 3", "8 3 2 3")  # of floors; solid lines are for intervals


@dataclass(frozen=True)
class Axis:
    """Values from left to right within a panel."""

    low: float
    high: float
    left: float

    @classmethod
    def over(cls, values: Sequence[float], left: float) -> Axis:
        """An axis that contains the values, with some margin."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        span = max(known) - min(known) or abs(known[0]) or 1.0
        return cls(min(known) - 0.06 * span, max(known) + 0.06 * span, left)

    def at(self, value: float) -> float:
        return self.left + PANEL * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Three to seven round numbers."""
        rough = (self.high - self.low) / 6
        size = 10 ** math.floor(math.log10(rough))
        step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
        first = math.ceil(self.low / step)
        return [n * step for n in range(first, math.floor(self.high / step) + 1)]


def intervals(table: ComparisonTable, alt: str) -> str:
    """The means of every method with their intervals, a panel for each metric.

    The best mean is a full dot; a difference from the reference after Holm's correction has a
    dagger. Floors are dashed lines.
    """
    rows = [row for row in table.rows if not row.floor]
    floors = [row for row in table.rows if row.floor]
    metrics = [m for m in table.metrics if any(m in row.cells for row in rows)]
    names = EDGE + 14 + LETTER * max([len(row.name) for row in rows] + [8])
    block = TITLE + LINE * len(rows) + AXIS
    width = names + (PANEL + GAP) * max(min(len(metrics), ACROSS), 1) + EDGE
    legend = HEAD + block * max(1, -(-len(metrics) // ACROSS)) + 18
    title = f"{table.corpus}: {table.question}"
    shapes = [letters(EDGE, 26, title, size=15, fill=INK, weight="bold")]
    for number, metric in enumerate(metrics):
        down, column = divmod(number, ACROSS)
        top = HEAD + block * down + TITLE
        for at, row in enumerate(rows if column == 0 else ()):
            shapes.append(text(names - 14, top + LINE * (at + 0.5) + 4, row.name, "end"))
        shapes += _panel(metric, rows, floors, names + column * (PANEL + GAP), top)
    apart = f"; †: differs from {table.reference}, p < 0.05 after Holm" if table.reference else ""
    words = f"Mean and 95 % interval; full dot: best mean{apart}"
    shapes.append(text(EDGE, legend, words, quiet=True))
    for number, row in enumerate(floors):
        y = legend + 20 * (number + 1)
        shapes += [_dashed(number, EDGE, y - 4, EDGE + 34, y - 4), text(EDGE + 42, y, row.name)]
    return svg.picture(width, legend + 20 * len(floors) + EDGE, shapes, alt)


def _panel(
    metric: str, rows: Sequence[Row], floors: Sequence[Row], left: float, top: float
) -> list[str]:
    below = top + LINE * len(rows)
    cells = [row.cells.get(metric) for row in rows]
    lines = [row.cells.get(metric) for row in floors]
    known = [cell for cell in (*cells, *lines) if cell is not None]
    axis = Axis.over([v for c in known for v in (c.mean, c.low, c.high)], left)
    better = "higher is better" if higher_is_better(metric) else "lower is better"
    shapes = [
        letters(left, top - 20, metric, size=13, fill=INK, weight="bold"),
        text(left, top - 6, better, quiet=True),
    ]
    for tick in axis.ticks():
        shapes.append(plain_line(axis.at(tick), top, axis.at(tick), below, QUIET, 0.3))
        shapes.append(text(axis.at(tick), below + 16, f"{tick:.4g}", "middle", quiet=True))
    shapes.append(plain_line(left, below, left + PANEL, below, QUIET))
    for number, floor in enumerate(lines):
        if floor is not None and math.isfinite(floor.mean):
            x = axis.at(floor.mean)
            shapes.append(_dashed(number, x, top, x, below))
    for at, cell in enumerate(cells):
        y = top + LINE * (at + 0.5)
        missing = [text(left + 4, y + 4, "no score", quiet=True)]
        shapes += missing if cell is None else _mark(cell, axis, y)
    return shapes


def _mark(cell: Cell, axis: Axis, y: float) -> list[str]:
    """A dot with its interval."""
    shapes = []
    if math.isfinite(cell.low) and math.isfinite(cell.high):
        ends = axis.at(cell.low), axis.at(cell.high)
        shapes.append(plain_line(ends[0], y, ends[1], y, INK, 1.8))
        shapes += [plain_line(end, y - 4, end, y + 4, INK, 1.8) for end in ends]
    x, fill = axis.at(cell.mean), INK if cell.best else PAGE
    shapes.append(svg.circle(x, y, 4.5, fill, stroke=INK, stroke_width=1.8))
    return [*shapes, text(x, y - 7, "†", "middle")] if cell.differs else shapes


def _dashed(number: int, x1: float, y1: float, x2: float, y2: float) -> str:
    """The line of a floor."""
    return plain_line(x1, y1, x2, y2, svg.colour(number), 1.6, DASHES[number % len(DASHES)])
