"""Aggregates of votes that need no annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives
from dissensus.annotations import Annotations, Ties


@dataclass(eq=False)
class Majority(Aggregator):
    """The most frequent answer; the distribution is the share of each value, as of `SoftVote`.

    Args:
        ties: which of the values that tie is the consensus: the first or last of the scale, one
            at random, or none ("drop": the item has no consensus).
    """

    ties: Ties = "first"
    seed: int = 0
    name: ClassVar[str] = "majority"
    in_blocks: ClassVar[bool] = True
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        return annotations.majority(self.ties, self.seed)


@dataclass(eq=False)
class SoftVote(Aggregator):
    """The share of each value among an item's answers."""

    name: ClassVar[str] = "soft-vote"
    in_blocks: ClassVar[bool] = True
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal", "interval", "multi-label")
    reads_sets: ClassVar[bool] = True
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()


@dataclass(eq=False)
class SoftmaxVote(Aggregator):
    """The softmax of the numbers of votes: few votes leave it flat, many make it sharp.

    Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), doi
    10.18653/v1/2021.naacl-main.204.
    """

    name: ClassVar[str] = "softmax-vote"
    needs_annotators: ClassVar[bool] = False
    gives: ClassVar[Gives] = "probability"

    def _fit(self, annotations: Annotations) -> np.ndarray:
        counts = annotations.counts()
        weights = np.exp(counts - counts.max(axis=1, keepdims=True))
        weights[counts.sum(axis=1) == 0] = np.nan
        return weights / weights.sum(axis=1, keepdims=True)


def weighted_vote(annotations: Annotations, weight: np.ndarray) -> np.ndarray:
    """Shares of votes that count as much as their annotators' weight, (n_items, n_values).

    If all weights of an item are 0, all annotators count alike.
    """
    width = annotations.scale.n_columns
    at = annotations.item.astype(np.int64) * width + annotations.answer
    row_weights = annotations.votes * weight[annotations.annotator_codes("weighing votes")]
    counts = np.bincount(at, row_weights, annotations.n_items * width).reshape(-1, width)
    total = counts.sum(axis=1, keepdims=True)
    plain = annotations.distribution()
    return np.where(total > 0, counts / np.where(total > 0, total, 1), plain)
