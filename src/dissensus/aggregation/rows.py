"""Rows: the answers of a question laid out item by item, for passes over them on every core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dissensus.annotations import Annotations

FEW = 50_000  # rows below which a second thread costs more than it gains


class Expected(NamedTuple):
    """The results of a pass over the rows."""

    likelihood: float  # of all answers, its logarithm
    change: float  # the largest of any posterior
    counts: np.ndarray  # (n_cells, width)
    mass: np.ndarray  # (n_values,) the posteriors' sum over items


@dataclass(frozen=True, eq=False)
class Rows:
    """Answers sorted by item, each as a cell: annotator times n_values plus answer."""

    offsets: np.ndarray  # (n_items + 1,) where each item's rows begin
    cell: np.ndarray  # (n_rows,)
    n_values: int
    n_annotators: int
    bounds: tuple[int, ...]  # items between which the threads share the work
    pool: ThreadPoolExecutor | None = None
    tables: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)  # kept for every pass

    @classmethod
    def of(cls, annotations: Annotations, purpose: str) -> Rows:
        """Sort the rows by item, in one pass over them."""
        from dissensus.aggregation.kernels import sort_by_item

        item, annotator = annotations.item, annotations.annotator_codes(purpose)
        n_values, n_annotators = annotations.scale.n_columns, annotations.n_annotators
        n = np.bincount(item, minlength=annotations.n_items)
        offsets = np.r_[0, np.cumsum(n)]
        cell = np.empty(len(item), np.int32 if n_annotators * n_values < 1 << 31 else np.int64)
        sort_by_item(item, annotator, annotations.answer, n_values, offsets, cell)
        threads = 1 if len(item) < FEW else min(os.cpu_count() or 1, 8)
        cuts = np.searchsorted(offsets, np.linspace(0, len(item), threads + 1)[1:-1])
        bounds = (0, *(int(c) for c in cuts), len(offsets) - 1)
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        return cls(offsets, cell, n_values, n_annotators, bounds, pool)

    @property
    def n_items(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_cells(self) -> int:
        return self.n_annotators * self.n_values

    @property
    def answered(self) -> np.ndarray:
        """Which items have answers, (n_items,) booleans."""
        return self.offsets[1:] > self.offsets[:-1]

    def each(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Call `work(first item, last item)` for every thread's share, side by side."""
        shares = list(zip(self.bounds[:-1], self.bounds[1:], strict=True))
        if self.pool is None:
            return [work(*share) for share in shares]
        return list(self.pool.map(lambda share: work(*share), shares))

    def voted(self, known: np.ndarray, posterior: np.ndarray) -> Expected:
        """Write the shares of votes (or the known values) into `posterior`, and count them."""
        from dissensus.aggregation.kernels import vote

        def work(first: int, last: int) -> Expected:
            table = np.zeros((self.n_cells, self.n_values))
            mass = np.zeros(self.n_values)
            vote(first, last, self.offsets, self.cell, known, posterior, table, mass)
            return Expected(0.0, 0.0, table, mass)

        return _joined(self.each(work))

    def expected(
        self,
        kernel: Callable[..., tuple[float, float]],
        parameters: np.ndarray,
        prior: np.ndarray | tuple[float, ...],
        known: np.ndarray,
        posterior: np.ndarray,
        watch: bool,
    ) -> Expected:
        """Run a kernel with these parameters (n_cells, width) of the cells.

        Args:
            watch: whether the largest change of a posterior is wanted.
        """
        width = parameters.shape[1]

        def work(first: int, last: int) -> Expected:
            table, mass = self._table(first, 2 * width), np.zeros(self.n_values)
            table[:, :width], table[:, width:] = parameters, 0
            given = self.offsets, self.cell, table, prior, known, posterior, mass, watch
            return Expected(*kernel(first, last, *given), table[:, width:], mass)

        return _joined(self.each(work))

    def _table(self, first: int, width: int) -> np.ndarray:
        """The table of the thread that begins at this item; the same one at every pass."""
        table = self.tables.get((first, width))
        if table is None:
            table = self.tables[first, width] = _aligned(self.n_cells, width)
        return table


def _aligned(n_rows: int, width: int) -> np.ndarray:
    """An empty table that begins on a boundary of 128 bytes, so that rows lie in few lines."""
    raw = np.empty(n_rows * width + 16)
    begin = -(raw.ctypes.data // 8) % 16
    return raw[begin : begin + n_rows * width].reshape(n_rows, width)


def _joined(parts: list[Expected]) -> Expected:
    """The results of all threads together."""
    counts, mass = parts[0].counts.copy(), parts[0].mass
    for part in parts[1:]:
        counts += part.counts
        mass = mass + part.mass
    likelihood = sum(part.likelihood for part in parts)
    change = max(part.change for part in parts)
    return Expected(likelihood, change, _rounded(counts), _rounded(mass))


def _rounded(sums: np.ndarray) -> np.ndarray:
    """Sums to 40 bits, in place, none negative: what is left does not depend on the order of rows.

    Where values tie, an iteration doubles the last bit of a sum until it decides.
    """
    bits = sums.view(np.int64)
    bits += 1 << 12
    bits &= -1 << 13
    return sums
