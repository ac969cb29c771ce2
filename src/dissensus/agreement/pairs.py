"""Pairs of annotators: their answers to the items that both answered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.agreement.estimates import (
    BLOCK,
    Totals,
    pairs_within,
    ratio,
)
from dissensus.agreement.weights import Weights, disagreement
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

        code, n_values = answer[self.order].astype(np.uint32), len(disagreement)
        least = disagreement[disagreement > 0].min(initial=np.inf) / 4  # counts are whole numbers
        settings = code, disagreement, least, pooled
        plain = bool((disagreement == 1.0 - np.eye(n_values)).all())
        words = self.n_annotators**2 / 2 * (3 if plain else n_values + 2) * n_values
        if self.repeats or words * (self.n_items / 64 + 1) > 4 * self.n_pairs:
            return PairMeasure(self, kernels.kappa_by_rows, settings)
        n_words = self.n_items // 64 + 1
        chose = np.zeros((self.n_annotators, n_values, n_words), np.uint64)
        answered = np.zeros((self.n_annotators, n_words), np.uint64)
        kernels.mark(self.item, self.annotator, code, chose, answered)
        bits = chose, answered, disagreement, plain, pooled
        return PairMeasure(self, kernels.kappa_by_rows, settings, bits)

    def correlations(self, number: np.ndarray, concordance: bool) -> PairMeasure:
        """Correlation or concordance of each pair, for `number` (n_rows,) likewise."""
        from dissensus.agreement import kernels

        sorted_number = number[self.order].astype(float)
        largest = np.zeros(self.n_annotators)
        np.maximum.at(largest, self.annotator, np.abs(sorted_number))
        settings = sorted_number, (1e-13 * largest) ** 2, concordance
        return PairMeasure(self, kernels.correlation_by_rows, settings)

    def rank_correlations(self, number: np.ndarray, kendall: bool) -> PairMeasure:
        """Spearman's or Kendall's correlation of each pair, for `number` (n_rows,) likewise."""
        from dissensus.agreement import kernels

        settings = number[self.order].astype(float), kendall
        return PairMeasure(self, kernels.rank_by_rows, settings)


@dataclass(frozen=True, eq=False)
class PairMeasure:
    """A value for each pair of annotators: as a matrix, or its mean over pairs (an `Estimate`)."""

    pairs: Pairs
    kernel: Any
    settings: tuple[Any, ...]  # of the kernel
    bits: tuple[Any, ...] | None = None  # settings of `kappa_by_bits`, if items are not left out

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
        sums, _ = self._run(np.empty((0, 0)))
        return float(ratio(sums[:1], sums[1:])[0])

    def without_each(self) -> np.ndarray:
        """The same without each item, (n_items,)."""
        sums, changes = self._run(np.empty((0, 0)), leave_out=True)
        return ratio(*(sums + changes).T)

    def _run(self, matrix: np.ndarray, leave_out: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Fill the matrix, if it has room; the sum of all values and how many there are, (2,); and
        how much these change without each item, (n_items, 2)."""
        from dissensus.agreement import kernels

        by_bits: Any = kernels.kappa_by_bits
        step = 1 if self.pairs.n_pairs < FEW else n_threads()
        sums = np.zeros((self.pairs.n_annotators, 2))
        changes = np.zeros((step, self.pairs.n_items if leave_out else 0, 2))
        settings = (*self.pairs.rows, *self.settings, matrix, sums)

        def work(first: int) -> None:
            if self.bits is None or leave_out:
                self.kernel(first, step, *settings, changes[first])
            else:
                by_bits(first, step, *self.bits, matrix, sums)

        if step == 1:
            work(0)
        else:
            with ThreadPoolExecutor(step) as pool:
                list(pool.map(work, range(step)))
        return sums.sum(axis=0), changes.sum(axis=0)


# ---- counts of pairs of answers, which can be added up over blocks ----


def pair_tables(annotations: Annotations) -> np.ndarray:
    """How often two annotators gave two values to one item, of a small table without repeats.

    (n_annotators, n_annotators, n_values, n_values)
    """
    n_annotators, n_values = annotations.n_annotators, annotations.scale.n_columns
    chosen = np.zeros((annotations.n_items, n_annotators, n_values))
    chosen[annotations.item, annotations.annotator_codes("Cohen's kappa"), annotations.answer] = 1
    flat = chosen.reshape(len(chosen), n_annotators * n_values)
    both = (flat.T @ flat).reshape(n_annotators, n_values, n_annotators, n_values)
    return both.transpose(0, 2, 1, 3)


def kappas_of_tables(tables: np.ndarray, apart: np.ndarray, pooled: bool = False) -> np.ndarray:
    """The kappa of each table of pairs of answers (n, n_values, n_values); nan where undefined."""
    kappas = np.empty(len(tables))
    step = max(1, BLOCK // apart.size)
    for begin in range(0, len(tables), step):
        part = tables[begin : begin + step]
        one, other = part.sum(axis=2), part.sum(axis=1)  # (n, n_values)
        if pooled:
            one = other = (one + other) / 2
        observed = (part * apart).sum(axis=(1, 2)) * part.sum(axis=(1, 2))
        expected = ((one @ apart) * other).sum(axis=1)
        kappas[begin : begin + step] = 1.0 - ratio(observed, expected)
    return kappas


def prepare_kappa_of_block(
    annotations: Annotations, weights: Weights = None, pooled: bool = False
) -> PairCounts:
    """Kappa of pairs of annotators in a block of items without repeats.

    Args:
        pooled: with one share of answers for both annotators, as Scott has it.
    """
    apart = disagreement(weights, annotations.scale, "Cohen's kappa")
    order = np.lexsort((annotations.annotator_codes("Cohen's kappa"), annotations.item))
    return PairCounts(annotations.take(order), apart, pooled)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Mean kappa over pairs of annotators (a `Summable`).

    The table of counts has (n_annotators, n_annotators, n_values, n_values) numbers.
    """

    rows: Annotations  # by item and, within an item, by annotator
    apart: np.ndarray  # (n_values, n_values) how far apart two values are
    pooled: bool

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        """How often two annotators gave two values to one item, the first annotator first."""
        both = np.zeros(self.rows.n_annotators**2 * self.apart.size)
        for a, key in self._keys(BLOCK):
            times = None if weights is None else weights[self.rows.item[a]]
            both += np.bincount(key, times, minlength=len(both))
        return [both.reshape(-1, *self.apart.shape)]

    def value(self, totals: Totals | None = None) -> float:
        kappas = self._kappas((self.totals() if totals is None else totals)[0])
        n_defined = np.array(np.count_nonzero(~np.isnan(kappas)))
        return float(ratio(np.nansum(kappas), n_defined))

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        (both,) = self.totals() if totals is None else totals
        kappas, n_items = self._kappas(both), self.rows.n_items
        change, n_more = np.zeros(n_items), np.zeros(n_items)
        for a, key in self._keys(BLOCK // self.apart.size):
            key, place = np.unique(key, return_inverse=True)  # few kinds are left out of a pair
            pair, cell = np.divmod(key, self.apart.size)
            without = both[pair]
            without.reshape(len(key), -1)[np.arange(len(key)), cell] -= 1
            place, new, old = place.reshape(-1), self._kappas(without), kappas[pair]
            moved = (np.nan_to_num(new) - np.nan_to_num(old))[place]
            change += np.bincount(self.rows.item[a], moved, minlength=n_items)
            defined = ((~np.isnan(new)).astype(float) - ~np.isnan(old))[place]
            n_more += np.bincount(self.rows.item[a], defined, minlength=n_items)
        return ratio(np.nansum(kappas) + change, np.count_nonzero(~np.isnan(kappas)) + n_more)

    def _keys(self, at_once: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The first row of each two about an item, and a number for their annotators and values."""
        annotator = self.rows.annotator_codes("Cohen's kappa").astype(np.int64)
        answer, n_values = self.rows.answer, len(self.apart)
        for a, b in pairs_within(self.rows.item, at_once):
            pair = annotator[a] * self.rows.n_annotators + annotator[b]
            yield a, (pair * n_values + answer[a]) * n_values + answer[b]

    def _kappas(self, both: np.ndarray) -> np.ndarray:
        return kappas_of_tables(both, self.apart, self.pooled)


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
