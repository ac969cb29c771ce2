"""MACE: an annotator either knows the answer or answers out of habit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.em import TINY, HiddenTruth
from dissensus.aggregation.rows import Expected, Rows


@dataclass(eq=False)
class Mace(HiddenTruth):
    """With some probability an annotator gives the true value, else one of their habit.

    `competence_` is (n_annotators,), `habit_` (n_annotators, n_values). The best of several
    random starts is kept.

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
    competence_: np.ndarray = field(init=False, repr=False)
    habit_: np.ndarray = field(init=False, repr=False)
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, known or habit, n_values)
    _n: np.ndarray = field(init=False, repr=False)
    _generator: np.random.Generator = field(init=False, repr=False)

    def _learn(self, rows: Rows, posterior: np.ndarray) -> None:
        best: tuple[float, dict[str, object], np.ndarray] | None = None
        for start in range(max(1, self.restarts)):
            self._generator = np.random.default_rng((self.seed, start))
            super()._learn(rows, posterior)
            if best is None or self.log_likelihood_[-1] > best[0]:
                names = ("competence_", "habit_", "counts_", "log_likelihood_", "n_iterations_")
                kept = {name: getattr(self, name) for name in names}
                best = self.log_likelihood_[-1], kept, posterior.copy()
        assert best is not None
        for name, value in best[1].items():
            setattr(self, name, value)
        posterior[:] = best[2]
        self.prior_ = np.full(posterior.shape[1], 1 / posterior.shape[1])

    def _shape(self, n_values: int) -> tuple[int, ...]:
        return (2, n_values)

    def _begin(self, rows: Rows, voted: Expected) -> None:
        people, n_values = rows.n_annotators, rows.n_values
        self.prior_ = np.full(n_values, 1 / n_values)
        self._n = voted.counts.sum(axis=1).reshape(people, n_values)
        share = self._generator.uniform(1, 2.5, (people, 2))
        self.competence_ = share[:, 1] / share.sum(axis=1)
        self.habit_ = _normalised(self._generator.uniform(1, 2.5, (people, n_values)))

    def _pass(self, rows: Rows, posterior: np.ndarray) -> tuple[float, float]:
        from dissensus.aggregation.kernels import expect_own

        guess = ((1 - self.competence_)[:, None] * self.habit_).clip(TINY)
        knows = self.competence_[:, None]  # guess is (n_annotators, n_values)
        ratio = (1 + knows / guess).reshape(-1, 1)
        found = rows.expected(expect_own, ratio, self.prior_, self._known, posterior, self._watch)
        known = found.counts.reshape(guess.shape) * knows / (guess + knows)  # of what was right
        self.counts_ = np.stack([known, self._n - known], axis=1)
        self.counts_ += self._from_history(np.zeros_like(self.counts_), "counts_")
        self._maximise()
        return found.likelihood + float((self._n * np.log(guess)).sum()), found.change

    def _maximise(self) -> None:
        known, habit = self.counts_[:, 0].sum(axis=1), self.counts_[:, 1]
        either = np.stack([habit.sum(axis=1), known], axis=1)
        if self.variational:
            self.competence_ = _variational(either, 0.5)[:, 1]
            self.habit_ = _variational(habit, 10.0)
        else:
            little = 0.01 / habit.shape[1]
            self.competence_ = _normalised(either + little)[:, 1]
            self.habit_ = _normalised(habit + little)


def _normalised(counts: np.ndarray) -> np.ndarray:
    return counts / counts.sum(axis=1, keepdims=True)


def _variational(counts: np.ndarray, prior: float) -> np.ndarray:
    """The geometric mean of a Dirichlet with these counts; it sums to less than 1."""
    from scipy.special import digamma

    drawn = counts + prior
    return np.exp(digamma(drawn) - digamma(drawn.sum(axis=1, keepdims=True)))
