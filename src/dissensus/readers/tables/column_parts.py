"""Columns whose texts arrive in parts, as those of a large file do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.readers.tables.rows import Column

MANY = 256 << 20  # bytes of texts; if there are more, codes are kept instead


class ColumnParts:
    """A column that grows; if it is long, it is kept as codes, 4 bytes each.

    Example:
        >>> parts = ColumnParts()
        >>> parts.add(pa.array(["b", "a"]))
        >>> parts.add(pa.array(["b"]))
        >>> parts.column().codes.tolist()
        [0, 1, 0]
    """

    def __init__(self) -> None:
        self._n_rows = self._n_bytes = 0
        self._texts: list[Any] = []
        self._values = pa.array([], pa.large_string())  # the distinct texts so far
        self._codes: list[np.ndarray] = []

    def __len__(self) -> int:
        return self._n_rows

    def add(self, array: Any) -> None:
        """Take the next rows, Arrow strings."""
        self._n_rows += len(array)
        self._texts.append(array)
        self._n_bytes += array.nbytes
        if self._n_bytes > (max(MANY // 8, self._values.nbytes) if self._codes else MANY):
            self._encode()

    def column(self) -> Column:
        """All rows; nothing is kept here."""
        if not self._codes:
            texts, self._texts = self._texts, []
            return Column.of(pa.chunked_array(texts, pa.string()))
        self._encode()
        codes, self._codes = self._codes, []
        small = self._values.nbytes < np.iinfo(np.int32).max
        values = self._values.cast(pa.string()) if small else self._values
        return Column(values, np.concatenate(codes), is_encoded=True)

    def _encode(self) -> None:
        """Turn the texts into codes, those of texts that were there before as they were."""
        new = Column.of(pa.chunked_array(self._texts, pa.string()))
        self._texts, self._n_bytes = [], 0
        both = pa.concat_arrays([self._values, new.values.cast(pa.large_string())])
        encoded = both.dictionary_encode()
        codes = encoded.indices.to_numpy()[len(self._values) :].astype(np.int32)
        self._values = encoded.dictionary
        self._codes.append(np.append(codes, np.int32(-1))[new.codes])
