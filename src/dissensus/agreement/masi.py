"""MASI: how far apart two sets of values are."""

from __future__ import annotations

import numpy as np

from dissensus.scales import set_sizes


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
