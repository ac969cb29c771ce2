"""The answers to a question laid out item by item, for passes over them on every core.

All models of annotators count the same way: each item needs its own answers and what is known of
annotators, and what is learned of annotators are sums over items. So the answers may be in memory,
in a file, or on the workers of a cluster, each of which has those to some of the items.
"""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

import numpy as np

from dissensus.annotations import AnnotationBlocks, Annotations, SplitAnnotations, packed
from dissensus.cluster import SentBlock, results, sent, sent_blocks
from dissensus.files.staging import write_errors

FEW = 50_000  # answers below which a second thread costs more than it gains


class Expected(NamedTuple):
    """The sums of a pass over the answers."""

    likelihood: float  # of all answers, its logarithm
    change: float  # the largest of any posterior
    counts: np.ndarray  # (n_cells, width)
    mass: np.ndarray  # (n_values,) the posteriors' sum over items


@dataclass(eq=False)
class ItemAnswers(ABC):
    """Answers with the posterior of each item, wherever they are.

    An answer is a cell: the code of its annotator times n_values plus its own.
    """

    n_values: int
    n_annotators: int

    @property
    def n_cells(self) -> int:
        return self.n_annotators * self.n_values

    def voted(self) -> Expected:
        """Take the shares of votes (or the known values) as posteriors, and count them."""
        nothing = np.zeros((self.n_cells, self.n_values))
        return self.expected("vote", nothing, np.zeros(self.n_values), False)

    def expected(
        self, kernel: str, parameters: np.ndarray, prior: np.ndarray | tuple[Any, ...], watch: bool
    ) -> Expected:
        """Run a kernel of `kernels.py` with these parameters (n_cells, width) of the cells.

        Args:
            watch: whether the largest change of a posterior is wanted.
        """
        sums = added_up(self.partial_sums(kernel, parameters, prior, watch))
        return sums._replace(counts=_rounded(sums.counts), mass=_rounded(sums.mass))

    @abstractmethod
    def partial_sums(
        self, kernel: str, parameters: np.ndarray, prior: Any, watch: bool
    ) -> Iterable[Expected]:
        """The sums of each thread's or worker's part of the items."""

    @abstractmethod
    def keep(self) -> None:
        """Keep the posteriors as the best so far."""

    @abstractmethod
    def restore(self) -> None:
        """Take back the posteriors that were kept."""

    @abstractmethod
    def distribution(self) -> np.ndarray:
        """The posteriors, (n_items, n_values); nan for items without answers."""

    @abstractmethod
    def close(self) -> None:
        """Give back threads and files."""


def item_answers(
    annotations: Annotations | AnnotationBlocks,
    purpose: str,
    known: np.ndarray,
    cluster: Any | None = None,
) -> ItemAnswers:
    """Annotations in memory, blocks in a file, or both on the workers of a cluster.

    Args:
        known: the code of each item's known label, -1 where there is none, (n_items,).
        cluster: a Dask client.
    """
    if cluster is not None:
        return ClusterAnswers.of(annotations, purpose, known, cluster)
    if isinstance(annotations, AnnotationBlocks):
        return LocalAnswers.of_blocks(annotations, purpose, known)
    return LocalAnswers.of(annotations, purpose, known)


@dataclass(eq=False)
class LocalAnswers(ItemAnswers):
    """Answers sorted by item, in memory or in a file that is mapped into it."""

    offsets: np.ndarray  # (n_items + 1,) where each item's answers begin
    cell: np.ndarray  # (n_rows,)
    known: np.ndarray  # (n_items,) the code of a known label, -1 where there is none
    threads: int = 0  # 0: as many as are useful
    file: IO[bytes] | None = None  # of the cells
    posterior: np.ndarray = field(init=False)  # (n_items, n_values)
    bounds: tuple[int, ...] = field(init=False)  # items between which the threads share the work
    pool: ThreadPoolExecutor | None = field(init=False, default=None)
    counts: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)  # for every pass
    best: np.ndarray | None = None  # the posterior that `keep` copied

    @classmethod
    def of(
        cls, annotations: Annotations, purpose: str, known: np.ndarray, threads: int = 0
    ) -> LocalAnswers:
        """Sort the answers by item, in one pass over them."""
        from dissensus.aggregation.kernels import sort_by_item

        item, annotator = annotations.item, annotations.annotator_codes(purpose)
        n_values, n_annotators = annotations.scale.n_columns, annotations.n_annotators
        offsets = np.r_[0, np.cumsum(np.bincount(item, minlength=annotations.n_items))]
        cell: np.ndarray = np.empty(len(item), _cell_type(n_annotators * n_values))
        sort_by_item(item, annotator, annotations.answer, n_values, offsets, cell)
        return cls(n_values, n_annotators, offsets, cell, known, threads)

    @classmethod
    def of_blocks(cls, blocks: AnnotationBlocks, purpose: str, known: np.ndarray) -> LocalAnswers:
        """Write the cells of one block after another to a temporary file, 4 bytes each.

        What stays in memory are the posteriors, where each item's answers begin, and what is known
        of annotators. The file has no name: nothing is left of it if the process is killed.
        """
        n_values, n_annotators = blocks.scale.n_columns, blocks.n_annotators
        kind = _cell_type(n_annotators * n_values)
        offsets = np.zeros(blocks.n_items + 1, dtype=np.int64)
        with write_errors(tempfile.gettempdir()):
            file = tempfile.TemporaryFile(prefix="dissensus-")
        try:
            for items, block in blocks:
                part = cls.of(block, purpose, known[items], threads=1)
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
        return cls(n_values, n_annotators, offsets, cell, known, file=file)

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

    def each(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Call `work(first item, last item)` for every thread's share, side by side."""
        call = map if self.pool is None else self.pool.map
        return list(call(work, self.bounds[:-1], self.bounds[1:]))

    def partial_sums(
        self, kernel: str, parameters: np.ndarray, prior: Any, watch: bool
    ) -> list[Expected]:
        from dissensus.aggregation import kernels

        function, width = getattr(kernels, kernel), parameters.shape[1]

        def work(first: int, last: int) -> Expected:
            if (first, width) not in self.counts:
                self.counts[first, width] = _aligned(self.n_cells, 2 * width)
            table, mass = self.counts[first, width], np.zeros(self.n_values)
            table[:, :width], table[:, width:] = parameters, 0
            arrays = self.offsets, self.cell, table, prior, self.known, self.posterior, mass, watch
            likelihood, change = function(first, last, *arrays)
            return Expected(likelihood, change, table[:, width:], mass)

        return self.each(work)

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
        if self.file is not None:
            self.cell = self.cell[:0].copy()
            self.file.close()


@dataclass(eq=False)
class ClusterAnswers(ItemAnswers):
    """Answers of which each worker of a Dask cluster has those to some of the items.

    A pass sends what is known of annotators to every worker and adds up what workers count for
    them. Answers are sent once, posteriors return once, at the end.
    """

    client: Any  # of Dask
    parts: list[SentBlock]  # a future of `LocalAnswers` each

    @classmethod
    def of(
        cls,
        annotations: Annotations | AnnotationBlocks,
        purpose: str,
        known: np.ndarray,
        client: Any,
    ) -> ClusterAnswers:
        """Send a part of the items to each worker."""
        if isinstance(annotations, Annotations):
            annotations = SplitAnnotations.of(annotations, len(client.nthreads()))
        parts = []
        for items, block, worker in sent_blocks(client, packed(annotations)):
            labels = None
            if (known[items] >= 0).any():
                labels = sent(client, known[items], worker)
            part = client.submit(_on_worker, block, labels, purpose, workers=[worker], pure=False)
            parts.append(SentBlock(items, part, worker))
        return cls(annotations.scale.n_columns, annotations.n_annotators, client, parts)

    def partial_sums(
        self, kernel: str, parameters: np.ndarray, prior: Any, watch: bool
    ) -> Iterable[Expected]:
        arguments = self.client, self.parts, _sums_on_worker, kernel, prior, watch
        return (Expected(*sums) for sums in results(*arguments, shared=parameters))

    def keep(self) -> None:
        results(self.client, self.parts, LocalAnswers.keep)

    def restore(self) -> None:
        results(self.client, self.parts, LocalAnswers.restore)

    def distribution(self) -> np.ndarray:
        return np.concatenate(results(self.client, self.parts, LocalAnswers.distribution))

    def close(self) -> None:
        self.parts.clear()


def _on_worker(block: Annotations, known: np.ndarray | None, purpose: str) -> LocalAnswers:
    known = np.full(block.n_items, -1, dtype=np.int64) if known is None else known
    return LocalAnswers.of(block, purpose, known, threads=1)


def _sums_on_worker(
    part: LocalAnswers, parameters: np.ndarray, kernel: str, prior: Any, watch: bool
) -> tuple[Any, ...]:
    return tuple(added_up(part.partial_sums(kernel, parameters, prior, watch)))


def added_up(parts: Iterable[Expected]) -> Expected:
    """The sums of all threads, or of all workers, together."""
    parts = iter(parts)
    likelihood, change, counts, mass = next(parts)
    counts = counts.copy()
    for part in parts:
        counts += part.counts
        mass = mass + part.mass
        likelihood, change = likelihood + part.likelihood, max(change, part.change)
    return Expected(likelihood, change, counts, mass)


def _rounded(sums: np.ndarray) -> np.ndarray:
    """Sums to 40 bits, in place, none negative: what is left does not depend on their order.

    Where values tie, an iteration doubles the last bit of a sum until it decides.
    """
    bits = sums.view(np.int64)
    bits += 1 << 12
    bits &= -1 << 13
    return sums


def _aligned(n_rows: int, width: int) -> np.ndarray:
    """An empty table that begins on a boundary of 128 bytes, so that rows lie in few lines."""
    raw = np.empty(n_rows * width + 16)
    begin = -(raw.ctypes.data // 8) % 16
    return raw[begin : begin + n_rows * width].reshape(n_rows, width)


def _cell_type(n_cells: int) -> type:
    """The smallest type that holds every cell."""
    return np.int32 if n_cells < 1 << 31 else np.int64
