"""Coded rows: the batches of a table as codes, written to sorted runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, counted
from dissensus.readers.streaming.batches import Batches
from dissensus.readers.streaming.first_rows import StreamedColumns
from dissensus.readers.streaming.runs import Runs, RunWriter
from dissensus.readers.streaming.text_codes import TextCodes
from dissensus.readers.tables.extra_rows import MOST_TOTALS, is_total_word, totals_note
from dissensus.readers.tables.rows import Column, Rows

ROWS_IN_RUN = 2_000_000
CELL = "cell."  # before the names of columns in a run, next to "item" and "row"


@dataclass(frozen=True, eq=False)
class CodedRows:
    """All rows of a table in runs, and what their codes stand for."""

    runs: Runs
    values: dict[str, Column]  # column -> its distinct texts
    texts: tuple[str, ...]  # columns that are no codes
    blank: np.ndarray  # rows of the file that are blank, in order
    notes: list[str]  # about rows that were left out

    def table(self, block: Any) -> dict[str, Column]:
        """The columns of a block of rows."""
        columns = {}
        for name in block.column_names:
            if name.startswith(CELL):
                plain = name.removeprefix(CELL)
                cells = block[name]
                if plain in self.texts:
                    columns[plain] = Column.of(cells)
                else:
                    columns[plain] = Column(self.values[plain].values, cells.to_numpy(), True)
        return columns


@dataclass
class RowCoder:
    """Turns batches into codes, and writes them in runs."""

    path: Path
    columns: StreamedColumns
    batches: Batches
    names: list[str]
    writer: RunWriter
    codes: dict[str, TextCodes] = field(init=False)
    n_rows: int = 0  # of the file
    blank: list[np.ndarray] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)
    n_waiting: int = 0
    has_blank: dict[str, bool] = field(default_factory=dict)  # in a row that was written
    n_codes: dict[str, int] = field(default_factory=dict)  # in rows that were written

    def __post_init__(self) -> None:
        named = [name for name in self.names if name]
        self.codes = {name: TextCodes() for name in named if name not in self.columns.texts}
        self.has_blank = dict.fromkeys(named, False)
        self.n_codes = dict.fromkeys(self.codes, 0)

    def add(self, arrays: list[Any]) -> None:
        """Take the rows of a batch; blank ones are left out."""
        cells: dict[str, Any] = {}
        for name, array in zip(self.names, arrays, strict=True):
            if name in self.codes:
                cells[CELL + name] = pa.array(self.codes[name].add(array))
            elif name:
                cells[CELL + name] = _without_blanks(array)
        size = len(arrays[0])
        cells["row"] = pa.array(np.arange(self.n_rows, self.n_rows + size))
        self.n_rows += size
        table = pa.table(cells)
        blank = np.all([_is_blank(table[name]) for name in table.column_names[:-1]], axis=0)
        if blank.any():
            self.blank.append(table["row"].to_numpy()[blank])
            table = table.filter(pa.array(~blank))
        self.waiting.append(table)
        self.n_waiting += len(table)
        if self.n_waiting >= ROWS_IN_RUN + MOST_TOTALS:
            self._write(MOST_TOTALS)

    def coded(self) -> CodedRows:
        """All rows, once the last batch was added."""
        notes = self._blank_notes()
        n_totals, totals_notes = self._totals()
        self._write(n_totals)
        values = {}
        for name, codes in self.codes.items():
            texts = codes.values()[: self.n_codes[name]]
            values[name] = Column(texts, np.arange(len(texts)), is_encoded=True)
        runs = self.writer.runs(self.n_codes[self.columns.item])
        blank = np.concatenate([np.empty(0, np.int64), *self.blank])
        return CodedRows(runs, values, tuple(self.columns.texts), blank, notes + totals_notes)

    def _write(self, n_kept: int) -> None:
        """Write the rows that wait, but for the last ones."""
        table = pa.concat_tables(self.waiting).combine_chunks()
        kept = table.slice(len(table) - n_kept)
        table = table.slice(0, len(table) - n_kept)
        self.waiting, self.n_waiting = [kept], len(kept)
        if not len(table):
            return
        item = table[CELL + self.columns.item].to_numpy()
        if (item < 0).any():
            row = int(table["row"][int((item < 0).argmax())].as_py())
            raise DataError(
                f"{self.path}, {self.batches.place(row)}: no item: {self.columns.item!r} is blank"
            )
        for name in self.has_blank:
            cells = table[CELL + name]
            self.has_blank[name] |= bool(_is_blank(cells).any())
            if name in self.codes:
                self.n_codes[name] = max(self.n_codes[name], 1 + int(cells.to_numpy().max()))
        self.writer.add(table.append_column("item", pa.array(item)))

    def _blank_notes(self) -> list[str]:
        n_blank = sum(map(len, self.blank))
        if not n_blank:
            return []
        if n_blank == self.n_rows:
            raise DataError(f"{self.path}: all {counted(self.n_rows, 'row')} are blank")
        first = self.batches.place(int(self.blank[0][0]))
        return [f"{counted(n_blank, 'blank row')} skipped, the first in {first}"]

    def _totals(self) -> tuple[int, list[str]]:
        """How many of the last rows sum up the others, and a note about them."""
        table = pa.concat_tables(self.waiting).combine_chunks()
        most = min(MOST_TOTALS, len(table) - (not self.writer.n_rows))
        n_totals = 0
        while n_totals < most and self._is_total(table, len(table) - n_totals - 1):
            n_totals += 1
        if not n_totals:
            return 0, []
        row = len(table) - n_totals
        place = self.batches.place(int(table["row"][row].as_py()))
        return n_totals, [totals_note(n_totals, place, self._first_cell(table, row))]

    def _is_total(self, table: Any, row: int) -> bool:
        above = table.slice(0, row)
        return is_total_word(self._first_cell(table, row)) and any(
            _is_blank(table[CELL + name].slice(row, 1))[0]
            and not self.has_blank[name]
            and not _is_blank(above[CELL + name]).any()
            for name in self.has_blank
        )

    def _first_cell(self, table: Any, row: int) -> str:
        for name in self.has_blank:
            cell = table[CELL + name][row].as_py()
            if name in self.codes and cell >= 0:
                return str(self.codes[name].values()[cell].as_py())
            if name not in self.codes and cell is not None:
                return str(cell)
        return ""


def first_table(path: Path, batches: Batches, arrays: list[Any]) -> Rows:
    """Some rows as a table."""
    from dissensus.readers.tables.rows import make_rows

    folder = path.resolve().parent
    facts = {"name": path.name, "place": batches.place, "folder": folder, "commas": batches.commas}
    return make_rows(batches.names, arrays, str(path), **facts)


def _without_blanks(array: Any) -> Any:
    """Arrow strings, null where they are blank."""
    blank = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(array)), 0)
    return pc.if_else(blank, pa.scalar(None, array.type), array)


def _is_blank(cells: Any) -> np.ndarray:
    """Which cells are blank, of codes or texts."""
    if pa.types.is_integer(cells.type):
        return np.asarray(cells.to_numpy() < 0)
    return np.asarray(cells.is_null().to_numpy(), dtype=bool)
