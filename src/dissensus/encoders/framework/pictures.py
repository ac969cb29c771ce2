"""Files of pictures to pixels, whatever they are saved as: by Pillow, in one place."""

from __future__ import annotations

import io
import struct
import warnings
from typing import NamedTuple

import numpy as np
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from dissensus.contents import Contents
from dissensus.encoders.framework.media import Unreadable

ON_THEIR_SIDE = (5, 6, 7, 8)  # EXIF orientations that swap height and width
WIDE = ("I", "I;16", "I;16B", "I;16L", "I;16N")  # grey of 16 bits, however it is held
DAMAGED = (  # what Pillow raises on a damaged file is not one class
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
    """A picture in red, green and blue, and its size in the file: it may be decoded smaller."""

    image: Image.Image
    height: int
    width: int


def picture(contents: Contents, code: int, at_least: int | None = None) -> Picture:
    """The picture as people see it.

    Turned as its EXIF orientation says, on white where it is transparent, the first frame where
    it moves; grey of 16 bits is read as 8.

    Args:
        at_least: pixels a side that are needed: a larger JPEG is decoded smaller, which saves
            most of the time.
    """
    data = contents.bytes_of(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd tag, a large picture: the pixels are all there
        try:
            return _decoded(data, at_least)
        except UnidentifiedImageError:
            reason = "no format of a picture that Pillow knows" if data else "it is empty"
        except DAMAGED as error:
            reason = str(error).rstrip(".") or type(error).__name__
    raise Unreadable(contents, code, reason)


def _decoded(data: bytes, at_least: int | None) -> Picture:
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        if at_least is not None:
            image.draft(None, (at_least, at_least))
        image.load()
        if image.getexif().get(ExifTags.Base.Orientation) in ON_THEIR_SIDE:
            width, height = height, width
        turned = ImageOps.exif_transpose(image)
        return Picture(on_white(_in_8_bits(turned)), height, width)


def on_white(image: Image.Image) -> Image.Image:
    """In red, green and blue; white shows through where the picture is transparent."""
    if image.has_transparency_data:
        seen = image.convert("RGBA")
        image = Image.new("RGBA", seen.size, "white")
        image.alpha_composite(seen)
    return image.convert("RGB")


def squeezed(image: Image.Image, size: int, resample: int) -> np.ndarray:
    """The whole picture in a square, (3, size, size) bytes: nothing that people saw is cut off."""
    square = image.resize((size, size), Image.Resampling(resample))
    return np.asarray(square).transpose(2, 0, 1)


def _in_8_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 bits by its higher byte; Pillow itself would make all above 255 white."""
    if image.mode == "F":
        raise ValueError("it holds floating-point numbers; save it with 8 or 16 bits")
    if image.mode not in WIDE:
        return image
    values = np.asarray(image)
    if values.min() < 0 or values.max() > 0xFFFF:
        raise ValueError("it holds numbers beyond 16 bits; save it with 8 or 16 bits")
    return Image.fromarray((values >> 8).astype(np.uint8))
