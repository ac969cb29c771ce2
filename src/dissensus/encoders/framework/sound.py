"""Decode sound files to one channel of samples, at the rate of an encoder."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from dissensus.errors import DataError, InstallError

MARGIN = 0.1  # seconds decoded after the cut, so that it does not affect resampling


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
    channels, file_rate = _decoded(data, seconds + MARGIN)
    if not len(channels):
        raise DataError("it has no samples")
    if not np.isfinite(channels).all():
        raise DataError("it contains nan or infinite samples")
    samples = _resampled(channels.mean(axis=1, dtype=np.float32), file_rate, rate)
    return samples[: max(1, round(seconds * rate))], len(channels) > seconds * file_rate


def _resampled(samples: np.ndarray, from_rate: int, to_rate: int) -> np.ndarray:
    if from_rate == to_rate:
        return samples
    from scipy.signal import resample_poly

    common = math.gcd(from_rate, to_rate)
    return resample_poly(samples, to_rate // common, from_rate // common)


def _decoded(data: bytes, seconds: float) -> tuple[np.ndarray, int]:
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
