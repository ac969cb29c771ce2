"""Lines, boxes and letters as SVG, and the sizes that all panels share."""

from __future__ import annotations

import base64
import io
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from dissensus.errors import DataError
from dissensus.files.folders import staged

WIDTH = 760  # of a picture, in pixels, as all below
EDGE = 20
ACROSS = WIDTH - 2 * EDGE  # what a panel may take
SIZE = 14  # of letters
LONGEST = 10_000  # letters of a title or a cell
MOST_NAMED = 60  # annotators with a line in the legend, or a point of their own
GREY = "#777777"
LIGHT, DARK = (198, 219, 239), (26, 95, 168)  # of the lowest and the highest level
PALETTE = (  # Okabe and Ito: distinct for colour-blind readers too; red and green say good and bad
    "#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#009E73", "#000000"
)  # fmt: skip
COLOURS = (*PALETTE[:6], "#8a6bbf", "#7f7f7f", "#b08b4f", "#4fb0a5")  # values, in their order
INK, QUIET, SOFT = "currentColor", "#808890", 0.75  # of a page: text, lines, less important text
_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Box(NamedTuple):
    """A rectangle of the drawing."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Panel:
    """A piece of the drawing, and how high it is."""

    height: float
    shapes: tuple[str, ...]


def rounded(value: float) -> str:
    """A coordinate, rounded to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def short(text: str, most: int) -> str:
    """A text in one line, shortened to this length."""
    text = " ".join(brief(text, 50 * most).split())
    return text if len(text) <= most else text[: most - 1] + "\u2026"


def brief(text: str, most: int) -> str:
    """A text, cut after this many letters.

    Example:
        >>> brief("good", most=4), brief("a long text", most=4)
        ('good', 'a lo...')
    """
    return text if len(text) <= most else f"{text[:most]}..."


def columns_of(letter: str) -> int:
    """How many columns a letter has in a monospaced font."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def caption(text: str) -> str:
    """A text for a title or a cell, printable and cut where it is too long.

    Example:
        >>> caption("so good!"), len(caption("a" * 10**7))
        ('so good!', 10003)
    """
    return printable(brief(text, LONGEST))


def escaped(text: str) -> str:
    """A text for an attribute of XML."""
    return escape(caption(text), {'"': "&quot;"})


def printable(text: str) -> str:
    """The text without characters that XML does not allow."""
    return _UNPRINTABLE.sub("\ufffd", text)


# ---- figures in the colours of a page ----


def colour(number: int) -> str:
    """The colour of the value with this number."""
    return COLOURS[number % len(COLOURS)]


def level_colour(number: int, of: int) -> str:
    """The colour of a level, from light to dark.

    Example:
        >>> level_colour(0, 5), level_colour(4, 5)
        ('#c6dbef', '#1a5fa8')
    """
    part = number / max(of - 1, 1)
    mixed = (round(a + part * (b - a)) for a, b in zip(LIGHT, DARK, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def text(x: float, y: float, words: str, anchor: str = "start", quiet: bool = False) -> str:
    """A line of text; `quiet`: less important."""
    return letters(x, y, words, size=12, fill=INK, anchor=anchor, opacity=SOFT if quiet else 1.0)


def picture(width: float, height: float, shapes: Iterable[str], alt: str) -> str:
    """An <svg> element that shrinks with the page.

    Args:
        alt: what it shows, for those who cannot see it.
    """
    return element(
        "svg",
        "".join(shapes),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {rounded(width)} {rounded(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=escaped(alt),
        font_family="system-ui, sans-serif",
        color="#222",
    )


# ---- elements ----


def element(name: str, inside: str | None = None, /, **attributes: Any) -> str:
    """An SVG element; numbers are rounded, and what is None or empty is left out.

    Example:
        >>> element("circle", cx=1.25, cy=3, stroke_width=2, stroke_dasharray="")
        '<circle cx="1.2" cy="3" stroke-width="2"/>'
    """
    attribute_text = "".join(
        f' {key.replace("_", "-")}="{value if isinstance(value, str) else rounded(value)}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return (
        f"<{name}{attribute_text}/>"
        if inside is None
        else f"<{name}{attribute_text}>{inside}</{name}>"
    )


def document(width: float, height: float, shapes: Iterable[str]) -> str:
    """The text of an SVG file with a white ground."""
    size = {"width": width, "height": height}
    page = [element("rect", fill="#ffffff", **size), *shapes]
    return (
        element(
            "svg",
            "\n" + "\n".join(page) + "\n",
            xmlns="http://www.w3.org/2000/svg",
            **size,
            viewBox=f"0 0 {rounded(width)} {rounded(height)}",
            font_family="DejaVu Sans Mono, Menlo, Consolas, monospace",
        )
        + "\n"
    )


def moved(x: float, y: float, shapes: Iterable[str], turned: float = 0) -> str:
    """Shapes at another place, turned by so many degrees."""
    place = f"translate({rounded(x)} {rounded(y)})" + (f" rotate({turned:g})" if turned else "")
    return element("g", "\n".join(shapes), transform=place)


def letters(
    x: float,
    y: float,
    text: str,
    *,
    size: int = SIZE,
    fill: str = "#111111",
    anchor: str = "start",
    weight: str = "normal",
    length: float | None = None,
    opacity: float = 1.0,
) -> str:
    """A line of text; with a length, stretched to it."""
    return element(
        "text",
        escape(printable(text)),
        x=x,
        y=y,
        font_size=size,
        fill=fill,
        fill_opacity="" if opacity == 1 else f"{opacity:g}",
        text_anchor="" if anchor == "start" else anchor,
        font_weight="" if weight == "normal" else weight,
        textLength=length,
        lengthAdjust="" if length is None else "spacingAndGlyphs",
        **{"xml:space": "preserve"},
    )


def rect(
    x: float,
    y: float,
    wide: float,
    high: float,
    *,
    fill: str = "none",
    stroke: str = "none",
    width: float = 1,
    dash: str = "",
) -> str:
    """A box, filled or framed."""
    line = {"stroke": stroke, "stroke_width": width, "stroke_dasharray": dash}
    return element("rect", x=x, y=y, width=wide, height=high, fill=fill, **line)


def plain_line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    colour: str = "#666666",
    width: float = 1,
    dash: str = "",
) -> str:
    """A line, grey by default."""
    line = {"stroke": colour, "stroke_width": width, "stroke_dasharray": dash}
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **line)


def circle(x: float, y: float, radius: float, fill: str, **line: Any) -> str:
    return element("circle", cx=x, cy=y, r=radius, fill=fill, **line)


def image(
    x: float, y: float, wide: float, high: float, address: str, *, stretched: bool = False,
    pixelated: bool = False,
) -> str:  # fmt: skip
    """A picture: stretched to the box, its pixels as they are or smooth."""
    return element(
        "image",
        x=x,
        y=y,
        width=wide,
        height=high,
        preserveAspectRatio="none" if stretched else "",
        image_rendering="optimizeSpeed" if pixelated else "",
        style="image-rendering:pixelated" if pixelated else "",
        href=address,
    )


def time_axis(y: float, length: float, unit: str) -> list[str]:
    """A line over the whole width, from 0 to a number of seconds or frames."""
    shapes = [plain_line(0, y, ACROSS, y)]
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        label = f"{length * share:.4g}" + (f" {unit}" if share == 1 else "")
        shapes.append(plain_line(ACROSS * share, y, ACROSS * share, y + 5))
        shapes.append(
            letters(ACROSS * share, y + 18, label, size=12, fill="#444444", anchor=anchor)
        )
    return shapes


PIXELS = 2  # of a PNG for each unit of the SVG
FORMATS = ("PNG", "GIF", "JPEG")  # that drawings can show


def _on_paper(svg: str) -> str:
    """The drawing on a white page, in black where it takes the colours of the page around it."""
    svg = re.sub(r"var\([^()]*page[^()]*\)", "#fff", svg)
    svg = re.sub(r"var\((?:[^()]|\([^()]*\))*\)|currentColor", "#222", svg)
    page = '<rect width="100%" height="100%" fill="#fff"/>'
    return re.sub(r"(<svg[^>]*>)", rf"\1{page}", svg, count=1)


def check_ending(path: Path) -> None:
    """Refuse a file whose name has the ending of no picture."""
    if path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise DataError(f"{path}: pictures are saved as .svg, .png or .pdf; use such an ending")


def save_picture(path: str | Path, svg: str) -> None:
    """Write a drawing to a .svg, .png or .pdf file; the last two are on a white page."""
    kind, content = Path(path).suffix.lower(), svg.encode("utf-8")
    check_ending(Path(path))
    if kind != ".svg":
        import vl_convert

        paper = _on_paper(svg)
        to_png, to_pdf = vl_convert.svg_to_png, vl_convert.svg_to_pdf
        content = to_png(paper, scale=PIXELS) if kind == ".png" else to_pdf(paper)
    with staged(path) as new:
        new.write_bytes(content)


def picture_size(file: bytes) -> tuple[str, int, int]:
    """The format, width and height of a picture; an empty format if it cannot be drawn."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(file), formats=FORMATS) as picture:
            return str(picture.format).lower(), *picture.size
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return "", 0, 0


def png(pixels: np.ndarray) -> bytes:
    """Whole numbers from 0 to 255 as a PNG file: greys, (rows, columns), or colours with an alpha
    channel, (rows, columns, 4)."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def data_address(kind: str, file: bytes) -> str:
    """A picture as an address that contains it, for `href`."""
    return f"data:image/{kind};base64,{base64.b64encode(file).decode('ascii')}"
