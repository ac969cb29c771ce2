"""Dawid and Skene: every annotator has a confusion matrix."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives
from dissensus.aggregation.em import TINY, Expected, HiddenTruth, ItemAnswers, shares
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.progress import progress

FEW_VALUES = 16  # up to which a kernel is compiled for each number of values
ADDED, RIGHT = 6.0, 0.7  # answers that calibration adds to each true value, and the right ones
CLOSE, PASSES = 0.01, 50  # it stops when no probability changes by as much, or after so many passes
POWERS = tuple(np.arange(10, 0, -1) / 10)  # of the likelihood, one of which fits answers best
SAMPLE = 5000  # items by which it is chosen
ENOUGH_GOLD = 30  # labels by which it is chosen, instead
CLEARLY = 0.15  # log-likelihood that it must gain, where an item counts as one answer
DOUBTFUL, DOUBTFUL_GAIN = 0.5, 1.6  # a power, at most, and a gain with which confidence is doubtful


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
    likelihood of an item's answers to a power, at most 1. If 30 gold labels or more are given, it
    is the power that best predicts these. Otherwise it is 1 / (1 + 2 r), where 1 / (1 + r) best
    predicts each answer from the others to the same item: what answers have in common beyond the
    model counts twice, because it says what others answer, but not what is true. The power is 1 if
    no other one predicts answers clearly better. What misleads all annotators together cannot be
    seen in answers; `doubt_` says if annotators have much in common.

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
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, answered, true)
    _answers: Annotations | None = field(init=False, repr=False, default=None)
    _calibrated: np.ndarray = field(init=False, repr=False)
    _worth: float = field(init=False, repr=False, default=1.0)  # of an answer, once calibrated
    _by_gold: bool = field(init=False, repr=False, default=False)  # whether gold labels say so

    def _fit(self, annotations: Annotations) -> np.ndarray:
        self._answers = annotations
        return super()._fit(annotations)

    @property
    def confusion_(self) -> np.ndarray:
        """How often each annotator answers what, given what is true."""
        return self._confusion().transpose(0, 2, 1)

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        self._count(answers, voted.counts)

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

    # ---- calibrated probabilities ----

    @property
    def doubt_(self) -> str:
        """Why confidence may be wrong, and what to do about it; empty if gold labels fitted it."""
        fitted = list(getattr(self, "by_value_", {"": self}).values())
        for each in fitted:
            each._reported()
        if all(each._by_gold for each in fitted):
            return ""
        least = min(fitted, key=attrgetter("_worth"))
        why = "confidence assumes that annotators err independently"
        if least._worth < 1:
            why = (
                "confidence is doubtful: answers to one item have more in common than independent "
                f"errors explain, and count as {least._worth:.2g} of an answer each"
            )
        return f"{why}; --use-gold fits it to {ENOUGH_GOLD} gold labels or more (--gold) instead"

    def _reported(self) -> np.ndarray:
        if self._answers is not None:  # computed when it is needed
            with closing(ItemAnswers(self._answers, self.name, self._known)) as answers:
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
        for _ in range(PASSES):
            counts, *prior = self._added(answers, expected, occurs)
            expected = answers.expected("expect_others", counts, (*prior, 1.0), True)
            if expected.change < CLOSE:
                break
        counts, *prior = self._added(answers, expected, occurs)
        gold = np.flatnonzero((answers.known >= 0) & (np.diff(answers.offsets) > 0))
        self._by_gold = len(gold) >= ENOUGH_GOLD
        if self._by_gold:
            power = self._power_by_gold(answers, gold, counts, prior)
        else:
            power = self._power_by_answers(answers, counts, prior, every)
        answers.expected("expect_others", counts, (*prior, power), False)
        return answers.posterior

    def _power_by_answers(
        self, answers: ItemAnswers, counts: np.ndarray, prior: list[Any], every: int
    ) -> float:
        """The power of the class's docstring, from the answers to every n-th item."""
        likelihood = [
            answers.expected("leave_out", counts, (*prior, power, every), False).likelihood
            for power in POWERS
        ]
        sizes = np.diff(answers.offsets)
        gain = (max(likelihood) - likelihood[0]) / sizes[sizes > 0].mean()
        best = POWERS[int(np.argmax(likelihood))] if gain > CLEARLY else 1.0
        self._worth = best / (2 - best) if best <= DOUBTFUL and gain > DOUBTFUL_GAIN else 1.0
        return float(best / (2 - best))

    def _power_by_gold(
        self, answers: ItemAnswers, gold: np.ndarray, counts: np.ndarray, prior: list[Any]
    ) -> float:
        """The power that best predicts the gold labels of these items from their answers."""
        known, posterior = answers.known, answers.posterior.copy()
        answers.known = np.full_like(known, -1)
        likelihood = []
        for power in POWERS:
            answers.expected("expect_others", counts, (*prior, power), False)
            chance = answers.posterior[gold, known[gold]]
            likelihood.append(np.log(chance.clip(TINY)).sum())
            answers.posterior[:] = posterior
        answers.known = known
        return float(POWERS[int(np.argmax(likelihood))])

    def _added(
        self, answers: ItemAnswers, expected: Expected, occurs: np.ndarray
    ) -> tuple[Any, ...]:
        """The counts of cells, and what the kernels need besides, with what the prior adds."""
        n_values, others = answers.n_values, float(max(occurs.sum() - 1, 1))
        counts = expected.counts.reshape(answers.n_annotators, n_values, n_values)
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


MIDDLE, MIDDLE_SPREAD = 1.4, 0.6  # log-odds of the crowd's mean accuracy: 0.80, 95 % 0.55 to 0.93
SPREAD = 2.5  # of annotators around it: half-normal
ANSWERS, ANSWERS_SPREAD = np.log(10.0), 1.0  # that an annotator's usual accuracy is worth: 10

Evidence = Callable[[np.ndarray, float], np.ndarray]  # of usual accuracies and their worth


@dataclass(eq=False)
class BayesianDawidSkene(Aggregator):
    """Dawid and Skene's model with a prior that annotators share, averaged over draws.

    Each annotator has a usual accuracy, the crowd a mean and a spread of these. How often an
    annotator is right about each true value has a Beta distribution around the usual accuracy;
    the values that are given instead have a flat one. So the prior is the same for any number of
    values, and annotators with few answers are drawn towards the crowd. All of it is drawn by
    Gibbs sampling with Metropolis steps; at the start the true values are drawn by the votes.

    `confusion_` is the mean confusion matrix of each annotator, (n_annotators, n_values true,
    n_values answered); `accuracy_` how often they are right, with the 95 % interval
    `accuracy_low_` to `accuracy_high_`, (n_annotators,) each; `shares_` the shares of true values,
    with `shares_interval_` (n_values, 2). Annotators without answers have the prior.

    Args:
        draws: that are averaged, after `warm_up` draws that are not.
        seed: of the draws.

    Reference: Kim & Ghahramani (2012), Bayesian classifier combination, AISTATS; Paun et al.
    (2018), doi 10.1162/tacl_a_00040.
    """

    draws: int = 1000
    warm_up: int = 200
    seed: int = 0
    name: ClassVar[str] = "bayesian-dawid-skene"
    gives: ClassVar[Gives] = "probability"

    confusion_: np.ndarray = field(init=False, repr=False)
    accuracy_: np.ndarray = field(init=False, repr=False)
    accuracy_low_: np.ndarray = field(init=False, repr=False)
    accuracy_high_: np.ndarray = field(init=False, repr=False)
    shares_: np.ndarray = field(init=False, repr=False)
    shares_interval_: np.ndarray = field(init=False, repr=False)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        from scipy.sparse import csr_array

        if self.draws < 1 or self.warm_up < 0:
            raise DataError(f"{self.name} needs at least one draw, found {self.draws}")
        n_values, n = annotations.scale.n_columns, annotations.n_annotators
        generator = np.random.default_rng(self.seed)
        cell = annotations.annotator_codes(self.name).astype(np.int64) * n_values
        cell += annotations.answer
        shape = annotations.n_items, n * n_values
        answered = np.flatnonzero(annotations.per_item())
        rows = csr_array((np.ones(len(cell)), (annotations.item, cell)), shape)[answered]
        columns = rows.T.tocsr()  # (n_annotators * n_values, n_answered)
        occurs = np.bincount(annotations.answer, minlength=n_values) > 0
        posterior = annotations.distribution()[answered]
        truth = _drawn(posterior, generator)
        prior = _Prior(generator, np.full(n, MIDDLE), np.ones(n))
        mean = np.zeros((len(answered), n_values))
        confusion = np.zeros((n, n_values, n_values))
        accuracy = np.empty((self.draws, n))
        shares = np.empty((self.draws, n_values))
        with progress(self.name, self.draws + self.warm_up) as advance:
            for draw in range(-self.warm_up, self.draws):
                by_truth = columns @ np.eye(n_values)[truth]  # (n_annotators * answered, true)
                counts = by_truth.reshape(n, n_values, n_values).transpose(0, 2, 1)
                matrices = prior.matrices(counts, adapt=draw < 0)
                share = generator.standard_gamma(occurs + np.bincount(truth, minlength=n_values))
                share = share.clip(1e-300) / share.clip(1e-300).sum()
                logs = np.log(matrices).transpose(0, 2, 1).reshape(n * n_values, n_values)
                logs = rows @ logs + np.log(share)
                posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
                posterior /= posterior.sum(axis=1, keepdims=True)
                truth = _drawn(posterior, generator)
                advance(1)
                if draw >= 0:
                    mean += posterior
                    confusion += matrices
                    accuracy[draw] = matrices.diagonal(axis1=1, axis2=2) @ share
                    shares[draw] = share
        self.confusion_ = confusion / self.draws
        self.accuracy_ = accuracy.mean(axis=0)
        self.accuracy_low_, self.accuracy_high_ = np.quantile(accuracy, [0.025, 0.975], axis=0)
        self.shares_ = shares.mean(axis=0)
        self.shares_interval_ = np.quantile(shares, [0.025, 0.975], axis=0).T
        distribution = np.full((annotations.n_items, n_values), np.nan)
        distribution[answered] = mean / self.draws
        return distribution


@dataclass(eq=False)
class _Prior:
    """How often annotators are usually right, as log-odds, and what the crowd has in common."""

    generator: np.random.Generator
    usual: np.ndarray  # (n_annotators,)
    steps: np.ndarray  # (n_annotators,) sizes of the proposed changes of `usual`
    middle: float = MIDDLE
    spread: float = 1.0
    answers: float = ANSWERS  # the logarithm of how many answers `usual` is worth
    answers_step: float = 0.5

    def matrices(self, counts: np.ndarray, adapt: bool) -> np.ndarray:
        """Confusion matrices, (n_annotators, true, answered), given counts of the same shape.

        Args:
            adapt: whether the sizes of steps are adapted, so that 40 % are accepted.
        """
        generator = self.generator
        right = counts.diagonal(axis1=1, axis2=2)
        wrong = counts.sum(axis=2) - right
        evidence = partial(_evidence, right=right, wrong=wrong)
        known = evidence(self.usual, self.answers)  # (n_annotators,)
        for _ in range(2):
            known = self._move_annotators(known, evidence, adapt)
            known = self._move_answers(known, evidence, adapt)
            self._move_crowd()
        mean, strength = _logistic(self.usual)[:, None], np.exp(self.answers)
        accuracy = generator.beta(right + strength * mean, wrong + strength * (1 - mean))
        errors = 1.0 - np.eye(counts.shape[2])
        drawn = generator.standard_gamma(counts + 1.0).clip(1e-300) * errors
        total = drawn.sum(axis=2, keepdims=True).clip(1e-300)
        rest = 1 - accuracy[:, :, None]
        matrices = drawn / total * rest + np.eye(counts.shape[2]) * accuracy[:, :, None]
        return np.asarray(matrices.clip(1e-300))

    def _move_annotators(self, known: np.ndarray, evidence: Evidence, adapt: bool) -> np.ndarray:
        proposed = self.usual + self.steps * self.generator.normal(size=len(self.usual))
        new = evidence(proposed, self.answers)
        nearer = (self.usual - self.middle) ** 2 - (proposed - self.middle) ** 2
        gain = new - known + 0.5 * nearer / self.spread**2
        accepted = np.log(self.generator.random(len(gain))) < gain
        self.usual = np.where(accepted, proposed, self.usual)
        if adapt:
            self.steps *= np.exp(0.1 * (accepted - 0.4))
        return np.where(accepted, new, known)

    def _move_answers(self, known: np.ndarray, evidence: Evidence, adapt: bool) -> np.ndarray:
        proposed = self.answers + self.answers_step * self.generator.normal()
        new = evidence(self.usual, proposed)
        nearer = (self.answers - ANSWERS) ** 2 - (proposed - ANSWERS) ** 2
        gain = new.sum() - known.sum() + 0.5 * nearer / ANSWERS_SPREAD**2
        accepted = bool(np.log(self.generator.random()) < gain)
        if adapt:
            self.answers_step *= np.exp(0.1 * (accepted - 0.4))
        self.answers = proposed if accepted else self.answers
        return new if accepted else known

    def _move_crowd(self) -> None:
        precision = len(self.usual) / self.spread**2 + 1 / MIDDLE_SPREAD**2
        pull = self.usual.sum() / self.spread**2 + MIDDLE / MIDDLE_SPREAD**2
        self.middle = self.generator.normal(pull / precision, precision**-0.5)
        proposed = self.spread * np.exp(0.4 * self.generator.normal())
        gain = self._log_spread(proposed) - self._log_spread(self.spread)
        if np.log(self.generator.random()) < gain:
            self.spread = proposed

    def _log_spread(self, spread: float) -> float:
        """The log-density of the logarithm of a spread."""
        squares = ((self.usual - self.middle) ** 2).sum() / spread**2
        return float(
            (1 - len(self.usual)) * np.log(spread) - 0.5 * (squares + (spread / SPREAD) ** 2)
        )


def _evidence(
    usual: np.ndarray, answers: float, right: np.ndarray, wrong: np.ndarray
) -> np.ndarray:
    """Log-probabilities of right and wrong answers (n_annotators, true), accuracies integrated out.

    Args:
        usual: log-odds of being right, (n_annotators,).
        answers: the logarithm of how many answers these are worth.
    """
    from scipy.special import betaln

    mean, strength = _logistic(usual)[:, None], np.exp(answers)
    for_right, for_wrong = strength * mean, strength * (1 - mean)
    each = betaln(right + for_right, wrong + for_wrong) - betaln(for_right, for_wrong)
    return np.asarray(each.sum(axis=1))


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (1 + np.tanh(x / 2))).clip(1e-6, 1 - 1e-6)


def _drawn(posterior: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A value for each row of probabilities."""
    below = posterior.cumsum(axis=1)[:, :-1] < generator.random(len(posterior))[:, None]
    return np.asarray(below.sum(axis=1))
