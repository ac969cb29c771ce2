"""Kappa of pairs of annotators from counts of pairs of answers, which can be added up over blocks.

For each pair of annotators, the table counts how often one gave a value and the other gave another
to the same item. So memory is that of (n_annotators, n_annotators, n_values, n_values) numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.agreement.measure import BLOCK, Estimate, ratio
from dissensus.agreement.row_pairs import pairs_within
from dissensus.agreement.weights import Weights, disagreement
from dissensus.annotations import Annotations


def prepare_kappa_of_block(
    annotations: Annotations, weights: Weights = None, pooled: bool = False
) -> Estimate:
    """Kappa of pairs of annotators in a block of items without repeats.

    Args:
        pooled: with one share of answers for both annotators, as Scott has it.
    """
    apart = disagreement(weights, annotations.scale, "Cohen's kappa")
    order = np.lexsort((annotations.annotator_codes("Cohen's kappa"), annotations.item))
    sorted_rows = annotations.take(order)
    annotator = sorted_rows.annotator_codes("Cohen's kappa")
    sizes = annotations.n_items, annotations.n_annotators
    return PairCounts(sorted_rows.item, annotator, sorted_rows.answer, *sizes, apart, pooled)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Mean kappa over pairs of annotators (a `Summable`)."""

    item: np.ndarray  # (n_rows,) rising
    annotator: np.ndarray  # (n_rows,) rising within an item
    answer: np.ndarray  # (n_rows,)
    n_items: int
    n_annotators: int
    apart: np.ndarray  # (n_values, n_values) how far apart two values are
    pooled: bool

    def totals(self, weights: np.ndarray | None = None) -> list[np.ndarray]:
        """How often two annotators gave two values to one item, the first annotator first."""
        n_values = len(self.apart)
        both = np.zeros((self.n_annotators**2, n_values, n_values))
        for a, b in pairs_within(self.item):
            times = 1.0 if weights is None else weights[self.item[a]]
            np.add.at(both, (self._pair(a, b), self.answer[a], self.answer[b]), times)
        return [both]

    def value(self, totals: list[np.ndarray] | None = None) -> float:
        (both,) = self.totals() if totals is None else totals
        kappas = self._kappas(both)
        n_defined = np.array(np.count_nonzero(~np.isnan(kappas)))
        return float(ratio(np.nansum(kappas), n_defined))

    def without_each(self, totals: list[np.ndarray] | None = None) -> np.ndarray:
        (both,) = self.totals() if totals is None else totals
        kappas, n_values = self._kappas(both), len(self.apart)
        change, n_more = np.zeros(self.n_items), np.zeros(self.n_items)
        for a, b in pairs_within(self.item, BLOCK // self.apart.size):
            pair = self._pair(a, b)
            key, place = np.unique(
                (pair * n_values + self.answer[a]) * n_values + self.answer[b], return_inverse=True
            )  # what is left out of the counts of a pair: of few kinds
            left, first, second = key // n_values**2, key // n_values % n_values, key % n_values
            without = both[left]
            without[np.arange(len(key)), first, second] -= 1
            new, old = self._kappas(without)[place.reshape(-1)], kappas[pair]
            moved = np.nan_to_num(new) - np.nan_to_num(old)
            change += np.bincount(self.item[a], moved, minlength=self.n_items)
            defined = (~np.isnan(new)).astype(float) - ~np.isnan(old)
            n_more += np.bincount(self.item[a], defined, minlength=self.n_items)
        defined = np.count_nonzero(~np.isnan(kappas)) + n_more
        return ratio(np.nansum(kappas) + change, defined)

    def _pair(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A number for the annotators of two rows."""
        return np.asarray(
            self.annotator[a].astype(np.int64) * self.n_annotators + self.annotator[b]
        )

    def _kappas(self, both: np.ndarray) -> np.ndarray:
        """The kappa of each table (n, n_values, n_values); nan where it is undefined."""
        kappas = np.empty(len(both))
        step = max(1, BLOCK // self.apart.size)
        for begin in range(0, len(both), step):
            part = both[begin : begin + step]
            one, other = part.sum(axis=2), part.sum(axis=1)  # (n, n_values)
            if self.pooled:
                one = other = (one + other) / 2
            observed = (part * self.apart).sum(axis=(1, 2)) * part.sum(axis=(1, 2))
            expected = ((one @ self.apart) * other).sum(axis=1)
            kappas[begin : begin + step] = 1.0 - ratio(observed, expected)
        return kappas
