"""Rows: the answers of a question laid out item by item, for passes over them on every core.

All models of annotators count the same way: each item needs its own answers and what is known of
annotators, and what is learned of annotators are sums over items. So the rows may be arrays in
memory, arrays in files (`disk_rows.py`), or lie on the workers of a cluster (`cluster_rows.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from dissensus.annotations import Annotations

FEW = 50_000  # rows below which a second thread costs more than it gains


class Expected(NamedTuple):
    """The results of a pass over the rows."""

    likelihood: float  # of all answers, its logarithm
    change: float  # the largest of any posterior
    counts: np.ndarray  # (n_cells, width)
    mass: np.ndarray  # (n_values,) the posteriors' sum over items


class AnyRows(Protocol):
    """Rows with the posterior of each item, wherever they are."""

    n_values: int
    n_annotators: int

    @property
    def n_cells(self) -> int: ...

    def voted(self) -> Expected:
        """Take the shares of votes (or the known values) as posteriors, and count them."""
        ...

    def expected(
        self,
        kernel: str,
        parameters: np.ndarray,
        prior: np.ndarray | tuple[Any, ...],
        watch: bool,
    ) -> Expected:
        """Run a kernel of `kernels.py` with these parameters (n_cells, width) of the cells.

        Args:
            watch: whether the largest change of a posterior is wanted.
        """
        ...

    def keep(self) -> None:
        """Keep the posteriors as the best so far."""
        ...

    def restore(self) -> None:
        """Take back the posteriors that were kept."""
        ...

    def distribution(self) -> np.ndarray:
        """The posteriors, (n_items, n_values); nan for items without answers."""
        ...

    def close(self) -> None: ...


@dataclass(eq=False)
class Rows:
    """Answers sorted by item, each as a cell: annotator times n_values plus answer."""

    offsets: np.ndarray  # (n_items + 1,) where each item's rows begin
    cell: np.ndarray  # (n_rows,)
    n_values: int
    n_annotators: int
    known: np.ndarray  # (n_items,) the code of a known label, -1 where there is none
    threads: int = 0  # 0: as many as are useful
    posterior: np.ndarray = field(init=False)  # (n_items, n_values)
    bounds: tuple[int, ...] = field(init=False)  # items between which the threads share the work
    pool: ThreadPoolExecutor | None = field(init=False, default=None)
    tables: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)  # kept for every pass
    best: np.ndarray | None = None  # the posterior that `keep` copied

    @classmethod
    def of(
        cls, annotations: Annotations, purpose: str, known: np.ndarray, threads: int = 0
    ) -> Rows:
        """Sort the rows by item, in one pass over them."""
        from dissensus.aggregation.kernels import sort_by_item

        item, annotator = annotations.item, annotations.annotator_codes(purpose)
        n_values, n_annotators = annotations.scale.n_columns, annotations.n_annotators
        n = np.bincount(item, minlength=annotations.n_items)
        offsets = np.r_[0, np.cumsum(n)]
        cell: np.ndarray = np.empty(len(item), cell_type(n_annotators * n_values))
        sort_by_item(item, annotator, annotations.answer, n_values, offsets, cell)
        return cls(offsets, cell, n_values, n_annotators, known, threads)

    def __post_init__(self) -> None:
        n_rows = len(self.cell)
        threads = self.threads or (1 if n_rows < FEW else min(os.cpu_count() or 1, 8))
        cuts = np.searchsorted(self.offsets, np.linspace(0, n_rows, threads + 1)[1:-1])
        self.bounds = (0, *(int(c) for c in cuts), self.n_items)
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.posterior = np.empty((self.n_items, self.n_values))

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

    def voted(self) -> Expected:
        return rounded(self.sum_of_votes())

    def expected(
        self,
        kernel: str,
        parameters: np.ndarray,
        prior: np.ndarray | tuple[Any, ...],
        watch: bool,
    ) -> Expected:
        return rounded(self.sum_of_expected(kernel, parameters, prior, watch))

    def sum_of_votes(self) -> Expected:
        """`voted`, before sums are rounded."""
        from dissensus.aggregation.kernels import vote

        def work(first: int, last: int) -> Expected:
            table = np.zeros((self.n_cells, self.n_values))
            mass = np.zeros(self.n_values)
            vote(first, last, self.offsets, self.cell, self.known, self.posterior, table, mass)
            return Expected(0.0, 0.0, table, mass)

        return joined(self.each(work))

    def sum_of_expected(
        self,
        kernel: str,
        parameters: np.ndarray,
        prior: np.ndarray | tuple[Any, ...],
        watch: bool,
    ) -> Expected:
        """`expected`, before sums are rounded."""
        from dissensus.aggregation import kernels

        function = getattr(kernels, kernel)
        width = parameters.shape[1]

        def work(first: int, last: int) -> Expected:
            table, mass = self._table(first, 2 * width), np.zeros(self.n_values)
            table[:, :width], table[:, width:] = parameters, 0
            given = self.offsets, self.cell, table, prior, self.known, self.posterior, mass, watch
            likelihood, change = function(first, last, *given)
            return Expected(likelihood, change, table[:, width:], mass)

        return joined(self.each(work))

    def keep(self) -> None:
        self.best = self.posterior.copy()

    def restore(self) -> None:
        assert self.best is not None
        self.posterior = self.best

    def distribution(self) -> np.ndarray:
        return self.posterior

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()

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


def cell_type(n_cells: int) -> type:
    """The smallest type that holds every cell."""
    return np.int32 if n_cells < 1 << 31 else np.int64


def joined(parts: Iterable[Expected]) -> Expected:
    """The results of all threads, or of all workers, together."""
    parts = iter(parts)
    likelihood, change, counts, mass = next(parts)
    counts = counts.copy()
    for part in parts:
        counts += part.counts
        mass = mass + part.mass
        likelihood, change = likelihood + part.likelihood, max(change, part.change)
    return Expected(likelihood, change, counts, mass)


def rounded(sums: Expected) -> Expected:
    """The same with rounded counts and mass."""
    return sums._replace(counts=_rounded(sums.counts), mass=_rounded(sums.mass))


def _rounded(sums: np.ndarray) -> np.ndarray:
    """Sums to 40 bits, in place, none negative: what is left does not depend on the order of rows.

    Where values tie, an iteration doubles the last bit of a sum until it decides.
    """
    bits = sums.view(np.int64)
    bits += 1 << 12
    bits &= -1 << 13
    return sums
