"""The pictures of a report as SVG: bars, matrices, points with lines.

Text and lines have the colour of the page (`currentColor`), so that they can be read on a light and
on a dark background.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from dissensus.corpus import Corpus
from dissensus.drawing import svg
from dissensus.drawing.svg import QUIET, colour, letters, short, text
from dissensus.errors import DissensusError
from dissensus.report.blocks import MOST_CELL, MOST_NAME, Thumbnail, brief_names

SIDE = 72  # pixels at most
QUALITY = 80  # of a JPEG


def thumbnail(corpus: Corpus, item: int) -> Thumbnail | None:
    """The first picture of an item; None if it has none that can be read."""
    from PIL import Image

    from dissensus.encoders.framework import media

    for role, contents in corpus.contents.items():
        code = int(corpus.content[role][item])
        if contents.kind != "image" or code < 0:
            continue
        try:
            small = media.picture(contents, code, at_least=SIDE).image
        except DissensusError:
            return None
        small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
        file = io.BytesIO()
        small.save(file, "JPEG", quality=QUALITY)
        return Thumbnail(svg.data_address("jpeg", file.getvalue()), f"item {corpus.items[item]}")
    return None


LETTER = 7.2  # width of a letter, rounded up
WIDEST = 620.0  # pixels of all columns of a matrix together
CELL_INKS = ("#ffffff", "#000000")  # of numbers in a matrix
LOW, MIDDLE, HIGH = (178, 74, 40), (236, 236, 226), (32, 102, 168)  # of a matrix: -1, 0, 1


def titled(shape: str, words: str, annotator: str | None = None) -> str:
    """A shape with a text that appears when the pointer is over it."""
    name = "" if annotator is None else svg.escaped(svg.brief(annotator, MOST_NAME))
    inside = f"<title>{escape(svg.caption(words))}</title>{shape}"
    return svg.element("g", inside, data_annotator=name)


def labelled(drawing: str, alt: str) -> str:
    """A picture that was drawn elsewhere, with a text for those who cannot see it."""
    label = f'<svg role="img" aria-label="{svg.escaped(alt)}" color="#222" '
    return drawing.replace("<svg ", label, 1).strip()


def bars(names: Sequence[str], shares: Sequence[float], alt: str, ordered: bool = False) -> str:
    """Horizontal bars in the colours of values or, ordered, of levels; each with its share."""
    names = brief_names(names)
    shown = [short(name, 34) for name in names]
    left = 14 + LETTER * max([len(name) for name in shown] + [1])
    across, line = 230.0, 22.0
    most = max([share for share in shares if math.isfinite(share)] + [0.0]) or 1.0
    shapes = []
    for at, (name, share) in enumerate(zip(shown, shares, strict=True)):
        y = 6 + line * at
        length = across * max(share, 0.0) / most if math.isfinite(share) else 0.0
        number = f"{100 * share:.1f} %"
        fill = svg.level_colour(at, len(names)) if ordered else colour(at)
        box = svg.rect(left, y + 2, max(length, 0.5), line - 6, fill=fill)
        shapes += [
            text(left - 8, y + 14, name, "end"),
            titled(box, f"{names[at]}: {number}"),
            text(left + length + 6, y + 14, number, quiet=True),
        ]
    return svg.picture(left + across + 70, 10 + line * len(names), shapes, alt)


def columns(edges: Sequence[str], counts: Sequence[float], alt: str, below: str) -> str:
    """A histogram: a column for each name."""
    n, height, left = max(len(counts), 1), 150.0, 46.0
    width = min(46.0, 560.0 / n)
    most = max([*counts, 1])
    every = max(1, math.ceil(max([len(edge) for edge in edges] + [1]) * LETTER / width))
    shapes = [
        text(left - 6, 18, f"{most:,.0f}", "end", quiet=True),
        text(left - 6, height + 8, "0", "end", quiet=True),
        svg.plain_line(left, height + 8, left + width * n, height + 8, QUIET),
    ]
    for at, (edge, count) in enumerate(zip(edges, counts, strict=True)):
        high = (height - 10) * count / most
        shape = svg.rect(
            left + at * width + 1, height + 8 - high, width - 2, max(high, 0.0), fill=colour(0)
        )
        shapes.append(titled(shape, f"{edge}: {count:,.0f}"))
        if at % every == 0:
            shapes.append(text(left + (at + 0.5) * width, height + 24, edge, "middle", quiet=True))
    shapes.append(text(left + width * n / 2, height + 44, below, "middle", quiet=True))
    return svg.picture(left + width * n + 20, height + 52, shapes, alt)


def matrix(
    names: Sequence[str],
    values: np.ndarray,
    alt: str,
    *,
    diverging: bool = True,
    annotators: bool = False,
) -> str:
    """A table of numbers as coloured cells; undefined cells are empty.

    Args:
        names: of the rows and columns.
        diverging: colours for -1 to 1, else for 0 to the largest value.
        annotators: whether rows and columns are annotators, who can be picked by a click.
    """
    names = [svg.brief(name, MOST_NAME) for name in names]
    shown = [short(name, 22) for name in names]
    n = len(names)
    side = max(8.0, min(34.0, WIDEST / max(n, 1)))
    longest = LETTER * max([len(name) for name in shown] + [1])
    angle = 50 if side >= 22 else 75  # of the names of columns
    left, top = 12 + longest, 12 + longest * math.sin(math.radians(angle))
    finite = values[np.isfinite(values)]
    most = float(finite.max()) if finite.size and not diverging else 1.0
    shapes = []
    for column, name in enumerate(shown):
        x = left + (column + 0.6) * side
        shapes.append(svg.moved(x, top - 6, [text(0, 0, name)], turned=-angle))
    for row, name in enumerate(shown):
        y = top + row * side
        if side >= 10:
            shapes.append(text(left - 6, y + side / 2 + 4, name, "end"))
        for column in np.flatnonzero(np.isfinite(values[row])).tolist():
            value = float(values[row, column])
            fill, ink = shade(value if diverging else value / (most or 1.0), diverging)
            x, number = left + column * side, f"{round(value, 2) + 0.0:.2f}"
            cell = svg.rect(x, y, side - 1, side - 1, fill=fill)
            if side >= 30:
                middle = x + side / 2 - 0.5, y + side / 2 + 4
                cell += letters(*middle, number, size=10, fill=ink, anchor="middle")
            words = f"{names[row]}, {names[column]}: {number}"
            shapes.append(titled(cell, words, names[row] if annotators else None))
    return svg.picture(left + n * side + 60, top + n * side + 8, shapes, alt)


def shade(value: float, diverging: bool = True) -> tuple[str, str]:
    """The colour of a cell, and the colour of a number that can be read on it."""
    value = max(-1.0 if diverging else 0.0, min(1.0, value))
    end = HIGH if value >= 0 else LOW
    mixed = [round(m + (e - m) * abs(value)) for m, e in zip(MIDDLE, end, strict=True)]
    fill = "#{:02x}{:02x}{:02x}".format(*mixed)
    return fill, max(CELL_INKS, key=lambda ink: contrast(ink, fill))


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours (#rrggbb), 1 to 21, as WCAG 2 defines it."""
    luminances = []
    for code in (first, second):
        parts = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        luminances.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


def diagonal(
    points: Sequence[tuple[float, float, float, str]],
    alt: str,
    across: str,
    up: str,
    limits: tuple[float, float] = (0.0, 1.0),
) -> str:
    """Points in a square with its diagonal; (x, y, size of the point, words).

    Args:
        limits: the lowest and the highest number of both axes.
    """
    low, high = limits
    side, left, top = 280.0, 52.0, 14.0
    shapes = [
        svg.rect(left, top, side, side, stroke=QUIET),
        svg.plain_line(left, top + side, left + side, top, QUIET, 1, "4 4"),
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        label = f"{low + tick * (high - low):.3g}"
        shapes += [
            text(left + side * tick, top + side + 16, label, "middle", quiet=True),
            text(left - 6, top + side * (1 - tick) + 4, label, "end", quiet=True),
        ]
    for x, y, size, words in points:
        x, y = ((value - low) / (high - low) for value in (x, y))
        place = left + side * x, top + side * (1 - y)
        dot = svg.circle(*place, 3 + 7 * size, colour(0), fill_opacity="0.85")
        shapes.append(titled(dot, svg.brief(words, MOST_CELL)))
    shapes.append(text(left + side / 2, top + side + 36, across, "middle", quiet=True))
    label = text(0, 0, up, "middle", quiet=True)
    shapes.append(svg.moved(14, top + side / 2, [label], turned=-90))
    return svg.picture(left + side + 20, top + side + 46, shapes, alt)


def rows_of(names: Sequence[str], values: np.ndarray) -> list[Any]:
    """A matrix as rows of a table, the name first."""
    return [[name, *row] for name, row in zip(names, values.tolist(), strict=True)]
