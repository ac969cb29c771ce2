"""Rows in files: for answers that do not fit into memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from dissensus.aggregation.rows import Rows, cell_type
from dissensus.annotations import AnnotationBlocks
from dissensus.files.staging import write_errors


@dataclass(eq=False)
class DiskRows(Rows):
    """Rows whose cells are a file that is mapped into memory: a temporary one, 4 bytes a row.

    What stays in memory are the posteriors, where each item's rows begin, and what is known of
    annotators. The file has no name, so that nothing is left of it if the process is killed.
    """

    file: IO[bytes] = field(kw_only=True)

    @classmethod
    def of_blocks(cls, blocks: AnnotationBlocks, purpose: str, known: np.ndarray) -> DiskRows:
        """Write the cells of one block after another."""
        n_values, n_annotators = blocks.scale.n_columns, blocks.n_annotators
        kind = cell_type(n_annotators * n_values)
        offsets = np.zeros(blocks.n_items + 1, dtype=np.int64)
        with write_errors(tempfile.gettempdir()):
            file = tempfile.TemporaryFile(prefix="dissensus-")
        try:
            for items, block in blocks:
                part = Rows.of(block, purpose, known[items], threads=1)
                offsets[items.start + 1 : items.stop + 1] = offsets[items.start] + part.offsets[1:]
                with write_errors(tempfile.gettempdir()):
                    file.write(np.ascontiguousarray(part.cell, kind).data)
            with write_errors(tempfile.gettempdir()):
                file.flush()
        except BaseException:
            file.close()
            raise
        n_rows = int(offsets[-1])
        cell: np.ndarray = np.zeros(0, kind)
        if n_rows:
            cell = np.asarray(np.memmap(file, dtype=kind, mode="r", shape=(n_rows,)))
        return cls(offsets, cell, n_values, n_annotators, known, file=file)

    def close(self) -> None:
        super().close()
        self.cell = self.cell[:0].copy()
        self.file.close()
