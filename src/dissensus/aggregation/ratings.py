"""Aggregates of ratings: the mean and the median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, labelled
from dissensus.annotations import Annotations
from dissensus.scales import Interval


@dataclass(eq=False)
class Mean(Aggregator):
    """The mean rating; the distribution is that of the ratings, on the grid."""

    name: ClassVar[str] = "mean"
    scales: ClassVar[tuple[str, ...]] = ("interval",)
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        return annotations.consensus()


@dataclass(eq=False)
class Median(Aggregator):
    """The median rating (the mean of the two middle ones); of levels, the lower median."""

    name: ClassVar[str] = "median"
    scales: ClassVar[tuple[str, ...]] = ("ordinal", "interval")
    needs_annotators: ClassVar[bool] = False

    def _fit(self, annotations: Annotations) -> np.ndarray:
        return annotations.distribution()

    def _labels(self, annotations: Annotations) -> Annotations:
        if not isinstance(annotations.scale, Interval):
            return annotations.consensus()
        order = np.lexsort((annotations.answer, annotations.item))
        item, answer = annotations.item[order], annotations.answer[order]
        reached = np.cumsum(annotations.votes[order])  # up to this row
        total = annotations.voters().astype(float)
        before = np.cumsum(total) - total
        items = np.flatnonzero(total)
        half = before[items] + total[items] / 2
        low = answer[np.searchsorted(reached, half - 1e-9)]
        high = answer[np.minimum(np.searchsorted(reached, half + 1e-9), len(item) - 1)]
        return labelled(annotations, items, (low + high) / 2)
