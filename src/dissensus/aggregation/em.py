"""Expectation-maximisation over hidden true values, shared by the models of annotators."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives, gold_codes
from dissensus.annotations import Annotations
from dissensus.conversion import annotations_of
from dissensus.names import Names, code_type
from dissensus.progress import progress

FEW = 50_000  # answers below which a second thread costs more than it gains
TINY = 1e-10  # the smallest probability: what never happened may still happen


class Expected(NamedTuple):
    """The sums of a pass over the answers."""

    likelihood: float  # of all answers, its logarithm
    change: float  # the largest of any posterior
    counts: np.ndarray  # (n_cells, width)
    mass: np.ndarray  # (n_values,) the posteriors' sum over items


class ItemAnswers:
    """Answers sorted by item, with the posterior of each item.

    An answer is a cell: the code of its annotator times n_values plus its own.

    Args:
        known: the code of each item's known label, -1 where there is none, (n_items,).
    """

    def __init__(self, annotations: Annotations, purpose: str, known: np.ndarray) -> None:
        from dissensus.aggregation.kernels import sort_by_item

        annotator = annotations.annotator_codes(purpose)
        self.n_values, self.n_annotators = annotations.scale.n_columns, annotations.n_annotators
        self.n_items, self.n_cells = annotations.n_items, self.n_values * self.n_annotators
        self.known = known
        # where each item's answers begin, (n_items + 1,)
        self.offsets = np.zeros(self.n_items + 1, np.int64)
        np.cumsum(annotations.per_item(), out=self.offsets[1:])
        kind: Any = np.int32 if self.n_cells < 1 << 31 else np.int64
        if annotations.answer.itemsize < 4:  # very many answers
            kind = code_type(self.n_cells)
        self.cell: np.ndarray = np.empty(annotations.n_rows, kind)
        columns = annotations.item, annotator, annotations.answer
        sort_by_item(*columns, self.n_values, self.offsets, self.cell)
        threads = 1 if len(self.cell) < FEW else min(os.cpu_count() or 1, 8)
        cuts = np.searchsorted(self.offsets, np.linspace(0, len(self.cell), threads + 1)[1:-1])
        self.bounds = (0, *(int(c) for c in cuts), self.n_items)  # of each thread's items
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.posterior = np.empty((self.n_items, self.n_values))  # nan for items without answers
        self._tables: dict[tuple[int, int], np.ndarray] = {}  # of a thread, for every pass

    def each(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Call `work(first item, last item)` for every thread's share, side by side."""
        call = map if self.pool is None else self.pool.map
        return list(call(work, self.bounds[:-1], self.bounds[1:]))

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
        from dissensus.aggregation import kernels

        function, width = getattr(kernels, kernel), parameters.shape[1]

        def work(first: int, last: int) -> Expected:
            if (first, width) not in self._tables:
                self._tables[first, width] = _aligned(self.n_cells, 2 * width)
            table, mass = self._tables[first, width], np.zeros(self.n_values)
            table[:, :width], table[:, width:] = parameters, 0
            arrays = self.offsets, self.cell, table, prior, self.known, self.posterior, mass, watch
            likelihood, change = function(first, last, *arrays)
            return Expected(likelihood, change, table[:, width:], mass)

        likelihoods, changes, counts, masses = zip(*self.each(work), strict=True)
        total, *others = counts
        total = total.copy()
        for part in others:
            total += part
        return Expected(sum(likelihoods), max(changes), _rounded(total), _rounded(sum(masses)))

    def close(self) -> None:
        """Give back the threads."""
        if self.pool is not None:
            self.pool.shutdown()


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
    annotators_: Names = field(init=False, repr=False)
    log_likelihood_: list[float] = field(init=False, repr=False)  # after each iteration
    n_iterations_: int = field(init=False, repr=False)
    prior_: np.ndarray = field(init=False, repr=False)  # (n_values,)
    _known: np.ndarray = field(init=False, repr=False)

    # ---- what a model writes ----

    @abstractmethod
    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        """The first parameters, from the shares of votes of each cell."""

    @abstractmethod
    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        """New posteriors and parameters, in place; log-likelihood and largest change."""

    @property
    def _watch(self) -> bool:
        return self.tolerance > 0

    # ---- the algorithm ----

    def fit(self, annotations: Any, gold: Annotations | None = None) -> Self:
        """Aggregate the answers to one question.

        Args:
            annotations: `Annotations`, a corpus with one question, or a pandas, polars or Arrow
                table that `dissensus.read` can read.
            gold: labels that are known for some items (by name); they stay as they are, and
                teach how each annotator answers.
        """
        annotations = annotations_of(annotations)
        if self._is_by_value(annotations):
            self._check(annotations)
            return self._fit_values(annotations, gold)
        self._known = gold_codes(annotations, gold)
        return super().fit(annotations)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self.annotators_ = annotations.annotators
        with closing(ItemAnswers(annotations, self.name, self._known)) as answers:
            self._learn(answers)
            return answers.posterior

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


def shares(mass: np.ndarray) -> np.ndarray:
    """Masses as shares; a value without mass has none, and no answer can give it any."""
    return mass / mass.sum()


def alike(mass: np.ndarray) -> np.ndarray:
    """The same share for every value that has mass."""
    return shares((mass > 0).astype(float))
