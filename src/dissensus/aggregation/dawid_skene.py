"""Dawid and Skene: every annotator has a confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from dissensus.aggregation.em import TINY, HiddenTruth, shares
from dissensus.aggregation.item_answers import Expected, ItemAnswers, item_answers
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names

FEW_VALUES = 16  # up to which a kernel is compiled for each number of values
ADDED, RIGHT = 6.0, 0.7  # answers that calibration adds to each true value, and the right ones
CLOSE, PASSES = 0.01, 50  # it stops when no probability changes by as much, or after so many passes
POWERS = tuple(np.arange(10, 0, -1) / 10)  # of the likelihood, one of which fits answers best
SAMPLE = 5000  # items by which it is chosen


@dataclass(eq=False)
class DawidSkene(HiddenTruth):
    """Every annotator has a confusion matrix; the true value is never seen.

    `confusion_` is (n_annotators, n_values true, n_values answered). Prefer `OneCoin` where
    annotators gave few answers: a matrix each is then more than they can tell.

    `distribution_` and `consensus_` are the paper's: probabilities under the most likely matrices,
    which are far too certain if annotators gave few answers or if some items are difficult.
    `calibrated_` has the probabilities of `prediction_`, `fit_predict` and `dissensus aggregate`,
    with the most probable values as answers. It estimates matrices from other items than the one
    in question, adding 6 answers for each true value (70 % of them right), and raises the
    likelihood of an item's answers to the power, at most 1, that best predicts each answer from
    the others to the same item. What misleads all annotators together cannot be seen in answers.

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
    _answers: Annotations | None = field(init=False, repr=False, default=None)
    _calibrated: np.ndarray = field(init=False, repr=False)

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

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self._answers = annotations
        return super()._fit(annotations)

    @property
    def confusion_(self) -> np.ndarray:
        """How often each annotator answers what, given what is true."""
        return self._confusion().transpose(0, 2, 1)

    def _shape(self, n_values: int) -> tuple[int, ...]:
        return (n_values, n_values)

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        self._count(answers, voted.counts)
        for name, matrix in (self._start or {}).items():
            given = np.asarray(matrix, dtype=float)
            same_shape = given.shape == self.counts_.shape[1:]
            if not (same_shape and (given >= 0).all() and np.isfinite(given.sum())):
                raise DataError(
                    f"{self.name}: a first confusion matrix is {answers.n_values} x "
                    f"{answers.n_values}, not negative and finite, found another for {name!r} "
                    f"{given.shape}"
                )
            code = int(self.annotators_.find(Names([name]))[0])
            if code >= 0:  # what the annotator has answered is never impossible
                answered = self.counts_[code].any(axis=1, keepdims=True)
                self.counts_[code] = np.maximum(given.T, TINY * answered)

    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        confusion = self._confusion().reshape(answers.n_cells, answers.n_values)
        few = answers.n_values <= FEW_VALUES
        kernel = "expect_few" if few else "expect"
        prior = tuple(self.prior_.tolist()) if few else self.prior_
        expected = answers.expected(kernel, confusion, prior, self._watch)
        self._count(answers, expected.counts)
        self.prior_ = shares(expected.mass)
        return expected.likelihood, expected.change

    def _count(self, answers: ItemAnswers, counts: np.ndarray) -> None:
        self.counts_ = counts.reshape(answers.n_annotators, answers.n_values, answers.n_values)
        if self._history is not None:
            self.counts_ += self._from_history(np.zeros_like(self.counts_), "counts_")

    # ---- calibrated probabilities ----

    def _reported(self) -> np.ndarray:
        if self._answers is not None:  # computed when it is needed
            given = self._answers, self.name, self._known, self._cluster
            with closing(item_answers(*given)) as answers:
                self._calibrated = self._calibrate(answers, max(self._answers.n_items // SAMPLE, 1))
            self._answers = None
        return self._calibrated

    def _calibrate(self, answers: ItemAnswers, every: int) -> np.ndarray:
        """Collapsed variational Bayes (CVB0), then the power of the likelihood.

        Reference: Asuncion, Welling, Smyth & Teh (2009), On smoothing and inference for topic
        models, UAI.
        """
        expected = answers.voted()
        occurs = expected.mass > 0
        if self._start:
            confusion = self._confusion().reshape(answers.n_cells, answers.n_values)
            expected = answers.expected("expect", confusion, self.prior_, False)
        for _ in range(PASSES):
            counts, *prior = self._added(answers, expected, occurs)
            expected = answers.expected("expect_others", counts, (*prior, 1.0), True)
            if expected.change < CLOSE:
                break
        counts, *prior = self._added(answers, expected, occurs)
        likelihood = [
            answers.expected("leave_out", counts, (*prior, power, every), False).likelihood
            for power in POWERS
        ]
        power = POWERS[int(np.argmax(likelihood))]
        answers.expected("expect_others", counts, (*prior, power), False)
        return answers.distribution()

    def _added(
        self, answers: ItemAnswers, expected: Expected, occurs: np.ndarray
    ) -> tuple[Any, ...]:
        """The counts of cells, and what the kernels need besides, with what the prior adds."""
        n_values, others = answers.n_values, float(max(occurs.sum() - 1, 1))
        counts = expected.counts.reshape(answers.n_annotators, n_values, n_values)
        counts = counts + self._from_history(np.zeros_like(counts), "counts_")
        totals = counts.sum(axis=1)  # (n_annotators, true)
        wrong = totals - counts.diagonal(axis1=1, axis2=2) + ADDED * (1 - RIGHT)
        counts += np.where(np.eye(n_values) > 0, ADDED * RIGHT, 1.0)
        values = np.where(occurs, expected.mass + 1, 0.0)
        more = others - ADDED * (1 - RIGHT)
        return counts.reshape(answers.n_cells, n_values), values, totals + ADDED, wrong, more

    def _confusion(self) -> np.ndarray:
        """(n_annotators, answered, true), the sum over what can be answered is 1."""
        from dissensus.aggregation.kernels import confusion

        shares = np.empty_like(self.counts_)
        confusion(self.counts_, self.smoothing, TINY, shares)
        return shares
