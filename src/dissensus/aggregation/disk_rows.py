"""Rows in files: for answers that do not fit into memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dissensus.aggregation.rows import Rows, cell_type
from dissensus.annotations import AnnotationBlocks


@dataclass(eq=False)
class DiskRows(Rows):
    """Rows whose cells are a file that is mapped into memory: a temporary one, 4 bytes a row.

    What stays in memory are the posteriors, where each item's rows begin, and what is known of
    annotators.
    """

    folder: tempfile.TemporaryDirectory[str] = field(kw_only=True)

    @classmethod
    def of_blocks(cls, blocks: AnnotationBlocks, purpose: str, known: np.ndarray) -> DiskRows:
        """Write the cells of one block after another."""
        n_values, n_annotators = blocks.scale.n_columns, blocks.n_annotators
        folder = tempfile.TemporaryDirectory(prefix="dissensus-")
        kind = cell_type(n_annotators * n_values)
        path = Path(folder.name, "cells")
        offsets = np.zeros(blocks.n_items + 1, dtype=np.int64)
        with path.open("wb") as file:
            for items, block in blocks:
                part = Rows.of(block, purpose, known[items], threads=1)
                part.cell.astype(kind, copy=False).tofile(file)
                offsets[items.start + 1 : items.stop + 1] = offsets[items.start] + part.offsets[1:]
        cell = np.asarray(np.memmap(path, dtype=kind, mode="r"))
        return cls(offsets, cell, n_values, n_annotators, known, folder=folder)

    def close(self) -> None:
        super().close()
        self.cell = self.cell[:0].copy()
        self.folder.cleanup()
