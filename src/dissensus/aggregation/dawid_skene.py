"""Dawid and Skene: every annotator has a confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from dissensus.aggregation.em import TINY, HiddenTruth, shares
from dissensus.aggregation.rows import AnyRows, Expected
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names

FEW_VALUES = 16  # up to which a kernel is compiled for each number of values


@dataclass(eq=False)
class DawidSkene(HiddenTruth):
    """Every annotator has a confusion matrix; the true value is never seen.

    `confusion_` is (n_annotators, n_values true, n_values answered). Prefer `OneCoin` where
    annotators gave few answers: a matrix each is then more than they can tell.

    Args:
        smoothing: answers of each kind that are added to every annotator's own.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t1", "cy", "b"),
        ...         ("t2", "ann", "b"), ("t2", "bob", "b"), ("t2", "cy", "b")]
        >>> fitted = DawidSkene().fit(Annotations.from_rows(rows))
        >>> fitted.consensus_.answers(), fitted.confusion_.shape
        (['a', 'b'], (3, 2, 2))

    Reference: Dawid & Skene (1979), doi 10.2307/2346806.
    """

    smoothing: float = 0.0
    name: ClassVar[str] = "dawid-skene"
    in_blocks: ClassVar[bool] = True
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, answered, true)
    _start: Mapping[str, np.ndarray] | None = field(init=False, repr=False, default=None)

    def fit(
        self,
        annotations: Any,
        gold: Annotations | None = None,
        history: HiddenTruth | None = None,
        start: Mapping[str, np.ndarray] | None = None,
        *,
        cluster: Any | None = None,
    ) -> Self:
        """Aggregate the answers to one question.

        Args:
            annotations, gold, history, cluster: as of every model of annotators.
            start: the first confusion matrix of annotators by name, (n_values true, n_values
                answered); others begin with their agreement with the votes.
        """
        self._start = start
        return super().fit(annotations, gold, history, cluster=cluster)

    @property
    def confusion_(self) -> np.ndarray:
        """How often each annotator answers what, given what is true."""
        return self._confusion().transpose(0, 2, 1)

    def _shape(self, n_values: int) -> tuple[int, ...]:
        return (n_values, n_values)

    def _begin(self, rows: AnyRows, voted: Expected) -> None:
        self._count(rows, voted.counts)
        for name, matrix in (self._start or {}).items():
            given = np.asarray(matrix, dtype=float)
            same_shape = given.shape == self.counts_.shape[1:]
            if not (same_shape and (given >= 0).all() and np.isfinite(given.sum())):
                raise DataError(
                    f"{self.name}: a first confusion matrix is {rows.n_values} x {rows.n_values}, "
                    f"not negative and finite, found another for {name!r} {given.shape}"
                )
            code = int(self.annotators_.find(Names([name]))[0])
            if code >= 0:  # what the annotator has answered is never impossible
                answered = self.counts_[code].any(axis=1, keepdims=True)
                self.counts_[code] = np.maximum(given.T, TINY * answered)

    def _pass(self, rows: AnyRows) -> tuple[float, float]:
        confusion = self._confusion().reshape(rows.n_cells, rows.n_values)
        few = rows.n_values <= FEW_VALUES
        kernel = "expect_few" if few else "expect"
        prior = tuple(self.prior_.tolist()) if few else self.prior_
        expected = rows.expected(kernel, confusion, prior, self._watch)
        self._count(rows, expected.counts)
        self.prior_ = shares(expected.mass)
        return expected.likelihood, expected.change

    def _count(self, rows: AnyRows, counts: np.ndarray) -> None:
        self.counts_ = counts.reshape(rows.n_annotators, rows.n_values, rows.n_values)
        if self._history is not None:
            self.counts_ += self._from_history(np.zeros_like(self.counts_), "counts_")

    def _confusion(self) -> np.ndarray:
        """(n_annotators, answered, true), the sum over what can be answered is 1."""
        from dissensus.aggregation.kernels import confusion

        shares = np.empty_like(self.counts_)
        confusion(self.counts_, self.smoothing, TINY, shares)
        return shares
