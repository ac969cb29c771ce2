"""Bradley-Terry: a score for each thing, from which of two things annotators preferred."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from dissensus.aggregation.comparisons import Comparisons
from dissensus.errors import DataError
from dissensus.progress import progress


@dataclass(eq=False)
class BradleyTerry:
    """A thing is preferred to another with the odds exp(score - other score).

    `scores_` is (n_things,), with mean 0; `intervals_` the ends of 95 % intervals, (n_things, 2),
    from comparisons drawn again with replacement. A tie is half a win for both.

    Args:
        penalty: on the squared scores, so that a thing that won every comparison has a finite
            score. 0: maximum likelihood.
        resamples: draws for the intervals; 0: no intervals.

    Example:
        >>> from dissensus.names import Names
        >>> won = np.array([1.0, 1, 1, 0, 1, 1])  # cat - dog twice, dog - cow twice, cow - cat
        >>> left, right = np.array([0, 0, 1, 1, 0, 0]), np.array([1, 1, 2, 2, 2, 2])
        >>> pairs = Comparisons(left, right, won, np.ones(6), None, Names(["cat", "dog", "cow"]),
        ...     Names.range(0))
        >>> fitted = BradleyTerry(penalty=0.1, resamples=0).fit(pairs)
        >>> fitted.scores_.round(2).tolist()
        [1.62, -0.81, -0.81]

    Reference: Bradley and Terry (1952), doi:10.2307/2334029.
    """

    penalty: float = 0.01
    resamples: int = 200
    seed: int = 0
    name: ClassVar[str] = "bradley-terry"
    needs_annotators: ClassVar[bool] = False

    scores_: np.ndarray = field(init=False, repr=False)
    intervals_: np.ndarray = field(init=False, repr=False)

    def fit(self, comparisons: Comparisons) -> Self:
        """Learn the scores, and how certain they are."""
        if self.penalty < 0:
            raise DataError(f"{self.name}: a penalty is not negative, found {self.penalty:g}")
        if self.needs_annotators and comparisons.annotator is None:
            raise DataError(
                f"{self.name} needs known annotators; these answers are anonymous: use "
                "bradley-terry"
            )
        if self.penalty == 0:
            _check_connected(comparisons, self.name)
        self.scores_ = self._learn(comparisons, comparisons.weight, None)
        self.intervals_ = np.full((comparisons.n_things, 2), np.nan)
        if self.resamples and len(comparisons.left) > 1:
            self.intervals_ = self._intervals(comparisons)
        return self

    def _intervals(self, comparisons: Comparisons) -> np.ndarray:
        generator = np.random.default_rng(self.seed)
        share = comparisons.weight / comparisons.weight.sum()
        drawn = np.empty((self.resamples, comparisons.n_things))
        with progress(self.name, self.resamples) as advance:
            for draw in range(self.resamples):
                times = generator.multinomial(int(comparisons.weight.sum()), share)
                drawn[draw] = self._learn(comparisons, times.astype(float), self.scores_)
                advance(1)
        return np.quantile(drawn, [0.025, 0.975], axis=0).T

    def _learn(
        self, comparisons: Comparisons, weight: np.ndarray, start: np.ndarray | None
    ) -> np.ndarray:
        """Scores with mean 0, from these weights of the comparisons."""
        n = comparisons.n_things
        left, right, won = comparisons.left, comparisons.right, comparisons.won
        from scipy.optimize import minimize

        def loss(scores: np.ndarray) -> tuple[float, np.ndarray]:
            margin = scores[left] - scores[right]
            value = weight @ (np.logaddexp(0, margin) - won * margin)
            slope = weight * (1 / (1 + np.exp(-margin)) - won)
            gradient = np.bincount(left, slope, n) - np.bincount(right, slope, n)
            return value + self.penalty * scores @ scores, gradient + 2 * self.penalty * scores

        first = np.zeros(n) if start is None else start
        options = {"maxiter": 5000, "gtol": 1e-9, "ftol": 1e-15}
        scores = minimize(loss, first, jac=True, method="L-BFGS-B", options=options).x
        return np.asarray(scores - scores.mean())


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
