"""Decode picture files of any format to pixels, with Pillow."""

from __future__ import annotations

import io
import struct
import warnings
from typing import NamedTuple

import numpy as np
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from dissensus.contents import Contents
from dissensus.encoders.framework.media import Unreadable

SIDEWAYS = (5, 6, 7, 8)  # EXIF orientations that swap height and width
WIDE = ("I", "I;16", "I;16B", "I;16L", "I;16N")  # Pillow's modes for 16-bit grey
DAMAGED = (  # the exceptions that Pillow raises for damaged files
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    NotImplementedError,
    struct.error,
    Image.DecompressionBombError,
)


class Picture(NamedTuple):
    """A picture in RGB, which may be decoded smaller, and its size in the file."""

    image: Image.Image
    height: int
    width: int


def picture(contents: Contents, code: int, at_least: int | None = None) -> Picture:
    """The picture as it is displayed.

    It is rotated by its EXIF orientation; transparent parts are white; of an animation the first
    frame is used; 16-bit grey is read as 8-bit.

    Args:
        at_least: pixels per side that are needed; a larger JPEG is decoded at a reduced size, which
            is much faster.
    """
    data = contents.bytes_of(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown tags and large pictures: all pixels are read
        try:
            return _decoded(data, at_least)
        except UnidentifiedImageError:
            reason = "not a picture format that Pillow supports" if data else "it is empty"
        except DAMAGED as error:
            reason = str(error).rstrip(".") or type(error).__name__
    raise Unreadable(contents, code, reason)


def _decoded(data: bytes, at_least: int | None) -> Picture:
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        if at_least is not None:
            image.draft(None, (at_least, at_least))
        image.load()
        if image.getexif().get(ExifTags.Base.Orientation) in SIDEWAYS:
            width, height = height, width
        turned = ImageOps.exif_transpose(image)
        return Picture(on_white(_in_8_bits(turned)), height, width)


def on_white(image: Image.Image) -> Image.Image:
    """The picture in RGB; transparent parts become white."""
    if image.has_transparency_data:
        transparent = image.convert("RGBA")
        image = Image.new("RGBA", transparent.size, "white")
        image.alpha_composite(transparent)
    return image.convert("RGB")


def squeezed(image: Image.Image, size: int, resample: int) -> np.ndarray:
    """The whole picture resized to a square, (3, size, size) bytes; nothing is cropped."""
    square = image.resize((size, size), Image.Resampling(resample))
    return np.asarray(square).transpose(2, 0, 1)


def _in_8_bits(image: Image.Image) -> Image.Image:
    """16-bit grey by its higher byte; Pillow itself would make all values above 255 white."""
    if image.mode == "F":
        raise ValueError("it contains floating-point numbers; save it with 8 or 16 bits")
    if image.mode not in WIDE:
        return image
    values = np.asarray(image)
    if values.min() < 0 or values.max() > 0xFFFF:
        raise ValueError("it contains numbers beyond 16 bits; save it with 8 or 16 bits")
    return Image.fromarray((values >> 8).astype(np.uint8))
