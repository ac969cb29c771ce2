"""A matrix of whole numbers: a line per item, a column per annotator, -1 for a missing answer.

As text with spaces between, or as an array that numpy wrote (.npy).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.plain import numpy_array
from dissensus.readers.files import read_bytes, read_utf8
from dissensus.readers.layout import Layout, layouts_taken
from dissensus.readers.tables.rows import Column, Rows, numbered
from dissensus.readers.tables.shapes import table_corpus
from dissensus.scales import as_numbers

NUMPY = b"\x93NUMPY"
MISSING = -1
FULL = (
    "every annotator answered every item; if these are counts of votes, write a table with the "
    "columns item, answer and count"
)
_CONTENT = "a matrix contains whole numbers from 0, and -1 for a missing answer"


def read(path: Path, options: Layout) -> Corpus:
    """Read a matrix; items and annotators are numbered from 0. nan means the same as -1."""
    if options.columns_named:
        raise DataError(
            f"{path}: a matrix has no columns with names; leave out "
            f"{', '.join(options.columns_named)}"
        )
    data = read_bytes(path)
    if data.startswith(NUMPY):
        values, numbers = numpy_array(data, path), None
        if values.dtype.kind not in "biuf":
            raise DataError(f"{path}: {values.dtype} is not a type of number; {_CONTENT}")
        if values.ndim != 2 or not values.size:
            raise DataError(
                f"{path}: a matrix is items x annotators, found the shape {values.shape}"
            )
    else:
        text = read_utf8(path, options.encoding).decode("utf-8")
        lines = enumerate(io.StringIO(text, newline=None), start=1)
        filled = {number: line.strip() for number, line in lines if line.strip()}
        if not filled:
            raise DataError(f"{path}: the file is empty")
        numbers = list(filled)
        rows = [as_numbers(re.sub("(?i)nan", "-1", line).split()) for line in filled.values()]
        width = len(filled[numbers[0]].split())
        for number, row in zip(numbers, rows, strict=True):
            if row is None or len(row) != width:
                raise DataError(
                    f"{path}, line {number}: expected {width} whole numbers, found "
                    f"{filled[number][:40]!r}; {_CONTENT}"
                )
        values = np.array(rows)

    def place(row: int) -> str:
        return f"row {row + 1}" if numbers is None else f"line {numbers[row]}"

    _check_whole(values, path, place)
    return _corpus(values, path, place, options)


def _check_whole(values: np.ndarray, path: Path, place: Callable[[int], str]) -> None:
    """Refuse fractions, infinities, and numbers below -1 or too large to be exact."""
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float64, copy=False)
    whole = (numbers >= MISSING) & (numbers < 2.0**53) & (numbers == np.floor(numbers))
    wrong = ~(whole | np.isnan(numbers))
    if wrong.any():
        row, column = (int(at) for at in np.argwhere(wrong)[0])
        raise DataError(
            f"{path}, {place(row)}, column {column + 1}: {numbers[row, column]:g} is not allowed; "
            f"{_CONTENT}"
        )


def _corpus(values: np.ndarray, path: Path, place: Callable[[int], str], options: Layout) -> Corpus:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), MISSING, values)
    numbers, codes = np.unique(values.astype(np.int64), return_inverse=True)
    absent = int(numbers[0] == MISSING)
    texts = pa.array(numbers[absent:]).cast(pa.string())
    codes = codes.reshape(values.shape) - absent
    annotators = {str(n): Column(texts, column) for n, column in enumerate(codes.T)}
    what = "-1 = no answer" if absent else FULL
    rows = Rows(
        {"item": numbered(len(values)), **annotators},
        str(path),
        path.name,
        place,
        notes=(f"a matrix: a line per item, a column per annotator; {what}",),
    )
    with layouts_taken():
        layout = Layout(item="item", annotators=(*annotators,))
        return table_corpus(rows, layout.with_changes(**options.stated()))
