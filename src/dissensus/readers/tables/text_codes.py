"""Codes of texts that arrive in parts: each distinct text once, in order of first appearance."""

from __future__ import annotations

import secrets
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from dissensus.readers.tables.rows import Column

FIRST_SLOTS = 1 << 12
_compiled = numba.njit(nogil=True, cache=True)


class TextCodes:
    """A table of distinct texts that grows.

    Example:
        >>> codes = TextCodes()
        >>> codes.add(pa.array(["b", "a", "b"])).tolist(), codes.add(pa.array(["c", " "])).tolist()
        ([0, 1, 0], [2, -1])
        >>> codes.values().to_pylist()
        ['b', 'a', 'c']
    """

    def __init__(self) -> None:
        self._size = 0
        self._seed = np.uint64(secrets.randbits(64))  # so that no file can be made to collide
        self._letters = np.empty(1 << 16, np.uint8)  # of all texts, one after another
        self._ends = np.zeros(FIRST_SLOTS, np.int64)  # where text n - 1 ends and text n begins
        self._hashes = np.empty(FIRST_SLOTS, np.uint64)
        self._slots = np.full(FIRST_SLOTS, -1, np.int32)  # by hash: the code, -1 if free

    def __len__(self) -> int:
        return self._size

    def add(self, array: Any) -> np.ndarray:
        """A code for each text, (n,); -1 for a blank one."""
        column = Column.of(array)
        new = np.r_[self._codes(column.values), np.int32(-1)]
        return np.asarray(new[column.codes])

    def values(self) -> Any:
        """The distinct texts as an Arrow array."""
        ends = self._ends[: self._size + 1]
        large = ends[-1] > np.iinfo(np.int32).max
        offsets = ends if large else ends.astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self._letters[: ends[-1]])]
        kind = pa.large_string() if large else pa.string()
        return pa.Array.from_buffers(kind, self._size, buffers)

    def _codes(self, texts: Any) -> np.ndarray:
        """The codes of distinct texts."""
        if not len(texts):
            return np.empty(0, np.int32)
        offsets, letters = _buffers(texts)
        self._reserve(len(texts), int(offsets[-1] - offsets[0]))
        codes = np.empty(len(texts), np.int32)
        tables = self._letters, self._ends, self._hashes, self._slots
        self._size = _insert(letters, offsets, self._seed, *tables, self._size, codes)
        return codes

    def _reserve(self, n_texts: int, n_letters: int) -> None:
        """Make room for so many more texts and bytes."""
        n_texts += self._size
        self._ends = enlarged(self._ends, n_texts + 1, self._size + 1)
        self._hashes = enlarged(self._hashes, n_texts, self._size)
        used = int(self._ends[self._size])
        self._letters = enlarged(self._letters, used + n_letters, used)
        n_slots = len(self._slots)
        while 2 * n_texts > n_slots:
            n_slots *= 2
        if n_slots > len(self._slots):
            self._slots = np.full(n_slots, -1, np.int32)
            _refill(self._hashes, self._size, self._slots)


def enlarged(array: np.ndarray, size: int, used: int) -> np.ndarray:
    """An array of at least this size that begins with the used part of this one."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[:used] = array[:used]
    return larger


def _buffers(texts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Where each text begins and ends, and the bytes of all texts."""
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offsets, letters = texts.buffers()
    ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1]
    data = np.empty(0, np.uint8) if letters is None else np.frombuffer(letters, np.uint8)
    return ends, data


@_compiled
def _insert(letters, offsets, seed, pool, ends, hashes, slots, size, codes):  # type: ignore[no-untyped-def]
    """Write the code of each text; new texts are added. Returns how many there are then."""
    mask = np.uint64(len(slots) - 1)
    for text in range(len(codes)):
        start, stop = offsets[text], offsets[text + 1]
        value = seed
        for at in range(start, stop):
            value = (value ^ np.uint64(letters[at])) * np.uint64(0x100000001B3)
        value ^= value >> np.uint64(32)
        value *= np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
        slot = value & mask
        while True:
            code = slots[slot]
            if code < 0:
                begin = ends[size]
                for at in range(start, stop):
                    pool[begin + at - start] = letters[at]
                ends[size + 1] = begin + stop - start
                hashes[size] = value
                slots[slot] = size
                codes[text] = size
                size += 1
                break
            begin = ends[code]
            if hashes[code] == value and ends[code + 1] - begin == stop - start:
                same = True
                for at in range(start, stop):
                    if pool[begin + at - start] != letters[at]:
                        same = False
                        break
                if same:
                    codes[text] = code
                    break
            slot = (slot + np.uint64(1)) & mask
    return size


@_compiled
def _refill(hashes, size, slots):  # type: ignore[no-untyped-def]
    """Put all codes into an empty table of slots."""
    mask = np.uint64(len(slots) - 1)
    for code in range(size):
        slot = hashes[code] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code
