"""The encoder `characters`: a vector per character, from a small table that can be trained."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.encoders.framework.base import EncoderNetwork
from dissensus.encoders.framework.lookup_tables import TableEncoder, TableNetwork

OWN = 256  # code points below have their own row: ASCII and Latin-1
SHARED = 256  # rows that all other code points share
N_CHARACTERS = OWN + SHARED
WIDTH = 64


@dataclass(frozen=True)
class CharactersEncoder(TableEncoder):
    """One vector of 64 numbers per character (code point) of a text.

    The table has 512 rows: one each for ASCII and Latin-1, the other 256 shared by all further
    characters, by code point modulo 256. Its first values are random but always the same. Frozen,
    they only distinguish characters; with `tune`, they are trained.

    Args:
        max_length: the most characters that are read; longer texts are truncated.
    """

    max_length: int = 1024
    cached: ClassVar[bool] = False  # the table is faster than the cache

    @property
    def identity(self) -> str:
        return json.dumps(["characters", self.max_length])

    @property
    def nothing(self) -> int:
        return 0  # a character that no text contains

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        points = np.frombuffer(text.encode("utf-32-le"), np.dtype("<u4"))
        at = np.arange(len(points))
        units = np.where(points < OWN, points, OWN + points % SHARED)
        return units, np.stack([at, at + 1], axis=1)

    def load(self) -> EncoderNetwork:
        return TableNetwork(first_values())


def first_values() -> np.ndarray:
    """Uniform numbers with variance 1 / width, from a hash: the same in every version of numpy."""
    size = N_CHARACTERS * WIDTH
    drawn = np.frombuffer(hashlib.shake_256(b"characters").digest(2 * size), np.dtype("<u2"))
    uniform = (drawn.astype(np.float32) + 0.5) / 2**15 - 1  # from -1 to 1
    return uniform.reshape(-1, WIDTH) * np.float32(np.sqrt(3 / WIDTH))
