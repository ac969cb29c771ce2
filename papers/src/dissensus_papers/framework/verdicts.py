"""What tables and claims say of a difference: an interval, a p, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.evaluation.fit import number
from dissensus.evaluation.significance.difference import p_text

Report = dict[str, Any]
Claim = tuple[
    str, Callable[[Report], str]
]  # the claim, and a function from the report to a verdict
LEVEL, UNKNOWN, UNTESTED = 0.05, "not shown", "not tested"
BEYOND = "Beyond the paper: "  # begins a claim that the paper does not make


@dataclass(frozen=True)
class BetterThan:
    """The claim that one model has a better score than another; it is tested in every condition.

    Args:
        claim: as the paper states it.
        conditions: names of those that it is tested in; if empty, all that count and have both
            models.
        question: the first of each condition if None; also the name of a density reading, which may
            begin with its bracket ("(soft)") if the questions differ between conditions.
        second_question: of the second model, if it differs: two readings of densities are compared.
    """

    claim: str
    first: str
    second: str
    metric: str
    conditions: tuple[str, ...] = ()
    question: str | None = None
    second_question: str | None = None


def holds(test: Report, sign: int = 1) -> str:
    """Whether a difference is significant, in which direction, and whether only uncorrected.

    Args:
        sign: -1 if the claim is that the difference is below 0.
    """
    if np.isnan(number(test["p"])):
        return UNTESTED
    words = "holds" if sign * number(test["effect"]) > 0 else "the reverse holds"
    if number(test["adjusted"]) <= LEVEL:
        return words
    return f"{words} only uncorrected" if number(test["p"]) <= LEVEL else UNKNOWN


def alone(test: Report, what: str = "repetition") -> str:
    """A note where a difference was tested over the items of a single run."""
    return f", one {what}" * (test["n_runs"] == 1)


def interval(test: Report, times: float = 1, digits: int = 4) -> str:
    """A difference with its interval, or the reason why it has none."""
    effect, low, high = (times * number(test[name]) for name in ("effect", "low", "high"))
    if np.isnan(low):
        return f"{effect:+.{digits}f} ({test.get('reason', '')})"
    return f"{effect:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def points(test: Report, what: str = "repetition") -> str:
    """A difference of shares in points, with its interval and corrected p."""
    p = f", p {p_text(number(test['adjusted']))}{alone(test, what)}"
    return f"{interval(test, 100, 2)}{p * (not np.isnan(number(test['low'])))}"


def spread(scores: Sequence[float], digits: int = 2) -> str:
    """The standard deviation over runs, behind a mean; nothing of a single run."""
    return f" +- {np.std(scores, ddof=1):.{digits}f}" if len(scores) > 1 else ""


def claims_text(report: Report, claims: Iterable[Claim], unknown: str = "") -> str:
    """Each claim with its verdict, a line each.

    Args:
        unknown: the verdict on a claim that was not tested yet; if empty, the claim is left out.
    """
    verdicts = [(claim, verdict(report) or unknown) for claim, verdict in claims]
    lines = [f"- {claim}: {text}" for claim, text in verdicts if text]
    return "\n".join(["Claims", *lines]) if lines else ""
