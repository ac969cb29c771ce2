"""The one-coin model: every annotator has one accuracy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.em import TINY, HiddenTruth, shares
from dissensus.aggregation.rows import AnyRows, Expected


@dataclass(eq=False)
class OneCoin(HiddenTruth):
    """Every annotator is right with one probability, and wrong in any way alike.

    `accuracy_` is (n_annotators,). Prefer `DawidSkene` where annotators gave many answers and
    mix values up in ways of their own.

    Reference: Zhang, Chen, Zhou & Jordan (2016), Spectral methods meet EM, JMLR 17.
    """

    name: ClassVar[str] = "one-coin"
    in_blocks: ClassVar[bool] = True
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, right and all answers)
    _n: np.ndarray = field(init=False, repr=False)

    @property
    def accuracy_(self) -> np.ndarray:
        """The share of each annotator's answers that are right; nan without answers."""
        with np.errstate(invalid="ignore"):
            return (self.counts_[:, 0] / self.counts_[:, 1]).clip(TINY, 1 - TINY)

    def _shape(self, n_values: int) -> tuple[int, ...]:
        return (2,)

    def _begin(self, rows: AnyRows, voted: Expected) -> None:
        counts = voted.counts.reshape(-1, rows.n_values, rows.n_values)
        self._n = counts.sum(axis=2)
        self._count(np.trace(counts, axis1=1, axis2=2))

    def _count(self, right: np.ndarray) -> None:
        self.counts_ = np.stack([right, self._n.sum(axis=1)], axis=1).astype(float)
        self.counts_ += self._from_history(np.zeros_like(self.counts_), "counts_")

    def _pass(self, rows: AnyRows) -> tuple[float, float]:
        accuracy = np.nan_to_num(self.accuracy_, nan=0.5)
        wrong = (1 - accuracy) / max(rows.n_values - 1, 1)
        ratio = np.repeat(accuracy / wrong, rows.n_values)[:, None]
        expected = rows.expected("expect_own", ratio, self.prior_, self._watch)
        self._count(expected.counts.reshape(-1, rows.n_values).sum(axis=1))
        self.prior_ = shares(expected.mass)
        return expected.likelihood + float(self._n.sum(axis=1) @ np.log(wrong)), expected.change
