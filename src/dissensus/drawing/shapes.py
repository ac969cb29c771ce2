"""Lines, boxes and letters as SVG, and the sizes that all panels share."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH = 760  # of a picture, in pixels, as all below
EDGE = 20
ACROSS = WIDTH - 2 * EDGE  # what a panel may take
SIZE = 14  # of letters
LONGEST = 10_000  # letters of a title or a cell
MOST_NAMED = 60  # annotators with a line in the legend, or a point of their own
GREY = "#777777"
PIXELATED = 'image-rendering="optimizeSpeed" style="image-rendering:pixelated"'
_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Box(NamedTuple):
    """A rectangle of the drawing."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


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


def printable(text: str) -> str:
    """The text without characters that XML does not allow."""
    return _UNPRINTABLE.sub("\ufffd", text)


def dashes(dash: str) -> str:
    """The attribute of a dashed line; nothing for a solid one."""
    return f' stroke-dasharray="{dash}"' if dash else ""


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
    shown = escape(printable(text))
    fixed = ""
    if length is not None:
        fixed = f' textLength="{rounded(length)}" lengthAdjust="spacingAndGlyphs"'
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    bold = "" if weight == "normal" else f' font-weight="{weight}"'
    faint = "" if opacity == 1 else f' fill-opacity="{opacity:g}"'
    return (
        f'<text x="{rounded(x)}" y="{rounded(y)}" font-size="{size}" fill="{fill}"{faint}{place}'
        f'{bold}{fixed} xml:space="preserve">{shown}</text>'
    )


def rect(
    x: float,
    y: float,
    width_: float,
    height: float,
    *,
    fill: str = "none",
    stroke: str = "none",
    width: float = 1,
    dash: str = "",
) -> str:
    """A box, filled or framed."""
    return (
        f'<rect x="{rounded(x)}" y="{rounded(y)}" width="{rounded(width_)}" '
        f'height="{rounded(height)}" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{rounded(width)}"{dashes(dash)}/>'
    )


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
    return (
        f'<line x1="{rounded(x1)}" y1="{rounded(y1)}" x2="{rounded(x2)}" y2="{rounded(y2)}" '
        f'stroke="{colour}" stroke-width="{rounded(width)}"{dashes(dash)}/>'
    )
