"""Bradley-Terry: a score for each thing, from which of two things annotators preferred."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from dissensus.aggregation.comparisons import Comparisons
from dissensus.errors import DataError


@dataclass(eq=False)
class BradleyTerry:
    """A thing is preferred to another with the odds exp(score - other score).

    `scores_` is (n_things,), with mean 0; `intervals_` the ends of 95 % intervals, (n_things, 2),
    from the curvature of the likelihood. A tie is half a win for both. With fewer than about 30
    comparisons of each thing, scores are further apart than they should be, by 10 to 25 %; the
    intervals account for it.

    Args:
        penalty: on the squared scores, so that a thing that won every comparison has a finite
            score. 0: maximum likelihood.

    Example:
        >>> from dissensus.names import Names
        >>> won = np.array([1.0, 1, 1, 0, 1, 1])  # cat - dog twice, dog - cow twice, cow - cat
        >>> left, right = np.array([0, 0, 1, 1, 0, 0]), np.array([1, 1, 2, 2, 2, 2])
        >>> pairs = Comparisons(left, right, won, np.ones(6), None, Names(["cat", "dog", "cow"]),
        ...     Names.range(0))
        >>> fitted = BradleyTerry(penalty=0.1).fit(pairs)
        >>> fitted.scores_.round(2).tolist()
        [1.62, -0.81, -0.81]

    Reference: Bradley and Terry (1952), doi:10.2307/2334029.
    """

    penalty: float = 0.01
    name: ClassVar[str] = "bradley-terry"

    scores_: np.ndarray = field(init=False, repr=False)
    intervals_: np.ndarray = field(init=False, repr=False)

    def fit(self, comparisons: Comparisons) -> Self:
        """Learn the scores, and how certain they are."""
        from scipy.optimize import minimize

        if self.penalty < 0:
            raise DataError(f"{self.name}: a penalty is not negative, found {self.penalty:g}")
        if self.penalty == 0:
            _check_connected(comparisons, self.name)
        n, weight = comparisons.n_things, comparisons.weight
        left, right, won = comparisons.left, comparisons.right, comparisons.won

        def loss(scores: np.ndarray) -> tuple[float, np.ndarray]:
            margin = scores[left] - scores[right]
            value = weight @ (np.logaddexp(0, margin) - won * margin)
            slope = weight * (1 / (1 + np.exp(-margin)) - won)
            gradient = np.bincount(left, slope, n) - np.bincount(right, slope, n)
            return value + self.penalty * scores @ scores, gradient + 2 * self.penalty * scores

        options = {"maxiter": 5000, "gtol": 1e-9, "ftol": 1e-15}
        scores = minimize(loss, np.zeros(n), jac=True, method="L-BFGS-B", options=options).x
        self.scores_ = np.asarray(scores - scores.mean())
        half = 1.96 * np.sqrt(self._variances(comparisons))
        self.intervals_ = np.stack([self.scores_ - half, self.scores_ + half], axis=1)
        return self

    def _variances(self, comparisons: Comparisons) -> np.ndarray:
        """Of scores with mean 0, from the curvature of the loss, (n_things,)."""
        n, left, right = comparisons.n_things, comparisons.left, comparisons.right
        chance = 1 / (1 + np.exp(self.scores_[right] - self.scores_[left]))
        curve = comparisons.weight * chance * (1 - chance)
        pair = np.concatenate([left * n + right, right * n + left])
        both = np.bincount(pair, np.tile(curve, 2), n * n).reshape(n, n)
        own = both.sum(axis=1) + 2 * self.penalty
        curvature: np.ndarray = np.diag(own) - both + 1 / n  # without 1 / n the mean is free
        variances = np.diag(np.linalg.inv(curvature)) - 1 / (n * (1 + 2 * self.penalty))
        return np.asarray(variances.clip(0))


def _check_connected(comparisons: Comparisons, name: str) -> None:
    """Refuse comparisons that have no maximum of the likelihood: a group that never lost."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    lost = np.concatenate(
        [comparisons.right[comparisons.won > 0], comparisons.left[comparisons.won < 1]]
    )
    won = np.concatenate(
        [comparisons.left[comparisons.won > 0], comparisons.right[comparisons.won < 1]]
    )
    n = comparisons.n_things
    beaten = csr_array((np.ones(len(won)), (lost, won)), (n, n))
    parts, _ = connected_components(beaten, directed=True, connection="strong")
    if parts > 1:
        raise DataError(
            f"{name}: some things never lost to, or were never compared with, the others, so that "
            "scores have no maximum of the likelihood; use a penalty above 0"
        )
