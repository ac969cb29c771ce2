"""An item, its annotators' focus and their answers, predictions with attention, or a density, as
SVG."""

from __future__ import annotations

from dissensus.drawing.densities import contour, draw_density
from dissensus.drawing.items import draw
from dissensus.drawing.svg import MOST_NAMED, PALETTE, WIDTH, check_ending, save_picture

__all__ = [
    "MOST_NAMED",
    "PALETTE",
    "WIDTH",
    "contour",
    "draw",
    "draw_density",
    "check_ending",
    "save_picture",
]
