"""How far apart two answers are: values by named weights or as given, levels, ratings, sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from dissensus.errors import DataError, did_you_mean, listed
from dissensus.scales import Interval, Nominal, Ordinal, Scale, set_sizes

NamedWeights = Literal[
    "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
]
Weights = NamedWeights | np.ndarray | None


MOST_VALUES = 7_000  # that all pairs of are compared: 2 GB with all that is computed from them


def unequal(n_values: int) -> np.ndarray:
    """1 for different values, 0 for the same, (n_values, n_values); too many are refused."""
    if n_values > MOST_VALUES:
        raise DataError(
            f"agreement compares all pairs of values, {n_values:,} are more than {MOST_VALUES:,}; "
            "are these answers free texts? Choose other questions (--question), or use fewer values"
        )
    return 1.0 - np.eye(n_values)


def disagreement(weights: Weights, scale: Scale, what: str) -> np.ndarray:
    """How much two values disagree, (n_values, n_values): 0 for a value with itself, at most 1.

    Args:
        weights: None or "identity": any two values disagree fully. "linear": by the steps between
            two levels; "quadratic": by their square; "radical": by their root. "ordinal": by the
            pairs of levels between them. "circular": the last level is next to the first.
            "bipolar": steps count more near the ends of the scale. "ratio": by the difference of
            two positions divided by their sum. An array: by these distances, 0 on the diagonal.
        what: the measure that asks, for messages.

    Example:
        >>> disagreement("linear", Ordinal(("low", "mid", "high")), "kappa").tolist()
        [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]

    Reference: Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 3.
    """
    if not isinstance(scale, Nominal | Ordinal):
        raise DataError(f"{what} needs nominal or ordinal answers, not {scale.kind}")
    n = len(scale)
    if weights is None:
        return unequal(n)
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
    if weights not in NAMED:
        raise DataError(
            f"no weights {weights!r}{did_you_mean(weights, NAMED)}; there are {listed(NAMED)}"
        )
    if weights != "identity" and isinstance(scale, Nominal):
        raise DataError(
            f"{weights} weights count steps between levels, and nominal values have no order; "
            "declare an ordinal scale, or give the distances as an array"
        )
    level = np.arange(len(scale), dtype=float)
    if weights == "ratio":
        level = np.array(getattr(scale, "positions", level))
        if level[0] < 0:
            raise DataError(
                f"ratio weights need levels that are not negative, found {scale.values[0]}; use "
                "linear or quadratic"
            )
    return NAMED[weights](level[:, None], level[None], len(scale))


def _ratio(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(((a - b) / np.where(a + b > 0, a + b, 1)) ** 2)


def _bipolar(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    ends = (a + b) * (2 * (n - 1) - (a + b))
    return np.asarray((a - b) ** 2 / np.where(ends > 0, ends, 1))


NAMED: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "identity": lambda a, b, n: 1.0 - (a == b),
    "linear": lambda a, b, n: np.abs(a - b),
    "quadratic": lambda a, b, n: (a - b) ** 2,
    "ordinal": lambda a, b, n: np.abs(a - b) * (np.abs(a - b) + 1) / 2,
    "radical": lambda a, b, n: np.sqrt(np.abs(a - b)),
    "ratio": _ratio,
    "circular": lambda a, b, n: np.sin(np.pi * (a - b) / n) ** 2,
    "bipolar": _bipolar,
}


def numbers(scale: Scale, answer: np.ndarray, what: str) -> np.ndarray:
    """Answers as numbers: ratings as they are, levels by their position on the scale."""
    if isinstance(scale, Ordinal):
        return np.array(scale.positions)[answer]
    if scale.kind != "interval":
        raise DataError(f"{what} needs ratings or levels, not {scale.kind} answers")
    return np.asarray(answer, dtype=float)


def middle(scale: Scale) -> float:
    """The number in the middle of a scale of ratings or levels."""
    if isinstance(scale, Interval):
        return (scale.low + scale.high) / 2
    return float(np.mean(numbers(scale, np.arange(scale.n_columns), "a middle")))


def masi_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """1 - Jaccard index x monotonicity of two sets, given as bit masks; 0 to 1.

    Monotonicity is 1 for equal sets, 2/3 if one holds the other, 1/3 if they overlap, 0 if they
    have nothing in common; two empty sets are equal.

    Example:
        >>> joy, fear, both = 1, 2, 3
        >>> masi_distance(np.array([joy, joy, joy, 0]), np.array([joy, fear, both, 0])).round(4)
        array([0.    , 1.    , 0.6667, 0.    ])

    Reference: Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and
    pragmatic annotation.
    """
    a, b = np.broadcast_arrays(a, b)
    shared, either = a & b, a | b
    jaccard = set_sizes(shared) / np.maximum(set_sizes(either), 1)
    holds = (shared == a) | (shared == b)
    monotone = np.where(holds, 2 / 3, 1 / 3)  # where nothing is shared, Jaccard is 0
    return np.where(a == b, 0.0, 1.0 - jaccard * monotone)
