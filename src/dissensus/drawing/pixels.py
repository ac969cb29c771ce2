"""A drawing as a PNG file: the shapes of its SVG, drawn by Pillow."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

PIXELS = 2  # for each unit of the SVG
BLACK, WHITE = "#222222", "#ffffff"  # instead of the colours of a page
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def to_png(svg: str) -> bytes:
    """The drawing as a PNG file, with the fonts DejaVu Sans or DejaVu Sans Mono if installed."""
    from PIL import Image, ImageDraw

    root = ElementTree.fromstring(svg)
    size = [round(float(root.attrib[name]) * PIXELS) for name in ("width", "height")]
    page = Image.new("RGB", (size[0], size[1]), "white")
    pen = ImageDraw.Draw(page)
    _draw(page, pen, _with_font(root), 0.0, 0.0)
    file = io.BytesIO()
    page.save(file, "PNG")
    return file.getvalue()


def _draw(
    page: Image.Image, pen: ImageDraw.ImageDraw, group: ElementTree.Element, x: float, y: float
) -> None:
    """Draw the shapes of a group; x and y are where it begins."""
    for shape in group:
        kind = str(shape.tag).rpartition("}")[2]
        if kind == "g":
            move = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", shape.attrib.get("transform", ""))
            turn = re.search(r"rotate\(([-\d.]+)\)", shape.attrib.get("transform", ""))
            left, top = (float(move[1]), float(move[2])) if move else (0.0, 0.0)
            if turn:
                _turned(page, shape, x + left, y + top, float(turn[1]))
            else:
                _draw(page, pen, shape, x + left, y + top)
        elif kind != "title":
            _SHAPES[kind](page, pen, shape, x, y)


def _with_font(root: ElementTree.Element) -> ElementTree.Element:
    """The drawing, with the font of the whole at each text."""
    wide = "Mono" not in root.attrib.get("font-family", "Mono")
    for shape in root.iter():
        shape.attrib["font"] = "DejaVuSans" if wide else "DejaVuSansMono"
    return root


def _turned(
    page: Image.Image, group: ElementTree.Element, x: float, y: float, degrees: float
) -> None:
    """Draw texts that are turned around a place."""
    from PIL import Image, ImageDraw

    for shape in group:
        reach = 2 * PIXELS * (20 + 12 * len(shape.text or ""))  # in both directions
        layer = Image.new("RGBA", (reach, reach), (255, 255, 255, 0))
        _text(layer, ImageDraw.Draw(layer), shape, reach / 2 / PIXELS, reach / 2 / PIXELS)
        layer = layer.rotate(-degrees, Image.Resampling.BICUBIC)
        corner = round(x * PIXELS - reach / 2), round(y * PIXELS - reach / 2)
        page.paste(layer, corner, layer)


def _number(shape: ElementTree.Element, name: str, before: float = 0.0) -> float:
    """A coordinate or size in pixels."""
    return (float(shape.attrib.get(name, 0)) + before) * PIXELS


def _ink(shape: ElementTree.Element, name: str) -> str | None:
    """A colour; on white, if it is not opaque."""
    colour = shape.attrib.get(name, "none")
    if colour == "none":
        return None
    if not colour.startswith("#"):
        colour = WHITE if "page" in colour else BLACK
    opacity = float(shape.attrib.get(f"{name}-opacity", 1))
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - opacity * (255 - part)):02x}" for part in parts)


def _thickness(shape: ElementTree.Element) -> int:
    return max(1, round(float(shape.attrib.get("stroke-width", 1)) * PIXELS))


def _rect(page: Any, pen: Any, shape: ElementTree.Element, x: float, y: float) -> None:
    left, top = _number(shape, "x", x), _number(shape, "y", y)
    right, bottom = left + _number(shape, "width"), top + _number(shape, "height")
    ink = _ink(shape, "stroke")
    out = _thickness(shape) / 2 if ink else 0  # a line is drawn on both sides of its place
    box = (left - out, top - out, max(right + out - 1, left), max(bottom + out - 1, top))
    pen.rectangle(box, _ink(shape, "fill"), ink, _thickness(shape))


def _line(page: Any, pen: Any, shape: ElementTree.Element, x: float, y: float) -> None:
    ends = [_number(shape, name, x if name[0] == "x" else y) for name in ("x1", "y1", "x2", "y2")]
    dashes = [float(part) * PIXELS for part in shape.attrib.get("stroke-dasharray", "").split()]
    (x1, y1, x2, y2), at, drawn = ends, 0.0, True
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
    while at < length:
        end = min(length, at + (dashes[0] if drawn else dashes[-1]) if dashes else length)
        if drawn:
            places = [(x1 + s / length * (x2 - x1), y1 + s / length * (y2 - y1)) for s in (at, end)]
            pen.line(places, _ink(shape, "stroke"), _thickness(shape))
        at, drawn = end, not drawn


def _circle(page: Any, pen: Any, shape: ElementTree.Element, x: float, y: float) -> None:
    at, radius = (_number(shape, "cx", x), _number(shape, "cy", y)), _number(shape, "r")
    box = (at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius)
    pen.ellipse(box, _ink(shape, "fill"), _ink(shape, "stroke"), _thickness(shape))


def _path(page: Any, pen: Any, shape: ElementTree.Element, x: float, y: float) -> None:
    """A polygon: paths of drawings of items have straight edges."""
    numbers = [float(part) for part in re.findall(r"-?[\d.]+", shape.attrib["d"])]
    corners = [((a + x) * PIXELS, (b + y) * PIXELS)
               for a, b in zip(numbers[::2], numbers[1::2], strict=True)]  # fmt: skip
    pen.polygon(corners, _ink(shape, "fill"), _ink(shape, "stroke"))


def _text(page: Any, pen: Any, shape: ElementTree.Element, x: float, y: float) -> None:
    from PIL import ImageFont

    size, text = _number(shape, "font-size"), shape.text or ""
    try:
        bold = "-Bold" if shape.attrib.get("font-weight") == "bold" else ""
        font: Any = ImageFont.truetype(f"{shape.attrib['font']}{bold}.ttf", size)
    except OSError:
        font = ImageFont.load_default(size)
    at = (_number(shape, "x", x), _number(shape, "y", y))
    anchor = ANCHORS[shape.attrib.get("text-anchor", "start")]
    if "textLength" not in shape.attrib:
        pen.text(at, text, _ink(shape, "fill"), font, anchor)
        return
    stretched = _number(shape, "textLength") / max(font.getlength(text), 1e-9)
    for number, letter in enumerate(text):
        place = at[0] + stretched * font.getlength(text[:number])
        pen.text((place, at[1]), letter, _ink(shape, "fill"), font, "ls")


def _picture(page: Any, pen: Any, shape: ElementTree.Element, x: float, y: float) -> None:
    from PIL import Image

    encoded = shape.attrib["href"].partition("base64,")[2]
    picture = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    size = max(1, round(_number(shape, "width"))), max(1, round(_number(shape, "height")))
    sharp = "pixelated" in shape.attrib.get("style", "")
    method = Image.Resampling.NEAREST if sharp else Image.Resampling.BICUBIC
    picture = picture.resize(size, method)
    page.paste(picture, (round(_number(shape, "x", x)), round(_number(shape, "y", y))), picture)


_SHAPES = {
    "rect": _rect,
    "line": _line,
    "circle": _circle,
    "path": _path,
    "text": _text,
    "image": _picture,
}
