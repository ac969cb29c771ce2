"""An item, its annotators' focus and their answers, or a density, as SVG."""

from __future__ import annotations

from dissensus.drawing.annotators import PALETTE
from dissensus.drawing.densities import contour, draw_density
from dissensus.drawing.items import draw, draw_items, write_svg
from dissensus.drawing.shapes import MOST_NAMED, WIDTH

__all__ = [
    "MOST_NAMED",
    "PALETTE",
    "WIDTH",
    "contour",
    "draw",
    "draw_density",
    "draw_items",
    "write_svg",
]
