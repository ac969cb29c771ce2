"""Small files of noise and tones, as an encoder meets them; another seed, another file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest


def picture(
    seed: int, mode: str = "RGB", form: str = "PNG", *, side: int = 24, **options: Any
) -> bytes:
    """Noise, `side` pixels high and wide."""
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(seed).integers(0, 256, size=(side, side, 3), dtype=np.uint8)
    image.fromarray(pixels).convert(mode).save(buffer := io.BytesIO(), form, **options)
    return buffer.getvalue()


def recording(seed: int, seconds: float = 0.3, loudness: float = 0.5) -> bytes:
    """A tone, higher with every seed."""
    soundfile = pytest.importorskip("soundfile")
    at = np.arange(int(16000 * seconds)) / 16000
    wave = loudness * np.sin(2 * np.pi * (200 + 40 * seed) * at)
    soundfile.write(buffer := io.BytesIO(), wave, 16000, format="WAV")
    return buffer.getvalue()


def film(seed: int, n_frames: int = 4) -> bytes:
    """Noise that changes five times a second, without a sound."""
    av = pytest.importorskip("av")
    generator = np.random.default_rng(seed)
    with av.open(buffer := io.BytesIO(), "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width = stream.height = 32
        stream.pix_fmt = "yuv420p"
        for _ in range(n_frames):
            pixels = generator.integers(0, 256, size=(32, 32, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return buffer.getvalue()
