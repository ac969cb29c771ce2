"""Bradley-Terry with annotators who sometimes choose by habit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.bradley_terry import BradleyTerry
from dissensus.aggregation.comparisons import Comparisons


@dataclass(eq=False)
class NoisyBradleyTerry(BradleyTerry):
    """Each annotator prefers as Bradley-Terry says, or else the left thing with a habit of theirs.

    `skill_` is how often an annotator prefers by the scores, `bias_` how often they choose the
    left thing otherwise, (n_annotators,) each, nan without comparisons. Weak priors keep both away
    from 0 and 1: as if each annotator had been seen once more to be right and once to be wrong.

    Reference: Bugakova, Fedorova, Gusev and Drutsa (2019), Aggregation of pairwise comparisons
    with reduction of biases, arXiv:1906.03711.
    """

    name: ClassVar[str] = "noisy-bradley-terry"
    needs_annotators: ClassVar[bool] = True

    skill_: np.ndarray = field(init=False, repr=False)
    bias_: np.ndarray = field(init=False, repr=False)

    def _learn(
        self, comparisons: Comparisons, weight: np.ndarray, start: np.ndarray | None
    ) -> np.ndarray:
        from scipy.optimize import minimize

        assert comparisons.annotator is not None
        n, m = comparisons.n_things, len(comparisons.annotators)
        plain = BradleyTerry._learn(self, comparisons, weight, start)
        first = np.concatenate([plain, np.full(m, 2.0), np.zeros(m)])

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            return noisy_loss(parameters, comparisons, weight, self.penalty)

        options = {"maxiter": 5000, "maxfun": 20000, "gtol": 1e-8, "ftol": 1e-14}
        best = minimize(loss, first, jac=True, method="L-BFGS-B", options=options).x
        if start is None:
            answered = np.bincount(comparisons.annotator, minlength=m) > 0
            self.skill_ = np.where(answered, _logistic(best[n : n + m]), np.nan)
            self.bias_ = np.where(answered, _logistic(best[n + m :]), np.nan)
        return np.asarray(best[:n] - best[:n].mean())


def noisy_loss(
    parameters: np.ndarray, comparisons: Comparisons, weight: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """The penalised negative log-likelihood, and its gradient.

    Args:
        parameters: scores, log-odds of skills and log-odds of biases.
    """
    annotator = comparisons.annotator
    assert annotator is not None
    n, m = comparisons.n_things, len(comparisons.annotators)
    scores, skills, biases = np.split(parameters, [n, n + m])
    left, right, won = comparisons.left, comparisons.right, comparisons.won
    by_score = _logistic(scores[left] - scores[right])
    skill, bias = _logistic(skills)[annotator], _logistic(biases)[annotator]
    p = np.clip(skill * by_score + (1 - skill) * bias, 1e-12, 1 - 1e-12)
    value = -weight @ (won * np.log(p) + (1 - won) * np.log1p(-p)) + penalty * scores @ scores
    slope = weight * (p - won) / (p * (1 - p))  # of the loss, by p
    toward = slope * skill * by_score * (1 - by_score)
    gradient = np.concatenate(
        [
            np.bincount(left, toward, n) - np.bincount(right, toward, n) + 2 * penalty * scores,
            np.bincount(annotator, slope * (by_score - bias) * skill * (1 - skill), m),
            np.bincount(annotator, slope * (1 - skill) * bias * (1 - bias), m),
        ]
    )
    for part, odds in ((slice(n, n + m), skills), (slice(n + m, None), biases)):
        value += (np.logaddexp(0, odds) + np.logaddexp(0, -odds)).sum()
        gradient[part] += 2 * _logistic(odds) - 1
    return float(value), gradient


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))
