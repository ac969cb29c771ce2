"""Picture files: SVG as PNG or PDF, pixels as PNG, and the size of a picture."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dissensus.errors import DataError
from dissensus.files.staging import staged

PIXELS = 2  # of a PNG for each unit of the SVG
FORMATS = ("PNG", "GIF", "JPEG")  # that drawings can show


def to_png(svg: str) -> bytes:
    """The drawing as a PNG file, on a white page."""
    import vl_convert

    return vl_convert.svg_to_png(_on_paper(svg), scale=PIXELS)


def to_pdf(svg: str) -> bytes:
    """The drawing as a PDF file of one page, with vectors and texts."""
    import vl_convert

    return vl_convert.svg_to_pdf(_on_paper(svg))


def _on_paper(svg: str) -> str:
    """The drawing on a white page, in black where it takes the colours of the page around it.

    Example:
        >>> _on_paper('<svg width="2"><path fill="currentColor"/></svg>')
        '<svg width="2"><rect width="100%" height="100%" fill="#fff"/><path fill="#222"/></svg>'
    """
    svg = re.sub(r"var\([^()]*page[^()]*\)", "#fff", svg)
    svg = re.sub(r"var\((?:[^()]|\([^()]*\))*\)|currentColor", "#222", svg)
    page = '<rect width="100%" height="100%" fill="#fff"/>'
    return re.sub(r"(<svg[^>]*>)", rf"\1{page}", svg, count=1)


PICTURES: dict[str, Callable[[str], bytes]] = {
    ".svg": lambda svg: svg.encode("utf-8"),
    ".png": to_png,
    ".pdf": to_pdf,
}


def check_ending(path: Path) -> None:
    """Refuse a file whose name has the ending of no picture."""
    if path.suffix.lower() not in PICTURES:
        raise DataError(f"{path}: pictures are saved as .svg, .png or .pdf; use such an ending")


def save_picture(path: str | Path, svg: str) -> None:
    """Write a drawing to a .svg, .png or .pdf file."""
    check_ending(Path(path))
    content = PICTURES[Path(path).suffix.lower()](svg)
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
