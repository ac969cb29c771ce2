"""Difference: the result of a significance test; Holm's correction for many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dissensus.agreement import holm

NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """How much better the first method scores than the second, and how certain that is.

    `effect` is the score of the first minus that of the second; the metric determines whether a
    positive effect is good. What is undefined is nan, and `reason` says why.

    Example:
        >>> difference = Difference("items", 0.031, 0.012, 0.05, 0.0012, n_items=400, ties=322)
        >>> print(difference)
        +0.031 [+0.012, +0.050], p = 0.001
    """

    test: str  # what varies: "items", "seeds", "seeds and items", ...
    effect: float
    low: float = NAN  # the ends of the interval
    high: float = NAN
    p: float = NAN  # two-sided, of no difference; not corrected
    level: float = 0.95  # of the interval
    n_items: int = 0  # number of items compared
    n_groups: int = 0  # number of groups of items; n_items if each item is its own group
    n_runs: int = 1  # number of fits of each method on the same items
    ties: int = 0  # items (or runs, in a test over seeds) with exactly the same score
    adjusted: float = NAN  # p after Holm's correction over all comparisons
    notes: tuple[str, ...] = ()
    reason: str = ""  # why the interval or p is undefined
    of_seeds: float = NAN  # the variance of the effect over seeds, in a test over seeds and items
    of_items: float = NAN  # and over items

    def __str__(self) -> str:
        """Effect with interval first, p second."""
        if math.isnan(self.effect):
            return f"undefined: {self.reason}"
        if math.isnan(self.p):
            return f"{self.effect_text()}, no p: {self.reason}"
        corrected = not math.isnan(self.adjusted)
        shown = p_text(self.adjusted if corrected else self.p)
        return f"{self.effect_text()}, p {shown}{' (Holm)' if corrected else ''}"

    def effect_text(self) -> str:
        """The effect with its interval, if it has one."""
        ends = "" if math.isnan(self.low) else f" [{self.low:+.3f}, {self.high:+.3f}]"
        return f"{self.effect:+.3f}{ends}"

    def answered(self, low: float, high: float, p: float, *notes: str) -> Difference:
        """A copy with an interval and p."""
        return replace(self, low=low, high=high, p=p, notes=(*self.notes, *notes))

    def undefined(self, reason: str) -> Difference:
        """A copy without an interval and p, with the reason."""
        return replace(self, reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """The fields for JSON; nan stays nan."""
        return asdict(self) | {"notes": list(self.notes)}


def p_text(p: float) -> str:
    """A p value as text, with its sign.

    Example:
        >>> p_text(0.0312), p_text(0.00002), p_text(float("nan"))
        ('= 0.031', '< 0.001', 'undefined')
    """
    if math.isnan(p):
        return "undefined"
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """The differences with `adjusted` p; pass all comparisons at once."""
    adjusted = holm([difference.p for difference in differences])
    return [
        replace(difference, adjusted=float(p))
        for difference, p in zip(differences, adjusted, strict=True)
    ]
