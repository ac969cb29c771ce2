"""An item, its annotators' focus and their answers, as SVG."""

from __future__ import annotations

from dissensus.drawing.annotators import PALETTE
from dissensus.drawing.items import draw, draw_items, write_svg
from dissensus.drawing.shapes import MOST_NAMED, WIDTH

__all__ = ["MOST_NAMED", "PALETTE", "WIDTH", "draw", "draw_items", "write_svg"]
