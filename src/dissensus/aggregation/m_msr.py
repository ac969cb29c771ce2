"""M-MSR: how reliable annotators are, from how often each two agree, without the extremes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives
from dissensus.annotations import Annotations
from dissensus.errors import DataError

TINY = 1e-6  # the smallest reliability within an iteration
MOST_ANNOTATORS = 20_000  # whose agreement is a matrix


@dataclass(eq=False)
class MatrixMeanSubsequenceReduced(Aggregator):
    """Votes weigh by reliabilities whose products are the agreements of pairs of annotators.

    Agreement of two annotators beyond chance is the product of their reliabilities. They are found
    by alternating means, each without its largest and smallest terms, so that a few annotators
    with odd answers do not matter. `accuracy_` is how often an annotator is right,
    (n_annotators,), nan without answers. If no two annotators share an item, all votes count alike.

    Reference: Ma & Olshevsky (2020), Adversarial crowdsourcing through robust rank-one matrix
    completion, NeurIPS 33.
    """

    iterations: int = 10_000
    tolerance: float = 1e-10
    name: ClassVar[str] = "m-msr"
    gives: ClassVar[Gives] = "probability"
    accuracy_: np.ndarray = field(init=False, repr=False)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        n_values = max(annotations.scale.n_columns, 2)
        codes = annotations.annotator_codes(self.name)
        answering, annotator = np.unique(codes, return_inverse=True)
        if len(answering) > MOST_ANNOTATORS:
            raise DataError(
                f"{self.name} compares all pairs of annotators; {len(answering):,} are more than "
                f"{MOST_ANNOTATORS:,}: use one-coin"
            )
        common, equal = _pairs(annotations, annotator.reshape(-1), len(answering))
        shared = common > 0
        share = np.divide(equal, common, out=np.zeros_like(equal), where=shared)
        beyond = np.where(shared, (share * n_values - 1) / (n_values - 1), 0.0)
        n_items = int(np.count_nonzero(annotations.per_item()))
        reliability = self._reliability(beyond, shared, n_items) * _signs(beyond)
        edge = 1 / np.sqrt(n_items)
        high = max(1 - edge, 0.0)
        low = min(-1 / (n_values - 1) + edge, high)
        right = reliability.clip(low, high) * (n_values - 1) / n_values + 1 / n_values
        right = right.clip(1e-9, 1 - 1e-9)
        self.accuracy_ = np.full(annotations.n_annotators, np.nan)
        self.accuracy_[answering] = right
        weight = np.log(right * (n_values - 1) / (1 - right))
        return _posterior(annotations, weight[annotator.reshape(-1)])

    def _reliability(self, beyond: np.ndarray, shared: np.ndarray, n_items: int) -> np.ndarray:
        """The absolute reliabilities, (n_annotators,); 1 where no item is shared."""
        n = len(beyond)
        if not shared.any():
            return np.ones(n)
        cut = int(shared.sum(axis=0).min()) // 2 - 1
        strength = np.abs(beyond)
        neighbours = [np.flatnonzero(row) for row in shared]
        first, second = np.ones(n), np.ones(n)
        for _ in range(self.iterations):
            earlier = np.outer(first, second) if n <= 2000 else first * second
            for target, source in ((second, first), (first, second)):
                for k, others in enumerate(neighbours):
                    if len(others):
                        terms = strength[others, k] / source[others]
                        target[k] = _trimmed_mean(terms, cut, target[k], n_items)
            change = (np.outer(first, second) if n <= 2000 else first * second) - earlier
            scale = np.sqrt(np.linalg.norm(first) / np.linalg.norm(second))
            first = (first / scale).clip(TINY, 1 / TINY)  # products stay the same
            second = (second * scale).clip(TINY, 1 / TINY)
            if np.linalg.norm(change) < self.tolerance:
                break
        return first


def _trimmed_mean(terms: np.ndarray, cut: int, current: float, n_items: int) -> float:
    """The mean without the `cut` smallest terms below the current value and largest above it."""
    terms = np.sort(terms)
    cut = max(cut, 0)
    below, above = int((terms < current).sum()), int((terms > current).sum())
    kept = terms[min(below, cut) : len(terms) - min(above, cut)]
    mean = float(kept.mean()) if len(kept) else current
    return mean if mean > 0 else 1 / np.sqrt(n_items)


def _signs(beyond: np.ndarray) -> np.ndarray:
    """1 for annotators who agree with most others, -1 for those who contradict them."""
    values, vectors = np.linalg.eigh(np.sign(beyond))
    sign = np.sign(np.round(vectors[:, np.argmax(values)], 9))
    return sign if sign.sum() >= 0 else -sign


def _pairs(
    annotations: Annotations, annotator: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """How many items two annotators share, and how many they answer alike, (n, n) each."""
    from scipy.sparse import csr_array

    width = annotations.scale.n_columns
    column = annotations.item.astype(np.int64) * width + annotations.answer
    answers = csr_array(
        (np.ones(len(column)), (annotator, column)), (n, annotations.n_items * width)
    )
    items = csr_array(
        (np.ones(len(column)), (annotator, annotations.item)), (n, annotations.n_items)
    )
    answers.data[:], items.data[:] = 1, 1
    common, equal = (items @ items.T).toarray(), (answers @ answers.T).toarray()
    np.fill_diagonal(common, 0)
    np.fill_diagonal(equal, 0)
    return common, equal


def _posterior(annotations: Annotations, weight: np.ndarray) -> np.ndarray:
    """The probability of each value if each vote has this log-odds of being right."""
    width = annotations.scale.n_columns
    at = annotations.item.astype(np.int64) * width + annotations.answer
    scores = np.bincount(at, weight, annotations.n_items * width).reshape(-1, width)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    scores[annotations.per_item() == 0] = np.nan
    return scores / scores.sum(axis=1, keepdims=True)
