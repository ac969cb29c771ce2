"""The loudness of a recording over time."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from dissensus.drawing.shapes import ACROSS, rounded

HEIGHT = 48


@dataclass(frozen=True, eq=False)
class Waveform:
    """How loud a recording is, from 0 to 1, at even steps, and how many seconds it has."""

    loudness: np.ndarray  # (n_steps,)
    seconds: float

    def shape(self, top: float) -> str:
        """Drawn over the whole width, symmetric to a horizontal axis."""
        middle = top + HEIGHT / 2
        x = np.linspace(0, ACROSS, len(self.loudness))
        y = np.maximum(self.loudness, 0.01) * HEIGHT / 2
        above = [f"{rounded(a)} {rounded(middle - b)}" for a, b in zip(x, y, strict=True)]
        below = [f"{rounded(a)} {rounded(middle + b)}" for a, b in zip(x, y, strict=True)]
        return f'<path d="M {" L ".join(above + below[::-1])} Z" fill="#999999"/>'


def waveform(file: bytes, n_steps: int = 360) -> Waveform | None:
    """The loudness of a file; None if it cannot be decoded, or soundfile is not installed.

    Example:
        >>> waveform(b"not a recording") is None
        True
    """
    try:
        import soundfile
    except (ImportError, OSError):  # OSError: the package without libsndfile
        return None
    try:
        samples, rate = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
    except soundfile.LibsndfileError:
        return None
    size = np.nan_to_num(np.abs(samples).max(axis=1, initial=0))
    if not len(size):
        return None
    starts = np.unique(np.linspace(0, len(size), n_steps, endpoint=False).astype(int))
    loudness = np.maximum.reduceat(size, starts)
    return Waveform(loudness / max(loudness.max(), 1e-4), len(size) / rate)
