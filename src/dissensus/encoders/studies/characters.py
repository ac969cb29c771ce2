"""The encoder `characters`: a vector per character, from a small table that is there to learn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.encoders.framework.base import EncoderNetwork
from dissensus.encoders.framework.lookup_tables import TableEncoder, TableNetwork

OWN = 256  # code points below have a row of their own: ASCII and Latin-1
SHARED = 256  # rows that all others share
N_CHARACTERS = OWN + SHARED
WIDTH = 64


@dataclass(frozen=True)
class CharactersEncoder(TableEncoder):
    """One vector of 64 numbers per character (code point) of a text.

    The table has 512 rows: one each for ASCII and Latin-1, the other 256 shared by all further
    characters, by code point modulo 256. Its first values are the same everywhere and at all
    times; they mean nothing. Frozen they tell characters apart, tuned they learn.

    Args:
        max_length: characters that are read; the rest is cut off.
    """

    max_length: int = 1024
    cached: ClassVar[bool] = False  # a look into the table is quicker than one into the cache

    @property
    def identity(self) -> str:
        return json.dumps(["characters", self.max_length])

    @property
    def nothing(self) -> int:
        return 0  # the character that no text holds

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        points = np.frombuffer(text.encode("utf-32-le"), np.dtype("<u4"))
        at = np.arange(len(points))
        units = np.where(points < OWN, points, OWN + points % SHARED)
        return units, np.stack([at, at + 1], axis=1)

    def load(self) -> EncoderNetwork:
        return TableNetwork(first_values())


def first_values() -> np.ndarray:
    """Uniform numbers with variance 1 / width, from a hash: no generator's next version changes
    them."""
    size = N_CHARACTERS * WIDTH
    drawn = np.frombuffer(hashlib.shake_256(b"characters").digest(2 * size), np.dtype("<u2"))
    uniform = (drawn.astype(np.float32) + 0.5) / 2**15 - 1  # from -1 to 1
    return uniform.reshape(-1, WIDTH) * np.float32(np.sqrt(3 / WIDTH))
