"""How far apart two values are: nominal, linear, quadratic, or as the caller says."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dissensus.errors import DataError
from dissensus.scales import Nominal, Ordinal, Scale

Weights = Literal["linear", "quadratic"] | np.ndarray | None


def disagreement(weights: Weights, scale: Scale, what: str) -> np.ndarray:
    """How much two values disagree, (n_values, n_values): 0 for a value with itself, at most 1.

    Args:
        weights: None: any two values disagree fully. "linear": by the steps between two levels.
            "quadratic": by their square. An array: by these distances, 0 on the diagonal.
        what: the measure that asks, for messages.

    Example:
        >>> disagreement("linear", Ordinal(("low", "mid", "high")), "kappa").tolist()
        [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    if not isinstance(scale, Nominal | Ordinal):
        raise DataError(f"{what} needs nominal or ordinal answers, not {scale.kind}")
    n = len(scale)
    if weights is None:
        return 1.0 - np.eye(n)
    if isinstance(weights, str):
        far = _by_steps(weights, scale)
    else:
        far = np.asarray(weights, dtype=float)
        if far.shape != (n, n) or np.diag(far).any() or not (far >= 0).all():
            raise DataError(
                f"the distance between {n} values is {n} x {n}, never negative, and 0 from a "
                f"value to itself; found {far.shape}"
            )
    return far / far.max() if far.any() else far


def _by_steps(weights: str, scale: Nominal | Ordinal) -> np.ndarray:
    if weights not in ("linear", "quadratic"):
        raise DataError(f"no weights {weights!r}; there are linear and quadratic")
    if isinstance(scale, Nominal):
        raise DataError(
            f"{weights} weights count steps between levels, and nominal values have no order; "
            "declare an ordinal scale, or give the distances as an array"
        )
    level = np.arange(len(scale), dtype=float)
    steps = np.abs(level[:, None] - level)
    return steps if weights == "linear" else steps**2


def differing(counts: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """How much each item's ordered pairs of answers disagree in sum, (n_items,).

    Args:
        counts: how many gave which value, (n_items, n_values).
        apart: how far apart two values are, (n_values, n_values).
    """
    if (apart == 1.0 - np.eye(len(apart))).all():
        return counts.sum(axis=1) ** 2 - np.einsum("iv,iv->i", counts, counts)
    return np.einsum("iv,iv->i", counts @ apart, counts)


def numbers(scale: Scale, answer: np.ndarray, what: str) -> np.ndarray:
    """Answers as numbers: ratings as they are, levels by their position on the scale."""
    if isinstance(scale, Ordinal):
        return np.array(scale.positions)[answer]
    if scale.kind != "interval":
        raise DataError(f"{what} needs ratings or levels, not {scale.kind} answers")
    return np.asarray(answer, dtype=float)
