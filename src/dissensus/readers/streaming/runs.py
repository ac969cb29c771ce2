"""Runs: rows on disk in files that are each sorted by item, read back in blocks of items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

ROWS_AT_ONCE = 1 << 14  # rows of a run that are read together


class RunWriter:
    """Writes tables as runs, and counts the rows of each item."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.n_runs = 0
        self.n_rows = 0
        self._sizes = np.zeros(1 << 12, np.int64)

    def add(self, table: Any) -> None:
        """Write a table, whose column `item` has codes, in the order of items."""
        item = table["item"].to_numpy()
        if (item[1:] < item[:-1]).any():
            order = np.argsort(item, kind="stable")
            table, item = table.take(pa.array(order)), item[order]
        starts = np.flatnonzero(np.r_[True, item[1:] != item[:-1]])
        n_items = int(item[-1]) + 1
        if n_items > len(self._sizes):
            self._sizes = np.r_[self._sizes, np.zeros(n_items, np.int64)]
        self._sizes[item[starts]] += np.diff(np.r_[starts, len(item)])
        with pa.OSFile(str(_file(self.folder, self.n_runs)), "wb") as file:
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=ROWS_AT_ONCE)
        self.n_runs += 1
        self.n_rows += len(item)

    def runs(self, n_items: int) -> Runs:
        """The runs that were written, and the number of rows of each item."""
        return Runs(self.folder, self.n_runs, self.n_rows, self._sizes[:n_items].copy())


@dataclass(frozen=True, eq=False)
class Runs:
    """Sorted files of rows."""

    folder: Path
    n_runs: int
    n_rows: int
    sizes: np.ndarray  # (n_items,) rows of each item

    def blocks(self, bounds: tuple[int, ...]) -> SortedBlocks:
        """The rows in blocks of items that begin at these bounds."""
        starts = [
            np.searchsorted(self._read(run, 0, None, ["item"])["item"].to_numpy(), bounds)
            for run in range(self.n_runs)
        ]
        return SortedBlocks(self, bounds, np.array(starts))

    def _read(self, run: int, start: int, stop: int | None, columns: Any = None) -> Any:
        """Some rows of a run as a table."""
        options = pa.ipc.IpcReadOptions()
        with pa.OSFile(str(_file(self.folder, run))) as file:
            if columns is not None:
                names = pa.ipc.open_file(file).schema.names
                options = pa.ipc.IpcReadOptions(included_fields=[names.index(n) for n in columns])
            reader = pa.ipc.open_file(file, options=options)
            first = start // ROWS_AT_ONCE
            last = reader.num_record_batches if stop is None else -(-stop // ROWS_AT_ONCE)
            batches = [reader.get_batch(number) for number in range(first, last)]
            table = pa.Table.from_batches(batches, reader.schema)
        begin = start - first * ROWS_AT_ONCE
        return table.slice(begin, None if stop is None else stop - start)


@dataclass(frozen=True, eq=False)
class SortedBlocks:
    """All rows by item, then in the order of the file, in blocks of whole items."""

    runs: Runs
    bounds: tuple[int, ...]  # the first item of each block, and the number of items
    starts: np.ndarray  # (n_runs, n_blocks + 1) where each block begins in each run

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __iter__(self) -> Iterator[Any]:
        return map(self.block, range(len(self)))

    def block(self, number: int) -> Any:
        """The rows of a block as a table."""
        ends = self.starts[:, number : number + 2].tolist()
        parts = [
            self.runs._read(run, start, stop)
            for run, (start, stop) in enumerate(ends)
            if start < stop
        ]
        table = pa.concat_tables(parts).combine_chunks()
        item = table["item"].to_numpy()
        if (item[1:] < item[:-1]).any():
            table = table.take(pa.array(np.argsort(item, kind="stable")))
        return table


def _file(folder: Path, run: int) -> Path:
    return folder / f"run-{run}.arrow"
