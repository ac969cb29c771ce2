"""What papers' tables say in a cell: differences, spreads, and whether something holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.evaluation import Difference
from dissensus.evaluation.fit import number

LEVEL, UNKNOWN = 0.05, "not shown"


def short(difference: Difference) -> dict[str, Any]:
    """What tables say of a difference."""
    names = ("test", "effect", "low", "high", "p", "adjusted", "n_runs", "n_groups", "reason")
    return {name: getattr(difference, name) for name in names}


def holds(found: dict[str, Any]) -> str:
    """Whether a difference is above 0 beyond doubt, or below; or would be, were it the only one."""
    words = "holds" if number(found["effect"]) > 0 else "the reverse holds"
    if number(found["adjusted"]) <= LEVEL:
        return words
    return f"{words} only uncorrected" if number(found["p"]) <= LEVEL else UNKNOWN


def alone(found: dict[str, Any], what: str = "repetition") -> str:
    """A note where a difference was tested over the items of a single run."""
    return f", one {what}" * (found["n_runs"] == 1)


def spread(scores: Sequence[float], digits: int = 2) -> str:
    """The standard deviation over runs, behind a mean; nothing of a single run."""
    return f" +- {np.std(scores, ddof=1):.{digits}f}" if len(scores) > 1 else ""
