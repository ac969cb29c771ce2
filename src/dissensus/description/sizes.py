"""How many answers there are for each item or annotator, and how many were left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.corpus import LeftOut


def reasons_of(left_out: Iterable[LeftOut], question: str) -> dict[str, int]:
    """How many answers to a question were left out, by reason."""
    reasons: dict[str, int] = {}
    for left in left_out:
        if left.question == question:
            reasons[left.reason] = reasons.get(left.reason, 0) + left.answers
    return reasons


def spread(sizes: np.ndarray, mean: bool) -> dict[str, float]:
    """Minimum, mean or median, and maximum; empty without sizes."""
    if not sizes.size:
        return {}
    middle = {"mean": float(sizes.mean())} if mean else {"median": float(np.median(sizes))}
    return {"min": int(sizes.min()), **middle, "max": int(sizes.max())}
