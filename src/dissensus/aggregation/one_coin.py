"""The one-coin model: every annotator has one accuracy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from dissensus.aggregation.em import TINY, Expected, HiddenTruth, ItemAnswers, shares
from dissensus.annotations import Annotations

SIMULATED, FAR = 20, 4.0  # crowds, and standard deviations from their mean that are too far
SAMPLE = 2000  # items
ADDED = 4.0  # answers of the crowd's accuracy, without which few answers would seem certain


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

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        counts = voted.counts.reshape(-1, answers.n_values, answers.n_values)
        self._n = counts.sum(axis=2)
        self._count(np.trace(counts, axis1=1, axis2=2))

    def _count(self, right: np.ndarray) -> None:
        self.counts_ = np.stack([right, self._n.sum(axis=1)], axis=1).astype(float)
        self.counts_ += self._from_history(np.zeros_like(self.counts_), "counts_")

    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        accuracy = np.nan_to_num(self.accuracy_, nan=0.5)
        wrong = (1 - accuracy) / max(answers.n_values - 1, 1)
        ratio = np.repeat(accuracy / wrong, answers.n_values)[:, None]
        expected = answers.expected("expect_own", ratio, self.prior_, self._watch)
        self._count(expected.counts.reshape(-1, answers.n_values).sum(axis=1))
        self.prior_ = shares(expected.mass)
        return expected.likelihood + float(self._n.sum(axis=1) @ np.log(wrong)), expected.change


def errs_by_value(annotations: Annotations, fitted: OneCoin) -> bool:
    """Whether annotators are right about some values more often than one-coin can explain.

    The hypothesis is the fitted model. The statistic is the likelihood ratio of an accuracy for
    each annotator and true value against one for each annotator, with the expected true values as
    if they were known. That is no chi-square, so crowds are simulated by the model, with the same
    annotators for each item, and fitted: the statistic may be four of their standard deviations
    above their mean. Of many items, a sample is used.
    """
    generator = np.random.default_rng(0)
    items = np.flatnonzero(annotations.per_item())
    if len(items) > SAMPLE:
        chosen = np.isin(annotations.item, generator.choice(items, SAMPLE, replace=False))
        annotations = annotations.take(chosen)
    right, total = fitted.counts_.T
    usual = (right + ADDED * right.sum() / total.sum()) / (total + ADDED)
    accuracy = usual[annotations.annotator_codes(fitted.name)]
    values = np.flatnonzero(fitted.prior_)  # that occur
    prior = fitted.prior_[values]
    simulated = []
    for _ in range(SIMULATED):
        truth = generator.choice(len(values), annotations.n_items, p=prior)[annotations.item]
        other = truth + generator.integers(1, max(len(values), 2), len(truth))
        right = generator.random(len(truth)) < accuracy
        answer = values[np.where(right, truth, other % len(values))]
        made = replace(annotations, answer=answer.astype(annotations.answer.dtype))
        simulated.append(_ratio(made))
    return bool(_ratio(annotations) > np.mean(simulated) + FAR * np.std(simulated, ddof=1))


def _ratio(annotations: Annotations) -> float:
    """The log-likelihood ratio of accuracies by true value against one for each annotator."""
    from scipy.special import xlogy

    fitted = OneCoin(iterations=50, tolerance=1e-3).fit(annotations)
    annotator, n = annotations.annotator_codes(OneCoin.name), annotations.n_annotators
    truth = fitted.distribution_[annotations.item]  # (n_rows, n_values)
    own = truth * (np.arange(truth.shape[1]) == annotations.answer[:, None])
    total, right = (  # (n_annotators, n_values) each
        np.stack([np.bincount(annotator, column, n) for column in each.T], axis=1)
        for each in (truth, own)
    )
    wrong = (total - right).clip(0)
    by_value = xlogy(right, right) + xlogy(wrong, wrong) - xlogy(total, total)
    sums = [part.sum(axis=1) for part in (right, wrong, total)]
    alike = xlogy(sums[0], sums[0]) + xlogy(sums[1], sums[1]) - xlogy(sums[2], sums[2])
    return float(by_value.sum() - alike.sum())
