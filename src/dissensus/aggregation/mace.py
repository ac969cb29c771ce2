"""MACE: an annotator either knows the answer or answers out of habit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.aggregation.em import TINY, Expected, HiddenTruth, ItemAnswers, alike
from dissensus.names import Names

LEARNED = ("competence_", "habit_", "counts_", "log_likelihood_", "objective_", "n_iterations_")
KNOWING, HABIT = 0.5, 10.0  # the paper's priors: answers of each kind, before any was given


@dataclass(eq=False)
class Mace(HiddenTruth):
    """With some probability an annotator gives the true value, else one of their habit.

    `competence_` is (n_annotators,), `habit_` (n_annotators, n_values). Of several random starts
    the one with the highest `objective_` is kept: the log-likelihood or, with the priors, the
    bound on the evidence that variational Bayes raises. Starts are drawn in the order of the
    annotators' names (shorter names first), so that the order of rows does not matter.

    Args:
        restarts: random starts, each with a seed of its own.
        variational: maximise with the priors of the paper (variational Bayes) instead of plainly.
        seed: of the first start.

    Reference: Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning whom to trust with MACE.
    """

    iterations: int = 50
    tolerance: float = 0.0
    restarts: int = 10
    variational: bool = True
    seed: int = 0
    name: ClassVar[str] = "mace"
    in_blocks: ClassVar[bool] = True
    competence_: np.ndarray = field(init=False, repr=False)
    habit_: np.ndarray = field(init=False, repr=False)
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, known or habit, n_values)
    objective_: list[float] = field(init=False, repr=False)  # after each iteration
    _n: np.ndarray = field(init=False, repr=False)
    _earlier: np.ndarray = field(init=False, repr=False)  # of the history, shaped as counts_
    _cost: float = field(init=False, repr=False)  # of what was learned, against the priors
    _guessing: np.ndarray = field(init=False, repr=False)  # (n_annotators,) of not knowing
    _generator: np.random.Generator = field(init=False, repr=False)

    def _learn(self, answers: ItemAnswers) -> None:
        best: tuple[float, dict[str, object]] | None = None
        for start in range(max(1, self.restarts)):
            self._generator = np.random.default_rng((self.seed, start))
            super()._learn(answers)
            if best is None or self.objective_[-1] > best[0]:
                kept = {name: getattr(self, name) for name in LEARNED}
                best = self.objective_[-1], kept
                answers.keep()
        assert best is not None
        for name, value in best[1].items():
            setattr(self, name, value)
        answers.restore()

    def _shape(self, n_values: int) -> tuple[int, ...]:
        return (2, n_values)

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        n_annotators, n_values = answers.n_annotators, answers.n_values
        self.prior_ = alike(voted.mass)
        self._n = voted.counts.sum(axis=1).reshape(n_annotators, n_values)
        self._earlier = self._from_history(np.zeros((n_annotators, 2, n_values)), "counts_")
        self._cost, self.objective_ = 0.0, []
        rank = _ranks(self.annotators_)
        share = _normalised(self._generator.uniform(1, 2.5, (n_annotators, 2)))[rank]
        self._guessing, self.competence_ = share.T
        self.habit_ = _normalised(self._generator.uniform(1, 2.5, (n_annotators, n_values)))[rank]

    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        guess = (self._guessing[:, None] * self.habit_).clip(TINY)
        knows = self.competence_[:, None]  # guess is (n_annotators, n_values)
        ratio = (1 + knows / guess).reshape(-1, 1)
        expected = answers.expected("expect_own", ratio, self.prior_, self._watch)
        known = expected.counts.reshape(guess.shape) * knows / (guess + knows)  # of what was right
        self.counts_ = np.stack([known, self._n - known], axis=1) + self._earlier
        likelihood = expected.likelihood + float((self._n * np.log(guess)).sum())
        self.objective_.append(likelihood - self._cost)
        self._maximise()
        return likelihood, expected.change

    def _maximise(self) -> None:
        either, habit = _kinds(self.counts_)
        if self.variational:
            earlier = _kinds(self._earlier)
            self._guessing, self.competence_ = _variational(either + KNOWING).T
            self.habit_ = _variational(habit + HABIT)
            self._cost = divergence(either + KNOWING, earlier[0] + KNOWING)
            self._cost += divergence(habit + HABIT, earlier[1] + HABIT)
        else:
            little = 0.01 / habit.shape[1]
            self._guessing, self.competence_ = _normalised(either + little).T
            self.habit_ = _normalised(habit + little)


def _ranks(names: Names) -> np.ndarray:
    """The place of each name in their order, shorter names first: "p9" before "p10"."""
    ranks = np.arange(len(names))
    if not names.is_range:  # a range is in order
        columns = {"length": pc.utf8_length(names.array), "name": names.array}
        keys = [(column, "ascending") for column in columns]
        ranks[pc.sort_indices(pa.table(columns), keys).to_numpy()] = np.arange(len(names))
    return ranks


def _kinds(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Answers out of habit and known ones, (n_annotators, 2); those of habit by value."""
    habit = counts[:, 1]
    return np.stack([habit.sum(axis=1), counts[:, 0].sum(axis=1)], axis=1), habit


def _normalised(counts: np.ndarray) -> np.ndarray:
    return counts / counts.sum(axis=1, keepdims=True)


def _variational(drawn: np.ndarray) -> np.ndarray:
    """The geometric means of Dirichlets with these counts; each sums to less than 1."""
    from scipy.special import digamma

    return np.exp(digamma(drawn) - digamma(drawn.sum(axis=1, keepdims=True)))


def divergence(drawn: np.ndarray, prior: np.ndarray) -> float:
    """Kullback-Leibler divergence of Dirichlets from their priors, summed over annotators."""
    from scipy.special import gammaln

    sizes = gammaln(drawn.sum(axis=1)) - gammaln(prior.sum(axis=1))
    each = gammaln(prior) - gammaln(drawn) + (drawn - prior) * np.log(_variational(drawn))
    return float(sizes.sum() + each.sum())
