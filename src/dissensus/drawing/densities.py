"""Densities of ratings on two questions as SVG: a map with contours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.densities import Grid, pool, region_levels
from dissensus.drawing import svg
from dissensus.drawing.svg import INK, QUIET, colour, short, text
from dissensus.errors import DataError

SQUARE = 200.0  # a side of a density, in pixels
LEFT, TOP = 58.0, 26.0  # where it begins
REGIONS = (0.5, 0.9)  # shares of the mass within the contours
DEEPEST = 0.85  # opacity of the cell with most mass
FINEST = 64  # cells along a side of a drawing; finer densities are pooled


@dataclass(frozen=True, eq=False)
class Density:
    """The density of ratings on two questions, with its title."""

    title: str
    mass: np.ndarray  # of cells, (*grid.shape)
    grid: Grid
    points: np.ndarray | None = None  # ratings that are drawn, (n_ratings, 2)


def draw_density(
    density: np.ndarray,
    grid: Grid,
    *,
    questions: Sequence[str] = (),
    ratings: np.ndarray | None = None,
    title: str = "",
) -> str:
    """A density as the text of an SVG file: the more colour, the more mass.

    Contours surround the smallest regions that have 50 % and 90 % of the mass.

    Args:
        density: mass of cells, (*grid.shape), of a grid with two dimensions.
        questions: names of the axes: the first dimension runs to the right, the second upwards.
        ratings: (n, 2), drawn as points.

    Example:
        >>> import numpy as np
        >>> from dissensus.densities import Grid, diffusion_kde
        >>> ratings = np.random.default_rng(0).normal(size=(50, 2)) / 4
        >>> grid = Grid((32, 32))
        >>> drawing = draw_density(diffusion_kde(ratings, grid).density, grid, ratings=ratings)
        >>> drawing[:4], drawing.count("<circle"), drawing.count("<path")
        ('<svg', 50, 2)
    """
    if grid.n_dimensions != 2:
        raise DataError(f"only densities of two questions are drawn, found {grid.n_dimensions}")
    if max(grid.shape) > FINEST:
        coarser = grid.pooled([min(n, FINEST) for n in grid.shape])
        density, grid = pool(density, grid, coarser.shape), coarser
    points = None if ratings is None else np.asarray(ratings, dtype=float)
    panel = Density(title, density, grid, points)
    return contours(panel, questions, title or "The density of ratings.")


def contours(density: Density, questions: Sequence[str], alt: str) -> str:
    """A density: more colour where more ratings are, with contours."""
    width, height = SQUARE + 78, SQUARE + 72
    names = [short(name, 26) for name in (*questions, "", "")]
    words = f"Lines surround {' and '.join(f'{100 * share:g} %' for share in REGIONS)} of the mass."
    shapes = [*_panel(density, names), text(6, height + 14, words, quiet=True)]
    return svg.picture(width, height + 22, shapes, alt)


def _panel(panel: Density, names: Sequence[str]) -> list[str]:
    bottom, grid = TOP + SQUARE, panel.grid
    levels = region_levels(panel.mass, grid, REGIONS)
    shapes = [text(LEFT, 16, short(panel.title, 30)), *_map(panel, levels)]
    if panel.points is not None:
        for x, y in ((panel.points - grid.low) / grid.range * SQUARE).tolist():
            place = LEFT + x, bottom - y
            shapes.append(svg.circle(*place, 4, colour(1), stroke="#ffffff", stroke_width=1))
    low, high = grid.limits[0]
    least, most = grid.limits[1]
    label = text(0, 0, names[1], "middle", quiet=True)
    return [
        *shapes,
        text(LEFT, bottom + 16, f"{low:g}", quiet=True),
        text(LEFT + SQUARE, bottom + 16, f"{high:g}", "end", quiet=True),
        text(LEFT + SQUARE / 2, bottom + 34, names[0], "middle", quiet=True),
        text(LEFT - 6, bottom, f"{least:g}", "end", quiet=True),
        text(LEFT - 6, TOP + 10, f"{most:g}", "end", quiet=True),
        svg.moved(18, TOP + SQUARE / 2, [label], turned=-90),
    ]


def _map(panel: Density, levels: np.ndarray) -> list[str]:
    """Cells with the more colour, the more mass, and contours."""
    mass = panel.mass
    pixels = np.zeros((*mass.T.shape, 4), dtype=np.uint8)
    pixels[..., :3] = [int(colour(0)[at : at + 2], 16) for at in (1, 3, 5)]
    pixels[..., 3] = np.rint(255 * DEEPEST * (mass / mass.max()).T[::-1] ** 0.7)
    place, address = (LEFT, TOP, SQUARE, SQUARE), svg.data_address("png", svg.png(pixels))
    shapes = [svg.image(*place, address, stretched=True), svg.rect(*place, stroke=QUIET)]
    cell = [SQUARE / mass.shape[0], -SQUARE / mass.shape[1]]
    for number, level in enumerate(levels):
        segments = contour(mass, float(level)) * cell + [LEFT, TOP + SQUARE]
        path = "".join(
            f"M{svg.rounded(a)} {svg.rounded(b)}L{svg.rounded(c)} {svg.rounded(d)}"
            for (a, b), (c, d) in segments.tolist()
        )
        line = {"stroke": INK, "stroke_width": 1 if number else 2, "stroke_linecap": "round"}
        shapes.append(svg.element("path", d=path, fill="none", **line))
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
