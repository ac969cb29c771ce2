"""p-values of several tests, corrected for how many there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Corrected so that 5 % of families at most have one below 0.05 that should not be.

    nan stays nan and is no test.

    Example:
        >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
        [0.03, 0.06, nan, 0.06]

    Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    p_values = np.asarray(p_values, dtype=float)
    corrected = np.full(p_values.shape, np.nan)
    order = np.argsort(p_values)[: np.count_nonzero(~np.isnan(p_values))]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def false_discovery(p_values: np.ndarray) -> np.ndarray:
    """Corrected so that of those below 0.05, 5 % at most are expected not to be.

    If none should be, 5 % of families at most have one. nan stays nan and is no test.

    Example:
        >>> false_discovery(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
        [0.03, 0.04, nan, 0.04]

    Reference: Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    from scipy.stats import false_discovery_control  # slow to import

    corrected, defined = np.full(p_values.shape, np.nan), ~np.isnan(p_values)
    corrected[defined] = false_discovery_control(p_values[defined])
    return corrected
