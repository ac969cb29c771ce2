"""What a test of significance answers, and Holm's correction over all that were made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """How much better the first method scores than the second, and how sure that is.

    `effect` is the first's score minus the second's; whether above 0 is good is the metric's
    matter. Where a figure is undefined it is nan and `reason` says why.

    Example:
        >>> found = Difference("items", 0.031, 0.012, 0.05, 0.0012, n_items=400, ties=322)
        >>> print(found)
        +0.031 [+0.012, +0.050], p = 0.001
    """

    test: str  # what was drawn anew: "items", "seeds", "seeds and items", ...
    effect: float
    low: float = NAN  # the ends of the interval
    high: float = NAN
    p: float = NAN  # two-sided, of no difference; not corrected
    level: float = 0.95  # of the interval
    n_items: int = 0  # compared
    n_groups: int = 0  # that the items fall into; as many as items where each stands alone
    n_runs: int = 1  # fits of each method on the same items
    ties: int = 0  # items (or runs, in a test over seeds) with exactly the same score
    adjusted: float = NAN  # p after Holm's correction over all comparisons made
    notes: tuple[str, ...] = ()
    reason: str = ""  # why the interval or p is undefined

    def __str__(self) -> str:
        """Effect with interval first, p second."""
        if math.isnan(self.effect):
            return f"undefined: {self.reason}"
        ends = "" if math.isnan(self.low) else f" [{self.low:+.3f}, {self.high:+.3f}]"
        if math.isnan(self.p):
            return f"{self.effect:+.3f}{ends}, no p: {self.reason}"
        corrected = not math.isnan(self.adjusted)
        shown = p_text(self.adjusted if corrected else self.p)
        return f"{self.effect:+.3f}{ends}, p {shown}{' (Holm)' if corrected else ''}"

    def answered(self, low: float, high: float, p: float, *notes: str) -> Difference:
        """The same with an interval and p."""
        return replace(self, low=low, high=high, p=p, notes=(*self.notes, *notes))

    def undefined(self, reason: str) -> Difference:
        """The same without an interval and p, and why."""
        return replace(self, reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """The fields for JSON; nan stays nan."""
        return asdict(self) | {"notes": list(self.notes)}


def p_text(p: float) -> str:
    """A p value for people, with the sign before it.

    Example:
        >>> p_text(0.0312), p_text(0.00002), p_text(float("nan"))
        ('= 0.031', '< 0.001', 'undefined')
    """
    if math.isnan(p):
        return "undefined"
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's adjusted p values: the chance of one false finding among all stays below the level.

    The smallest of m is multiplied by m, the next by m - 1 and so on; none is smaller than one
    before it, none above 1. Undefined ones (nan) stay undefined and count as no comparison.

    Example:
        >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
        [0.03, 0.06, 0.06]

    Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    given = np.asarray(p, dtype=float)
    adjusted = np.full(given.shape, NAN)
    defined = np.flatnonzero(~np.isnan(given))
    order = defined[np.argsort(given[defined], kind="stable")]
    factor = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * factor), 1)
    return adjusted


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """The same differences with `adjusted`: give all comparisons that were made at once."""
    adjusted = holm([difference.p for difference in differences])
    return [
        replace(difference, adjusted=float(p))
        for difference, p in zip(differences, adjusted, strict=True)
    ]
