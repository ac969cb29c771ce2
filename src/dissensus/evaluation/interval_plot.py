"""Plot results as SVG: an interval for each method and metric, with floors as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.drawing import PALETTE
from dissensus.drawing.svg import letters, plain_line
from dissensus.evaluation.comparison_table import Cell, ComparisonTable, Row, higher_is_better

PANEL = 250  # width of a metric's panel, in pixels, as all below
GAP = 28  # between panels
EDGE = 20
LINE = 26  # height of a method's line
LETTER = 8.2  # width of a letter, rounded up
ACROSS = 4  # panels side by side
HEAD = 40  # for the title of the picture
TITLE, AXIS = 44, 34  # above and below a panel's lines
INK, QUIET, RULE = "#222222", "#6b6b6b", "#dddddd"
DASHES = ("", "6 3", "2 3", "8 3 2 3")


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


def intervals(table: ComparisonTable, across: int = ACROSS) -> str:
    """The means of every method with their intervals, a panel for each metric, as SVG text.

    The best mean is a full dot; a difference from the reference after Holm's correction has a
    dagger. Floors are dashed lines. The result is plain SVG on white without external resources.

    Args:
        across: panels side by side.
    """
    rows = [row for row in table.rows if not row.floor]
    floors = [row for row in table.rows if row.floor]
    metrics = [m for m in table.metrics if any(m in row.cells for row in rows)]
    names = EDGE + 14 + LETTER * max([len(row.name) for row in rows] + [8])
    block = TITLE + LINE * len(rows) + AXIS
    n_blocks = max(1, -(-len(metrics) // across))
    width = names + (PANEL + GAP) * max(min(len(metrics), across), 1) + EDGE
    legend = HEAD + block * n_blocks + 18
    height = legend + 20 * len(floors) + EDGE
    shapes = [
        letters(EDGE, 26, f"{table.corpus}: {table.question}", size=15, fill=INK, weight="bold")
    ]
    for number, metric in enumerate(metrics):
        down, column = divmod(number, across)
        top = HEAD + block * down + TITLE
        if not column:
            for at, row in enumerate(rows):
                y = top + LINE * (at + 0.5) + 4
                shapes.append(letters(names - 14, y, row.name, size=13, fill=INK, anchor="end"))
        shapes += _panel(metric, rows, floors, names + column * (PANEL + GAP), top)
    shapes += _legend(floors, table.reference, legend)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, Helvetica, Arial, '
            'sans-serif">',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *shapes,
            "</svg>\n",
        ]
    )


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
        letters(left, top - 6, better, size=11, fill=QUIET),
    ]
    for tick in axis.ticks():
        shapes.append(plain_line(axis.at(tick), top, axis.at(tick), below, RULE))
        shapes.append(
            letters(axis.at(tick), below + 16, f"{tick:.4g}", size=11, fill=QUIET, anchor="middle")
        )
    shapes.append(plain_line(left, below, left + PANEL, below, QUIET))
    for number, floor in enumerate(lines):
        if floor is not None and math.isfinite(floor.mean):
            colour, dash = _dashed(number)
            x = axis.at(floor.mean)
            shapes.append(plain_line(x, top, x, below, colour, 1.6, dash))
    for at, cell in enumerate(cells):
        y = top + LINE * (at + 0.5)
        shapes += (
            [letters(left + 4, y + 4, "no score", size=11, fill=QUIET)]
            if cell is None
            else _mark(cell, axis, y)
        )
    return shapes


def _mark(cell: Cell, axis: Axis, y: float) -> list[str]:
    """A dot with its interval."""
    shapes = []
    if math.isfinite(cell.low) and math.isfinite(cell.high):
        ends = axis.at(cell.low), axis.at(cell.high)
        shapes.append(plain_line(ends[0], y, ends[1], y, INK, 1.8))
        shapes += [plain_line(end, y - 4, end, y + 4, INK, 1.8) for end in ends]
    x, fill = axis.at(cell.mean), INK if cell.best else "#ffffff"
    shapes.append(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{INK}" '
        'stroke-width="1.8"/>'
    )
    if cell.differs:
        shapes.append(letters(x, y - 7, "†", size=12, fill=INK, anchor="middle"))
    return shapes


def _legend(floors: Sequence[Row], reference: str | None, top: float) -> list[str]:
    apart = "" if reference is None else f"; †: differs from {reference}, p < 0.05 after Holm"
    shapes = [
        letters(
            EDGE, top, f"Mean and 95 % interval; full dot: best mean{apart}", size=12, fill=QUIET
        )
    ]
    for number, row in enumerate(floors):
        y = top + 20 * (number + 1)
        colour, dash = _dashed(number)
        shapes.append(plain_line(EDGE, y - 4, EDGE + 34, y - 4, colour, 1.6, dash))
        shapes.append(letters(EDGE + 42, y, row.name, size=12, fill=INK))
    return shapes


def _dashed(number: int) -> tuple[str, str]:
    """A colour and a dash pattern for a floor; solid lines are for intervals."""
    return PALETTE[number % len(PALETTE)], DASHES[1 + number % (len(DASHES) - 1)]
