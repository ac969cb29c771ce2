"""Ratings as points on a line, or in the square of two questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.drawing.annotators import Annotator
from dissensus.drawing.shapes import (
    ACROSS,
    MOST_NAMED,
    Box,
    Panel,
    circle,
    letters,
    moved,
    plain_line,
    rect,
    short,
)
from dissensus.scales import Interval

SQUARE = 300  # a side of the square of two ratings
ANGLES = (0, 180, 30, 150, 330, 210, 60, 120, 300, 240, 90, 270)  # where a name is tried
MOST_LABELLED = 12  # points with a name next to them


def ratings_panel(corpus: Corpus, questions: Sequence[str], annotators: list[Annotator]) -> Panel:
    """Points in a square or on a line, with names if there are not too many."""
    scales = [corpus.questions[question].scale for question in questions]
    left, top = (ACROSS - SQUARE) / 2, 24.0
    frame = Box(left, top, left + SQUARE, top + SQUARE)
    if len(questions) == 1:
        left, right = 60.0, ACROSS - 60.0
        frame = Box(left, 120.0, right, 120.0)
    shapes = _axes(frame, questions, scales)
    points = []
    for annotator in annotators:
        for point in annotator.points:
            share = [
                (value - scale.low) / (scale.high - scale.low)
                for value, scale in zip(point, scales, strict=True)
                if isinstance(scale, Interval)
            ]
            x = frame.left + share[0] * (frame.right - frame.left)
            y = frame.bottom - share[-1] * (frame.bottom - frame.top)
            points.append((x, y, annotator))
    if len(questions) == 1 and len(points) > MOST_NAMED:
        bars = _histogram(frame, np.array([x for x, _, _ in points]), scales[0].n_columns)
        return Panel(frame.bottom + 52, (*bars, *shapes))
    if len(questions) == 1:
        points = _stacked(points)
    if len(points) <= MOST_LABELLED:
        axis = Box(frame.left - 24, frame.top, frame.left, frame.bottom)  # the axis has a name
        shapes += _labels(points, Box(0, 0, ACROSS, frame.bottom), axis)
    radius = 5 if len(points) <= MOST_NAMED else 2
    for x, y, annotator in points:
        fill = "#ffffff" if annotator.dash else annotator.colour
        line = {"stroke": annotator.colour, "stroke_width": 2, "stroke_dasharray": annotator.dash}
        shapes.append(circle(x, y, radius, fill, **line))
    return Panel(frame.bottom + 52, tuple(shapes))


def _axes(frame: Box, questions: Sequence[str], scales: Sequence[Any]) -> list[str]:
    middle = ((frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2)
    grey: dict[str, Any] = {"size": 12, "fill": "#444444"}
    shapes = [
        letters(frame.left, frame.bottom + 20, f"{scales[0].low:g}", anchor="middle", **grey),
        letters(frame.right, frame.bottom + 20, f"{scales[0].high:g}", anchor="middle", **grey),
        letters(middle[0], frame.bottom + 36, short(questions[0], 60), anchor="middle", **grey),
        plain_line(frame.left, frame.bottom - 4, frame.left, frame.bottom + 4),
        plain_line(frame.right, frame.bottom - 4, frame.right, frame.bottom + 4),
    ]
    if len(questions) == 1:
        return [plain_line(frame.left, frame.bottom, frame.right, frame.bottom), *shapes]
    name = letters(0, 0, short(questions[1], 30), anchor="middle", **grey)
    return [
        rect(frame.left, frame.top, SQUARE, SQUARE, stroke="#999999", width=1),
        plain_line(middle[0], frame.top, middle[0], frame.bottom, "#dddddd"),
        plain_line(frame.left, middle[1], frame.right, middle[1], "#dddddd"),
        *shapes,
        letters(frame.left - 8, frame.bottom, f"{scales[1].low:g}", anchor="end", **grey),
        letters(frame.left - 8, frame.top + 8, f"{scales[1].high:g}", anchor="end", **grey),
        moved(frame.left - 12, middle[1], [name], turned=-90),
    ]


def _histogram(frame: Box, x: np.ndarray, n_bins: int) -> list[str]:
    """A histogram on the line, if there are too many points."""
    counts, edges = np.histogram(x, n_bins, (frame.left, frame.right))
    heights = 100 * counts / counts.max()
    return [
        rect(left, frame.bottom - height, right - left - 1, height, fill="#999999")
        for left, right, height in zip(edges, edges[1:], heights, strict=False)
    ]


def _stacked(
    points: list[tuple[float, float, Annotator]],
) -> list[tuple[float, float, Annotator]]:
    """Points on a line, moved up if they would overlap."""
    lifted: list[tuple[float, float, Annotator]] = []
    for x, line, annotator in points:
        y = line
        while any(abs(x - a) < 12 and abs(y - b) < 12 for a, b, _ in lifted) and y > 12:
            y -= 12
        lifted.append((x, y, annotator))
    return lifted


def _labels(points: list[tuple[float, float, Annotator]], within: Box, axis: Box) -> list[str]:
    """Names close to their points without overlap, with a line if they are far."""
    taken = [axis, *(Box(x - 7, y - 7, x + 7, y + 7) for x, y, _ in points)]
    shapes = []
    for x, y, annotator in points:
        if annotator.code < 0:  # unknown
            continue
        name = short(annotator.name, 24)
        wide = 7.2 * len(name)
        for far, angle in ((far, angle) for far in range(10, 400, 8) for angle in ANGLES):
            turned = np.deg2rad(angle)
            dx, dy = far * np.cos(turned), far * np.sin(turned)
            left = x + dx if abs(angle - 180) >= 90 else x + dx - wide
            label = Box(left, y + dy - 7, left + wide, y + dy + 7)
            inside = within.left <= label.left and label.right <= within.right
            inside = inside and within.top <= label.top and label.bottom <= within.bottom
            if inside and not any(label.meets(other) for other in taken):
                taken.append(label)
                if far > 10:
                    shapes.append(plain_line(x, y, x + dx, y + dy, "#bbbbbb"))
                shapes.append(letters(label.left, label.bottom - 3, name, size=12, length=wide))
                break
    return shapes
