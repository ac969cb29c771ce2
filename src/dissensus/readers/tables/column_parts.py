"""Columns whose texts arrive in parts, as those of a large file do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dissensus.readers.tables.rows import Column

if TYPE_CHECKING:
    from dissensus.readers.tables.text_codes import TextCodes

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
        self._known: TextCodes | None = None
        self._codes = np.empty(0, np.int32)

    def __len__(self) -> int:
        return self._n_rows

    def add(self, array: Any) -> None:
        """Take the next rows, Arrow strings."""
        self._n_rows += len(array)
        self._texts.append(array)
        self._n_bytes += array.nbytes
        if self._n_bytes > MANY:
            self._encode()

    def column(self) -> Column:
        """All rows; nothing is kept here."""
        if self._known is None:
            texts, self._texts = self._texts, []
            return Column.of(pa.chunked_array(texts, pa.string()))
        values, self._known = self._known.values(), None
        codes, self._codes = self._codes[: self._n_rows], np.empty(0, np.int32)
        return Column(values, codes, is_encoded=True)

    def _encode(self) -> None:
        """Turn the texts into codes."""
        from dissensus.readers.tables.text_codes import TextCodes, enlarged

        self._known = self._known or TextCodes()
        end = self._n_rows - sum(map(len, self._texts))
        self._codes = enlarged(self._codes, self._n_rows, end)
        while self._texts:
            texts = self._texts.pop(0)
            self._codes[end : end + len(texts)] = self._known.add(texts)
            end += len(texts)
