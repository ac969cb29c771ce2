"""A plot as a PNG or PDF file: the lines, circles and letters of its SVG, drawn by Pillow, or
written as vectors. Other SVG elements are not supported."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont

PIXELS = 2  # of a PNG for each unit of the SVG
FINE = 2  # pixels are drawn this much finer and then averaged, so that edges are smooth
POINTS = 0.75  # of a PDF for each unit of the SVG
ROUND = 0.5523  # how far the handles of a quarter of a circle reach, in radii
FONTS = {"normal": "Helvetica", "bold": "Helvetica-Bold"}  # every PDF reader has them
WIDTHS = (  # of Helvetica's letters from space to ~, in thousandths of their size
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """An element of the SVG."""

    kind: str
    attributes: Mapping[str, str]
    text: str = ""

    def number(self, name: str, default: float = 0.0) -> float:
        return float(self.attributes.get(name, default))

    def colour(self, name: str) -> tuple[int, int, int]:
        code = self.attributes[name].lstrip("#")
        return int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)

    @property
    def dashes(self) -> list[float]:
        return [float(part) for part in self.attributes.get("stroke-dasharray", "").split()]

    @property
    def bold(self) -> bool:
        return self.attributes.get("font-weight") == "bold"


def shapes_in(svg: str) -> tuple[float, float, list[Shape]]:
    """Width, height and elements of a picture."""
    root = ElementTree.fromstring(svg)
    shapes = [
        Shape(str(each.tag).rpartition("}")[2], each.attrib, each.text or "") for each in root
    ]
    return float(root.attrib["width"]), float(root.attrib["height"]), shapes


# ---- PNG ----


def to_png(svg: str) -> bytes:
    """The picture as a PNG file, with the font DejaVu Sans if it is installed."""
    from PIL import Image, ImageDraw

    width, height, shapes = shapes_in(svg)
    scale = PIXELS * FINE
    image = Image.new("RGB", (round(width * scale), round(height * scale)), "white")
    pen = ImageDraw.Draw(image)
    for shape in shapes:
        _draw(pen, shape, scale)
    small = image.resize((round(width * PIXELS), round(height * PIXELS)), Image.Resampling.BOX)
    file = io.BytesIO()
    small.save(file, "PNG")
    return file.getvalue()


def _draw(pen: ImageDraw.ImageDraw, shape: Shape, scale: int) -> None:
    if shape.kind == "line":
        ends = [shape.number(name) * scale for name in ("x1", "y1", "x2", "y2")]
        line_width = max(1, round(shape.number("stroke-width", 1) * scale))
        for dash in _dashed(ends, [each * scale for each in shape.dashes]):
            pen.line(dash, fill=shape.colour("stroke"), width=line_width)
    elif shape.kind == "circle":
        x, y, radius = (shape.number(name) * scale for name in ("cx", "cy", "r"))
        wide = shape.number("stroke-width", 1) * scale
        reach = radius + wide / 2
        box = (x - reach, y - reach, x + reach, y + reach)
        pen.ellipse(box, shape.colour("fill"), shape.colour("stroke"), round(wide))
    elif shape.kind == "text":
        font, stroke = _font(shape, scale)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.attributes["text-anchor"]]
        origin = shape.number("x") * scale, shape.number("y") * scale
        pen.text(origin, shape.text, shape.colour("fill"), font, anchor, stroke_width=stroke)


def _dashed(ends: Sequence[float], dashes: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """The pieces of a line; the whole line if it is solid."""
    x1, y1, x2, y2 = ends
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if not dashes or not length:
        yield x1, y1, x2, y2
        return
    at, number = 0.0, 0
    while at < length:
        end = min(at + dashes[number % len(dashes)], length)
        if number % 2 == 0:
            a, b = at / length, end / length
            yield x1 + a * (x2 - x1), y1 + a * (y2 - y1), x1 + b * (x2 - x1), y1 + b * (y2 - y1)
        at, number = end, number + 1


def _font(shape: Shape, scale: int) -> tuple[ImageFont.FreeTypeFont | ImageFont.ImageFont, float]:
    """The font of a text, and how much its letters are thickened to be bold."""
    from PIL import ImageFont

    size = shape.number("font-size") * scale
    try:
        name = "DejaVuSans-Bold.ttf" if shape.bold else "DejaVuSans.ttf"
        return ImageFont.truetype(name, size), 0
    except OSError:
        return ImageFont.load_default(size), size / 40 if shape.bold else 0


# ---- PDF ----


def to_pdf(svg: str) -> bytes:
    """The picture as a PDF file of one page, with vectors and text in Helvetica.

    A letter that Helvetica's Western European encoding lacks is shown as "?".
    """
    width, height, shapes = shapes_in(svg)
    lines = [f"{POINTS} 0 0 {POINTS} 0 0 cm"]
    for shape in shapes:
        lines += _operators(shape, height)
    stream = zlib.compress("\n".join(lines).encode("ascii"))
    fonts = " ".join(f"/F{at} {4 + at} 0 R" for at in range(len(FONTS)))
    page = (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width * POINTS:g} {height * POINTS:g}] "
        f"/Contents {4 + len(FONTS)} 0 R /Resources << /Font << {fonts} >> >> >>"
    )
    encoding = "/Encoding /WinAnsiEncoding"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page.encode("ascii"),
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} {encoding} >>".encode("ascii")
            for name in FONTS.values()
        ),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    return _pdf_file(objects)


def _pdf_file(objects: Sequence[bytes]) -> bytes:
    """The objects, numbered from 1, and the table of where each begins."""
    file = io.BytesIO()
    file.write(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    begins = []
    for number, content in enumerate(objects, start=1):
        begins.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.write(b"".join(b"%010d 00000 n \n" % begin for begin in begins))
    file.write(b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1))
    file.write(b"startxref\n%d\n%%%%EOF\n" % table)
    return file.getvalue()


def _operators(shape: Shape, height: float) -> list[str]:
    """A shape as operators of PDF, where y points upwards."""
    if shape.kind == "line":
        x1, x2 = shape.number("x1"), shape.number("x2")
        y1, y2 = height - shape.number("y1"), height - shape.number("y2")
        dashes = " ".join(f"{each:g}" for each in shape.dashes)
        wide = f"{shape.number('stroke-width', 1):g} w [{dashes}] 0 d"
        return [_ink(shape, "stroke", "RG"), wide, f"{x1:g} {y1:g} m {x2:g} {y2:g} l S"]
    if shape.kind == "circle":
        wide = f"{shape.number('stroke-width', 1):g} w [] 0 d"
        place = shape.number("cx"), height - shape.number("cy")
        inks = [_ink(shape, "stroke", "RG"), _ink(shape, "fill", "rg")]
        return [*inks, wide, _circle(*place, shape.number("r"))]
    if shape.kind == "text":
        size, letters = shape.number("font-size"), shape.text.encode("cp1252", "replace")
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.attributes["text-anchor"]]
        back = share * text_width(letters, size)
        x, y = shape.number("x") - back, height - shape.number("y")
        font = f"/F{list(FONTS).index('bold' if shape.bold else 'normal')} {size:g} Tf"
        ink = _ink(shape, "fill", "rg")
        return [f"{ink} BT {font} {x:.2f} {y:.2f} Td <{letters.hex()}> Tj ET"]
    return []  # the white page


def _ink(shape: Shape, name: str, operator: str) -> str:
    return " ".join([*(f"{part / 255:.3g}" for part in shape.colour(name)), operator])


def _circle(x: float, y: float, radius: float) -> str:
    """Four quarters, filled and stroked."""
    far, parts = ROUND * radius, [f"{x + radius:.2f} {y:.2f} m"]
    for across, up in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        left, higher = -up, across  # the direction after a quarter turn
        first = x + across * radius + left * far, y + up * radius + higher * far
        second = x + left * radius + across * far, y + higher * radius + up * far
        last = x + left * radius, y + higher * radius
        numbers = " ".join(f"{number:.2f}" for number in (*first, *second, *last))
        parts.append(f"{numbers} c")
    return " ".join([*parts, "b"])


def text_width(letters: bytes, size: float) -> float:
    """The width of a text in Helvetica; letters beyond ASCII count as a digit.

    Example:
        >>> text_width(b"prior", 10)
        20.0
    """
    known = dict(enumerate(WIDTHS, start=32))
    return sum(known.get(letter, 556) for letter in letters) * size / 1000
