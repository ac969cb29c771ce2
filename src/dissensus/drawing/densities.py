"""A density as SVG: a heat map with contours, or a curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.densities import Grid, pool, region_levels
from dissensus.drawing.shapes import Box, letters, plain_line, rect, rounded, short

SIDE = 320  # of the heat map, in pixels
MARGIN = 56
COLOURS = ((255, 255, 255), (198, 219, 239), (107, 174, 214), (33, 113, 181), (8, 48, 107))
LINE = "#b2182b"
FINEST = 64  # cells along a side of the heat map; finer densities are pooled
MOST_STEPS = 32  # cells of a density that is drawn with steps


def draw_density(
    density: np.ndarray,
    grid: Grid,
    *,
    questions: Sequence[str] = (),
    ratings: np.ndarray | None = None,
    shares: Sequence[float] = (0.5, 0.9),
    title: str = "",
) -> str:
    """A density as the text of an SVG file: darker cells have more mass.

    Contours surround the smallest regions that have the given shares of the mass. In one dimension
    the density is a curve, and its regions are lines below it.

    Args:
        density: mass of cells, (*grid.shape).
        questions: names of the axes: the first dimension runs to the right, the second upwards.
        ratings: (n, n_dimensions), drawn as points.
        shares: of the regions, ascending.

    Example:
        >>> import numpy as np
        >>> from dissensus.densities import Grid, diffusion_kde
        >>> ratings = np.random.default_rng(0).normal(size=(50, 2)) / 4
        >>> grid = Grid((32, 32))
        >>> drawing = draw_density(diffusion_kde(ratings, grid).density, grid, ratings=ratings)
        >>> drawing[:4], drawing.count("<circle"), drawing.count("<path")
        ('<svg', 50, 2)
    """
    if max(grid.shape) > FINEST:
        coarser = grid.pooled([min(n, FINEST) for n in grid.shape])
        density, grid = pool(density, grid, coarser.shape), coarser
    frame = Box(MARGIN, MARGIN, MARGIN + SIDE, MARGIN + SIDE)
    draw = _curve if grid.n_dimensions == 1 else _map
    shapes = [
        *draw(density, grid, frame, region_levels(density, grid, shares)),
        *_points(ratings, grid, frame),
        *_axes(grid, frame, questions),
        letters(frame.left, 24, short(title, 44), weight="bold"),
        letters(frame.left, 44, _legend(shares), size=12, fill=LINE),
    ]
    side = SIDE + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" '
            f'viewBox="0 0 {side} {side}" '
            'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
            rect(0, 0, side, side, fill="#ffffff"),
            *shapes,
            "</svg>\n",
        ]
    )


def _map(density: np.ndarray, grid: Grid, frame: Box, levels: np.ndarray) -> list[str]:
    """Cells, each as dark as its mass, and contours."""
    width, height = ((frame.right - frame.left) / grid.shape[0], SIDE / grid.shape[1])
    shapes = ['<g shape-rendering="crispEdges">']
    for (i, j), share in np.ndenumerate(density / density.max()):
        if share > 0.004:  # others are white
            x, y = frame.left + i * width, frame.bottom - (j + 1) * height
            shapes.append(rect(x, y, width, height, fill=_colour(float(share))))
    shapes.append("</g>")
    for level, line in zip(levels, ("2.5", "1"), strict=False):
        segments = contour(density, float(level)) * [width, -height] + [frame.left, frame.bottom]
        path = "".join(
            f"M{rounded(a)} {rounded(b)}L{rounded(c)} {rounded(d)}"
            for (a, b), (c, d) in segments.tolist()
        )
        shapes.append(
            f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="{line}" '
            'stroke-linecap="round"/>'
        )
    return shapes


def contour(density: np.ndarray, level: float) -> np.ndarray:
    """Line segments around where a density is above a level: (n_segments, 2 ends, 2 coordinates).

    Coordinates are in cells from the lower corner. Marching squares between the centres of cells,
    with a border of mass 0.

    Example:
        >>> contour(np.array([[1.0]]), 0.5)[0].tolist()  # one of four
        [[0.5, 0.0], [0.0, 0.5]]
    """
    values = np.pad(density, 1) - level
    places = np.arange(-1, max(density.shape) + 1) + 0.5
    segments = []
    for i, j in np.ndindex(values.shape[0] - 1, values.shape[1] - 1):
        corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        above = [values[corner] >= 0 for corner in corners]
        if all(above) or not any(above):
            continue
        crossings = []
        for at, (one, other) in enumerate(zip(corners, corners[1:] + corners[:1], strict=True)):
            if above[at] != above[(at + 1) % 4]:
                share = values[one] / (values[one] - values[other])
                ends = places[list(one)], places[list(other)]
                crossings.append(ends[0] + share * (ends[1] - ends[0]))
        if len(crossings) == 4 and above[0] != (values[i : i + 2, j : j + 2].mean() >= 0):
            crossings = crossings[1:] + crossings[:1]  # the middle is not connected to the first
        segments += [crossings[at : at + 2] for at in range(0, len(crossings), 2)]
    return np.array(segments).reshape(-1, 2, 2).clip(0, np.array(density.shape))


def _curve(density: np.ndarray, grid: Grid, frame: Box, levels: np.ndarray) -> list[str]:
    """The density as a line, or as steps if it has few cells, with its regions as bars below."""
    n = grid.shape[0]
    if n > MOST_STEPS:
        places, heights = (np.arange(n) + 0.5) / n, density
    else:
        places = np.repeat(np.arange(n + 1) / n, 2)
        heights = np.concatenate([[0], np.repeat(density, 2), [0]])
    x = frame.left + places * SIDE
    y = frame.bottom - 24 - heights / density.max() * (SIDE - 24)
    line = " ".join(f"{rounded(a)},{rounded(b)}" for a, b in zip(x, y, strict=True))
    shapes = [f'<polyline points="{line}" fill="none" stroke="{_colour(0.8)}" stroke-width="2"/>']
    for number, level in enumerate(levels):
        for at in np.flatnonzero(density >= level):
            left = frame.left + at * SIDE / grid.shape[0]
            top = frame.bottom - 18 + 8 * number
            shapes.append(rect(left, top, SIDE / grid.shape[0], 5 - 2 * number, fill=LINE))
    return shapes


def _points(ratings: np.ndarray | None, grid: Grid, frame: Box) -> list[str]:
    if ratings is None:
        return []
    shares = (np.asarray(ratings, dtype=float) - grid.low) / grid.range
    x = frame.left + shares[:, 0] * SIDE
    y = frame.bottom - (shares[:, 1] if grid.n_dimensions == 2 else 0 * shares[:, 0]) * SIDE
    return [
        f'<circle cx="{rounded(a)}" cy="{rounded(b)}" r="3.5" fill="#fdae61" stroke="#111111"/>'
        for a, b in zip(x, y, strict=True)
    ]


def _axes(grid: Grid, frame: Box, questions: Sequence[str]) -> list[str]:
    names = [short(name, 30) for name in questions] + ["", ""]
    (low, high), middle = grid.limits[0], (frame.left + frame.right) / 2
    shapes = [
        plain_line(frame.left, frame.bottom, frame.right, frame.bottom),
        letters(frame.left, frame.bottom + 18, f"{low:g}", size=12, anchor="middle"),
        letters(frame.right, frame.bottom + 18, f"{high:g}", size=12, anchor="middle"),
        letters(middle, frame.bottom + 34, names[0], size=12, anchor="middle"),
    ]
    if grid.n_dimensions == 1:
        return shapes
    low, high = grid.limits[1]
    x, y = rounded(frame.left - 16), rounded((frame.top + frame.bottom) / 2)
    return [
        rect(frame.left, frame.top, SIDE, SIDE, stroke="#999999"),
        *shapes,
        letters(frame.left - 8, frame.bottom, f"{low:g}", size=12, anchor="end"),
        letters(frame.left - 8, frame.top + 8, f"{high:g}", size=12, anchor="end"),
        f'<g transform="rotate(-90 {x} {y})">',
        letters(float(x), float(y), names[1], size=12, anchor="middle"),
        "</g>",
    ]


def _legend(shares: Sequence[float]) -> str:
    return "regions with " + ", ".join(f"{100 * share:g} %" for share in shares) + " of the mass"


def _colour(share: float) -> str:
    """From white to dark blue."""
    at = share * (len(COLOURS) - 1)
    low = min(int(at), len(COLOURS) - 2)
    pair = np.array(COLOURS[low : low + 2])
    mixed = pair[0] + (at - low) * (pair[1] - pair[0])
    return "#" + "".join(f"{round(part):02x}" for part in mixed)
