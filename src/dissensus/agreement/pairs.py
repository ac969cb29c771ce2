"""Pairs of annotators: their answers to the items that both answered."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.agreement.measure import ratio
from dissensus.annotations import Annotations
from dissensus.errors import DataError

FEW = 2_000_000  # pairs of rows below which a second thread costs more than it gains
DENSE = 1 << 18  # entries below which a plain table is quicker than a sparse one, or than kernels
MOST_BYTES = 4 << 30  # of a matrix over pairs of annotators


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows sorted by item and, within an item, by annotator."""

    order: np.ndarray  # (n_rows,) rows of the annotations
    item: np.ndarray  # (n_rows,)
    annotator: np.ndarray  # (n_rows,)
    end: np.ndarray  # (n_rows,) where the rows of the same item end
    begin: np.ndarray  # (n_annotators + 1,) where each annotator's rows begin in `mine`
    mine: np.ndarray  # (n_rows,) rows of here, one annotator after another
    n_items: int
    n_pairs: int  # of rows about the same item
    repeats: bool

    @classmethod
    def of(cls, annotations: Annotations, purpose: str) -> Pairs:
        """Sort the rows, by counting."""
        from dissensus.agreement.kernels import grouped

        codes = annotations.annotator_codes(purpose)
        _, by_annotator = grouped(codes, annotations.n_annotators)
        first, by_item = grouped(annotations.item[by_annotator], annotations.n_items)
        order = by_annotator[by_item]
        item, annotator = annotations.item[order], codes[order].astype(np.uint32)
        begin, mine = grouped(annotator, annotations.n_annotators)
        size = np.diff(first)
        n_pairs = int((size * (size - 1)).sum()) // 2
        repeats = annotations.repeats
        end = first[1:][item]
        return cls(order, item, annotator, end, begin, mine, len(size), n_pairs, repeats)

    @property
    def n_annotators(self) -> int:
        return len(self.begin) - 1

    @property
    def rows(self) -> tuple[np.ndarray, ...]:
        """What every kernel reads."""
        return self.begin, self.mine, self.end, self.item, self.annotator

    def kappas(
        self, answer: np.ndarray, disagreement: np.ndarray, pooled: bool = False
    ) -> PairMeasure:
        """Kappa of each pair, for codes `answer` (n_rows,) in the order of the annotations."""
        from dissensus.agreement import kernels

        code = answer[self.order].astype(np.uint32)
        plain = bool((disagreement == 1.0 - np.eye(len(disagreement))).all())
        n_values = len(disagreement)
        least = disagreement[disagreement > 0].min(initial=np.inf) / 4  # counts are whole numbers

        def by_rows(step: int, matrix: np.ndarray, sums: np.ndarray, without: np.ndarray) -> None:
            settings = (*self.rows, code, disagreement, least, pooled, matrix, sums)
            kernel: Any = kernels.kappa_by_rows
            each_annotator(step, lambda first: kernel(first, step, *settings, without[first]))

        words = self.n_annotators**2 / 2 * (3 if plain else n_values + 2) * n_values
        if self.repeats or words * (self.n_items / 64 + 1) > 4 * self.n_pairs:
            return PairMeasure(self, by_rows)
        chose, answered = self._marked(code, n_values)

        def by_bits(step: int, matrix: np.ndarray, sums: np.ndarray) -> None:
            settings = (chose, answered, disagreement, plain, pooled, matrix, sums)
            each_annotator(step, lambda first: kernels.kappa_by_bits(first, step, *settings))

        return PairMeasure(self, by_rows, by_bits)

    def likeness(self, number: np.ndarray, concordance: bool) -> PairMeasure:
        """Correlation or concordance of each pair, for `number` (n_rows,) likewise."""
        from dissensus.agreement import kernels

        sorted_number = number[self.order].astype(float)
        largest = np.zeros(self.n_annotators)
        np.maximum.at(largest, self.annotator, np.abs(sorted_number))
        least = (1e-13 * largest) ** 2

        def by_rows(step: int, matrix: np.ndarray, sums: np.ndarray, without: np.ndarray) -> None:
            settings = (*self.rows, sorted_number, least, concordance, matrix, sums)
            kernel: Any = kernels.likeness_by_rows
            each_annotator(step, lambda first: kernel(first, step, *settings, without[first]))

        return PairMeasure(self, by_rows)

    def _marked(self, code: np.ndarray, n_values: int) -> tuple[np.ndarray, np.ndarray]:
        from dissensus.agreement.kernels import mark

        n_words = self.n_items // 64 + 1
        chose = np.zeros((self.n_annotators, n_values, n_words), np.uint64)
        answered = np.zeros((self.n_annotators, n_words), np.uint64)
        mark(self.item, self.annotator, code, chose, answered)
        return chose, answered


@dataclass(frozen=True, eq=False)
class PairMeasure:
    """A value for each pair of annotators: as a matrix, or its mean over pairs (an `Estimate`)."""

    pairs: Pairs
    by_rows: Callable[[int, np.ndarray, np.ndarray, np.ndarray], None]
    by_bits: Callable[[int, np.ndarray, np.ndarray], None] | None = (
        None  # if items are not left out
    )

    def matrix(self) -> np.ndarray:
        """The value of each pair, (n_annotators, n_annotators); 1 on the diagonal."""
        n = self.pairs.n_annotators
        check_size((n, n), f"a matrix over the pairs of {n:,} annotators")
        values = np.full((n, n), np.nan)
        self._run(values)
        np.fill_diagonal(values, 1.0)
        return values

    def value(self) -> float:
        """The mean over the pairs that have a value."""
        sums = self._run(np.empty((0, 0)))
        return float(ratio(sums[:1], sums[1:])[0])

    def without_each(self) -> np.ndarray:
        """The same without each item, (n_items,)."""
        threads, sums = self._threads(), np.zeros((self.pairs.n_annotators, 2))
        changes = np.zeros((threads, self.pairs.n_items, 2))
        self.by_rows(threads, np.empty((0, 0)), sums, changes)
        total, defined = (sums.sum(axis=0) + changes.sum(axis=0)).T
        return ratio(total, defined)

    def _threads(self) -> int:
        return 1 if self.pairs.n_pairs < FEW else n_threads()

    def _run(self, matrix: np.ndarray) -> np.ndarray:
        """Fill the matrix, if it has room; the sum of all values, and how many there are."""
        threads, sums = self._threads(), np.zeros((self.pairs.n_annotators, 2))
        if self.by_bits is not None:
            self.by_bits(threads, matrix, sums)
        else:
            self.by_rows(threads, matrix, sums, np.empty((threads, 0, 2)))
        return np.asarray(sums.sum(axis=0))


def common_items(annotations: Annotations) -> np.ndarray:
    """How many items two annotators share, (n_annotators, n_annotators); own ones, the diagonal.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> common_items(Annotations.from_rows(rows)).tolist()
        [[2, 1], [1, 1]]
    """
    annotator, n = annotations.annotator_codes("counting common items"), annotations.n_annotators
    check_size((n, n), f"a matrix over the pairs of {n:,} annotators")
    if n * annotations.n_items <= DENSE:
        answered = np.zeros((n, annotations.n_items))
        answered[annotator, annotations.item] = 1
        return (answered @ answered.T).astype(np.int64)
    from scipy.sparse import csr_array

    shape = (n, annotations.n_items)
    answered = csr_array((np.ones(len(annotator)), (annotator, annotations.item)), shape)
    answered.data[:] = 1  # however often an annotator answered an item
    return np.asarray((answered @ answered.T).toarray(), dtype=np.int64)


def check_size(shape: tuple[int, ...], what: str) -> None:
    """Refuse what would fill the memory, before it does."""
    size = 8 * int(np.prod(shape, dtype=float))
    if size > MOST_BYTES:
        raise DataError(
            f"{what} takes {size / 2**30:,.0f} GiB, more than {MOST_BYTES >> 30}; "
            "select fewer annotators"
        )


def n_threads() -> int:
    """The cores that this process may use, at most 8."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(allowed or 1, 8))


def each_annotator(step: int, work: Callable[[int], Any]) -> None:
    """Call work(0), ..., work(step - 1) side by side."""
    if step == 1:
        work(0)
        return
    with ThreadPoolExecutor(step) as pool:
        list(pool.map(work, range(step)))
