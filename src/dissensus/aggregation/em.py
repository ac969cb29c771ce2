"""Expectation-maximisation over hidden true values, shared by the models of annotators."""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Self, TypedDict

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives, gold_codes
from dissensus.annotations import AnnotationBlocks, Annotations, SplitAnnotations, packed
from dissensus.cluster import SentBlock, results, sent, sent_blocks
from dissensus.conversion import annotations_of
from dissensus.errors import DataError, listed
from dissensus.files.folders import (
    read_json,
    read_table,
    reading,
    write_errors,
    write_json,
    write_table,
    writing,
)
from dissensus.names import Names
from dissensus.progress import progress

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


ONE_VALUE = ("nominal", "ordinal")  # kinds of scales with one value for each answer
ON = "on a cluster; dawid-skene, one-coin and mace count nominal and ordinal ones there"
TINY = 1e-10  # the smallest probability: what never happened may still happen


class _Front(TypedDict):
    """The content of aggregation.json."""

    method: str
    values: list[str]


@dataclass(eq=False)
class HiddenTruth(Aggregator):
    """A model of how annotators answer, given a true value that is not observed.

    A value of the scale that no annotator gave, and no gold label has, is never the true one: its
    probability is 0.

    Args:
        iterations: the largest number of iterations.
        tolerance: it stops when no probability changes by as much; 0 makes all iterations.
    """

    iterations: int = 100
    tolerance: float = 1e-6

    gives: ClassVar[Gives] = "probability"
    takes_gold: ClassVar[bool] = True
    state: ClassVar[str] = "counts_"  # the array that says how each annotator answers
    annotators_: Names = field(init=False, repr=False)
    values_: tuple[str, ...] = field(init=False, repr=False)
    log_likelihood_: list[float] = field(init=False, repr=False)  # after each iteration
    n_iterations_: int = field(init=False, repr=False)
    prior_: np.ndarray = field(init=False, repr=False)  # (n_values,)
    _known: np.ndarray = field(init=False, repr=False)
    _history: HiddenTruth | None = field(init=False, repr=False, default=None)
    _cluster: Any | None = field(init=False, repr=False, default=None)

    # ---- what a model writes ----

    @abstractmethod
    def _begin(self, answers: Any, voted: Expected) -> None:
        """The first parameters, from the shares of votes of each cell."""

    @abstractmethod
    def _pass(self, answers: Any) -> tuple[float, float]:
        """New posteriors and parameters, in place; log-likelihood and largest change."""

    @property
    def _watch(self) -> bool:
        return self.tolerance > 0

    @abstractmethod
    def _shape(self, n_values: int) -> tuple[int, ...]:
        """Of an annotator's part of the state."""

    # ---- the algorithm ----

    def fit(
        self,
        annotations: Any,
        gold: Annotations | None = None,
        history: HiddenTruth | None = None,
        *,
        cluster: Any | None = None,
    ) -> Self:
        """Aggregate the answers to one question.

        Args:
            annotations: `Annotations`, a corpus with one question, or a pandas, polars or Arrow
                table that `dissensus.read` can read.
            gold: labels that are known for some items (by name); they stay as they are, and
                teach how each annotator answers.
            history: the same model, fitted on earlier answers; what it counted for annotators
                of the same name is added to what is counted here.
            cluster: a Dask client whose workers count a part of the items each
                (`dissensus.cluster.connect`).
        """
        self._cluster = cluster
        if not isinstance(annotations, AnnotationBlocks):
            annotations = annotations_of(annotations)
        if cluster is not None and not (self.in_blocks and annotations.scale.kind in ONE_VALUE):
            raise DataError(f"{self.name} does not count {annotations.scale.kind} answers {ON}")
        if not isinstance(annotations, AnnotationBlocks) and self._is_by_value(annotations):
            if history is not None:
                raise DataError(f"{self.name}: a history of multi-label answers cannot be used")
            self._check(annotations)
            return self._fit_values(annotations, gold)
        self._known = gold_codes(annotations, gold)
        if history is not None and type(history) is not type(self):
            raise DataError(f"{self.name}: the history is of another model, {history.name}")
        values = getattr(annotations.scale, "values", ())
        if history is not None and history.values_ != values:
            raise DataError(
                f"{self.name}: the history is about {listed(history.values_, 20)}, the answers "
                f"about {listed(values, 20)}"
            )
        self._history = history
        return super().fit(annotations)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self.annotators_ = annotations.annotators
        self.values_ = annotations.scale.values  # type: ignore[attr-defined]
        with closing(item_answers(annotations, self.name, self._known, self._cluster)) as answers:
            self._learn(answers)
            return answers.distribution()

    def _learn(self, answers: ItemAnswers) -> None:
        voted = answers.voted()
        self.prior_ = shares(voted.mass)
        self._begin(answers, voted)
        self.log_likelihood_ = []
        with progress(self.name, self.iterations) as advance:
            for n_iterations in range(1, self.iterations + 1):
                likelihood, change = self._pass(answers)
                self.log_likelihood_.append(likelihood)
                self.n_iterations_ = n_iterations
                advance(1)
                if change < self.tolerance:
                    break

    def _from_history(self, otherwise: np.ndarray, name: str) -> np.ndarray:
        """The state of annotators of the same name in the history, or else `otherwise`.

        Args:
            otherwise: for annotators without a history, (n_annotators, ...).
        """
        values = otherwise.copy()
        if self._history is not None:
            at = self._history.annotators_.find(self.annotators_)
            earlier = getattr(self._history, name)
            values[at >= 0] = earlier[at[at >= 0]]
        return values

    # ---- a folder ----

    def save(self, path: str | Path) -> None:
        """Write what was learned of annotators as a folder; `restore` reads it back."""
        with writing(path, "aggregation") as folder:
            state = getattr(self, self.state)
            flat = state.reshape(len(state), -1)
            columns = {"annotator": self.annotators_.array, "state": list(flat)}
            write_table(folder / "annotators.parquet", columns)
            write_json(folder, "aggregation", {"method": self.name, "values": list(self.values_)})

    def restore(self, path: str | Path) -> Self:
        """Take back what `save` wrote, to serve as a history."""
        front = read_json(path, "aggregation", _Front)
        if front.get("method") != self.name:
            raise DataError(f"{path}: holds {front.get('method')!r}, not {self.name!r}")
        with reading(Path(path)):
            table = read_table(Path(path) / "annotators.parquet")
            self.annotators_ = Names(table["annotator"])
            self.values_ = tuple(front["values"])
            state = np.stack(table["state"].to_numpy())
            setattr(self, self.state, state.reshape(len(state), *self._shape(len(self.values_))))
        return self


def shares(mass: np.ndarray) -> np.ndarray:
    """Masses as shares; a value without mass has none, and no answer can give it any."""
    return mass / mass.sum()


def alike(mass: np.ndarray) -> np.ndarray:
    """The same share for every value that has mass."""
    return shares((mass > 0).astype(float))
