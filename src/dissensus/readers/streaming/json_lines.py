"""JSON lines in batches: one object per line."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dissensus.errors import DataError
from dissensus.readers.formats.jsonl import columns_of, text_array
from dissensus.readers.json_text import line_object
from dissensus.readers.streaming.batches import MOST_RECORD, Batches, NotStreamedError
from dissensus.readers.streaming.text_files import TextFile


@dataclass
class JsonLinesFile(TextFile):
    """A file with an object in each line."""

    def batches(self) -> Batches:
        """The batches of the file, whose columns are the keys of the objects in its first chunk."""
        with closing(self._chunks()) as chunks:
            names = list(next(chunks, ({}, []))[0])
        if not names:
            raise DataError(f"{self.path}: the file is empty")

        def parts() -> Iterator[list[Any]]:
            for columns, numbers in self._chunks():
                yield self._arrays(names, columns, numbers)

        return Batches(names, parts, self._place, lambda: self.position)

    def _chunks(self) -> Generator[tuple[dict[str, list[Any]], list[int]]]:
        """The values by name, and the number of each line, of some lines."""
        n_lines = 0
        for text in self._whole_lines():
            lines = text.decode("utf-8").split("\n")
            objects = (
                (n_lines + number, line_object(line.strip(), n_lines + number, self.path))
                for number, line in enumerate(lines, start=1)
                if line.strip()
            )
            columns, numbers = columns_of(objects)
            n_lines += text.count(b"\n")
            if numbers:
                yield columns, numbers

    def _whole_lines(self) -> Iterator[bytes]:
        """The text in chunks that end with a line."""
        rest, is_first = b"", True
        for text in self.texts():
            text = rest + text
            if is_first and not text.lstrip().startswith(b"{"):
                raise NotStreamedError("it does not begin with an object")
            is_first = False
            end = text.rfind(b"\n") + 1
            if not end and len(text) > MOST_RECORD:
                raise NotStreamedError(f"a line is longer than {MOST_RECORD >> 20} MB")
            rest = text[end:]
            if end:
                yield text[:end]
        yield rest

    def _arrays(
        self, names: list[str], columns: dict[str, list[Any]], numbers: list[int]
    ) -> list[Any]:
        """The Arrow strings of each column."""
        strange = [name for name in columns if name not in names]
        if strange:
            raise NotStreamedError(f"{strange[0]!r} is not in its first lines")
        sets: set[str] = set()
        arrays = [
            text_array(name, columns[name], sets, self.path, lambda row: f"line {numbers[row]}")
            if name in columns
            else pa.nulls(len(numbers), pa.string())
            for name in names
        ]
        if sets:
            raise NotStreamedError(f"{min(sets)!r} has lists")
        return arrays

    def _place(self, row: int) -> str:
        """The line of a row: blank lines are not counted as rows."""
        n_rows = 0
        for _, numbers in self._chunks():
            if row < n_rows + len(numbers):
                return f"line {numbers[row - n_rows]}"
            n_rows += len(numbers)
        return f"row {row + 1}"
