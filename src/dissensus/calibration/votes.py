"""Predicted shares that fit the votes for held-out items better."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.metric import distributions
from dissensus.prediction import Prediction
from dissensus.scales import Nominal, Ordinal

SMALLEST = 1e-6  # predicted share


@dataclass(eq=False)
class VoteCalibration:
    """Shares softmax(log(predicted shares) @ weights + shift), fitted to the votes for items that
    the method did not learn from: Dirichlet-Soft of Tao et al. (2026).

    It helps methods that learn one label for each item; those that learn every answer are rarely
    better with it. To promise a coverage, fit it to other items than `Conformal`.

    Args:
        penalty: of squared weights between different values, and of squared shifts.
    """

    penalty: float = 0.01
    weights_: np.ndarray = field(init=False, repr=False)  # (n_values, n_values)
    shift_: np.ndarray = field(init=False, repr=False)  # (n_values,)

    def fit(self, prediction: Prediction, answers: Annotations) -> Self:
        """Learn from the answers to the predicted items."""
        if not isinstance(prediction.scale, Nominal | Ordinal):
            raise DataError(
                f"shares of {prediction.scale.kind} answers are not calibrated to votes"
            )
        votes, shares = distributions(prediction, answers.to(prediction.scale))
        if not len(votes):
            raise DataError("no answers to calibrate on: none is to an item that is predicted")
        logs, n = _logs(shares), votes.shape[1]

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            self.weights_, self.shift_ = flat[n:].reshape(n, n), flat[:n]
            calibrated = self._calibrated(logs)
            slope = (np.exp(calibrated) - votes) / len(votes)
            between = self.weights_ * (1 - np.eye(n))
            value = -(votes * calibrated).sum() / len(votes)
            value += self.penalty * ((between**2).sum() + (self.shift_**2).sum())
            by_shift = slope.sum(axis=0) + 2 * self.penalty * self.shift_
            return value, np.r_[by_shift, (logs.T @ slope + 2 * self.penalty * between).ravel()]

        loss(minimize(loss, np.r_[np.zeros(n), np.eye(n).ravel()], jac=True, method="L-BFGS-B").x)
        return self

    def calibrated(self, prediction: Prediction) -> Prediction:
        """The prediction with calibrated shares of items; those of annotators stay as they are."""
        shares = np.exp(self._calibrated(_logs(prediction.distribution)))
        consensus = prediction.scale.consensus(shares).astype(prediction.scale.dtype)
        return replace(prediction, distribution=shares, consensus=consensus)

    def _calibrated(self, logs: np.ndarray) -> np.ndarray:
        return np.asarray(log_softmax(logs @ self.weights_ + self.shift_, axis=1))


def _logs(shares: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.maximum(shares, SMALLEST)))
