"""Decode picture files of any format to pixels, with Pillow, and sound files to samples."""

from __future__ import annotations

import io
import math
import struct
import warnings
from typing import Any, NamedTuple

import numpy as np
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from dissensus.contents import Contents
from dissensus.encoders.framework.store import Unreadable
from dissensus.errors import DataError, InstallError

SIDEWAYS = (5, 6, 7, 8)  # EXIF orientations that swap height and width
WIDE = ("I", "I;16", "I;16B", "I;16L", "I;16N")  # Pillow's modes for 16-bit grey
DAMAGED = (  # the exceptions that Pillow raises for damaged files
    *(OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError),
    *(NotImplementedError, struct.error, Image.DecompressionBombError),
)
MARGIN = 0.1  # seconds of sound decoded after the cut, so that it does not affect resampling


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
            return _decoded_picture(data, at_least)
        except UnidentifiedImageError:
            reason = "not a picture format that Pillow supports" if data else "it is empty"
        except DAMAGED as error:
            reason = str(error).rstrip(".") or type(error).__name__
    raise Unreadable(contents, code, reason)


def _decoded_picture(data: bytes, at_least: int | None) -> Picture:
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


# ---- sound ----


def sound(data: bytes, seconds: float, rate: int = 16_000) -> tuple[np.ndarray, bool]:
    """The first seconds of a file, (n_samples,) float32, and whether it is longer.

    Channels are averaged. WAV, FLAC, OGG and MP3 are decoded by soundfile, other formats (MP4, M4A,
    WEBM) by PyAV. A file without samples, or with samples that are nan or infinite, is an error;
    its message does not name the file.

    Args:
        data: the bytes of the file.
        seconds: the most that is read.
        rate: samples per second of the result.
    """
    channels, file_rate = _decoded_sound(data, seconds + MARGIN)
    if not len(channels):
        raise DataError("it has no samples")
    if not np.isfinite(channels).all():
        raise DataError("it contains nan or infinite samples")
    samples = channels.mean(axis=1, dtype=np.float32)
    if file_rate != rate:
        from scipy.signal import resample_poly

        common = math.gcd(file_rate, rate)
        samples = resample_poly(samples, rate // common, file_rate // common)
    return samples[: max(1, round(seconds * rate))], len(channels) > seconds * file_rate


def _decoded_sound(data: bytes, seconds: float) -> tuple[np.ndarray, int]:
    """Samples (n_samples, n_channels) float32, and their rate per second."""
    try:
        import soundfile
    except (ImportError, OSError):  # OSError: the package without libsndfile
        raise InstallError(
            "sound needs the package soundfile, which is not installed; "
            "pip install 'dissensus[speech]'"
        ) from None
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            n_samples = math.ceil(seconds * file.samplerate)
            return file.read(n_samples, dtype="float32", always_2d=True), file.samplerate
    except soundfile.LibsndfileError as error:
        return _decoded_by_av(data, seconds, error.error_string.strip().rstrip("."))


def _decoded_by_av(data: bytes, seconds: float, reason: str) -> tuple[np.ndarray, int]:
    """The same by PyAV; `reason` is the error of soundfile."""
    try:
        import av
    except ImportError:
        raise DataError(f"{reason} (MP4, M4A, WEBM: pip install 'dissensus[video]')") from None
    try:
        with av.open(io.BytesIO(data)) as container:
            if not container.streams.audio:
                raise DataError("it is a video without sound")
            return _first_track(container, seconds)
    except av.FFmpegError:
        raise DataError(reason) from None


def _first_track(container: Any, seconds: float) -> tuple[np.ndarray, int]:
    import av

    stream = container.streams.audio[0]
    rate, pieces, n_samples = int(stream.rate), [], 0
    planar = av.AudioResampler(format="fltp", layout=stream.layout, rate=rate)
    for frame in container.decode(stream):
        for piece in planar.resample(frame):
            pieces.append(piece.to_ndarray().T)  # (n_samples, n_channels)
            n_samples += len(pieces[-1])
        if n_samples >= seconds * rate:
            break
    samples = np.concatenate(pieces) if pieces else np.zeros((0, 1), np.float32)
    return samples[: math.ceil(seconds * rate)], rate
