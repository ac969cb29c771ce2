"""An item with what its annotators looked at and answered, as SVG."""

from __future__ import annotations

from dissensus.draw.drawing import draw, draw_items, write_svg
from dissensus.draw.people import PALETTE
from dissensus.draw.shapes import MOST_NAMED, WIDTH

__all__ = ["MOST_NAMED", "PALETTE", "WIDTH", "draw", "draw_items", "write_svg"]
