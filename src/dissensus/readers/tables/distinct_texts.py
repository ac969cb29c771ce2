"""The distinct texts of a long column, numbered in order of first appearance, compiled.

Besides the texts themselves, it needs 12 to 16 bytes for each: where it begins, and its place in a
table of codes by hash.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pyarrow as pa

FULL = 0.6  # of the places of the table, at most
GROWTH = 1.25  # of arrays that are too short

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _hash(data, begin, end):  # type: ignore[no-untyped-def]
    """FNV-1a, with its upper half mixed into the lower one."""
    hashed = np.uint64(14695981039346656037)
    for at in range(begin, end):
        hashed = (hashed ^ np.uint64(data[at])) * np.uint64(1099511628211)
    return hashed ^ (hashed >> np.uint64(32))


@_compiled
def _number(texts, begins, data, starts, n, table, codes):  # type: ignore[no-untyped-def]
    """Write the code of each text to `codes`, and new texts to `data`; how many there are now."""
    last = np.uint64(len(table) - 1)
    for row in range(len(codes)):
        begin, end = begins[row], begins[row + 1]
        place = _hash(texts, begin, end) & last
        while True:
            code = table[place]
            if code < 0:
                table[place] = code = n
                first = starts[n]
                data[first : first + end - begin] = texts[begin:end]
                n += 1
                starts[n] = first + end - begin
                break
            first = starts[code]
            if starts[code + 1] - first == end - begin:
                at = 0
                while at < end - begin and data[first + at] == texts[begin + at]:
                    at += 1
                if at == end - begin:
                    break
            place = (place + np.uint64(1)) & last
        codes[row] = code
    return n


class DistinctTexts:
    """Texts that are distinct, each with a code; more can be added.

    Example:
        >>> texts = DistinctTexts()
        >>> texts.codes(pa.array(["b", "a", "b"])).tolist(), texts.codes(pa.array(["a"])).tolist()
        ([0, 1, 0], [1])
        >>> texts.array().to_pylist()
        ['b', 'a']
    """

    def __init__(self) -> None:
        self._n = 0
        self._data: np.ndarray = np.empty(0, np.uint8)
        self._starts: np.ndarray = np.zeros(1, np.int64)
        self._table: np.ndarray = np.full(1 << 10, -1, np.int32)

    def __len__(self) -> int:
        return self._n

    def codes(self, texts: Any) -> np.ndarray:
        """The code of each text, an Arrow array without nulls."""
        if not len(texts):
            return np.empty(0, np.int32)
        texts = texts.cast(pa.large_string())
        _, begins, data = texts.buffers()
        begins = np.frombuffer(begins, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        data = np.frombuffer(data or b"", np.uint8)
        most = self._n + len(texts)
        _lengthen(self._data, int(self._starts[self._n] + begins[-1] - begins[0]))
        _lengthen(self._starts, most + 1)
        if most > FULL * len(self._table):
            self._table = np.full(1 << int(most / FULL).bit_length(), -1, np.int32)
            own = self._data, self._starts  # numbered again as they are
            _number(*own, *own, 0, self._table, np.empty(self._n, np.int32))
        codes: np.ndarray = np.empty(len(texts), np.int32)
        arrays = data, begins, self._data, self._starts, self._n, self._table, codes
        self._n = _number(*arrays)
        return codes

    def array(self) -> Any:
        """All texts, by code, as Arrow strings; nothing can be added after that."""
        size = int(self._starts[self._n])
        is_small = size < np.iinfo(np.int32).max
        starts = self._starts[: self._n + 1].astype(np.int32 if is_small else np.int64)
        kind = pa.StringArray if is_small else pa.LargeStringArray
        return kind.from_buffers(self._n, pa.py_buffer(starts), pa.py_buffer(self._data[:size]))


def _lengthen(array: np.ndarray, length: int) -> None:
    """Make room for so many entries, in place."""
    if length > len(array):
        array.resize(int(GROWTH * length), refcheck=False)
