"""Two models' distances from people -> how much nearer one is, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dissensus.evaluation import Difference, over_both, over_items
from dissensus.papers.framework.verdicts import short
from dissensus.papers.seedbert.figures import Figures


def over(mine: np.ndarray, theirs: np.ndarray, groups: np.ndarray) -> Difference:
    """Of fits and items, or of items where there is one repetition."""
    return (over_both if len(mine) > 1 else over_items)(mine, theirs, groups=groups)


def nearer(
    found: Figures,
    mine: tuple[str, str],
    theirs: tuple[str, str],
    *distances: str,
    n_members: int | None = None,
) -> dict[str, Difference]:
    """How much farther one model's read-out is from people than another's: below 0 is nearer.

    Args:
        n_members: only so many of the other one's first members.
    """
    repeats = found.shared(mine[0], theirs[0])
    return {
        name: over(
            found.scores(*mine, name, repeats),
            found.scores(*theirs, name, repeats, n_members),
            found.items.groups,
        )
        for name in distances
        if repeats
    }


def told(tests: Mapping[str, Difference]) -> dict[str, Any]:
    """What tables say of them."""
    return {name: short(test) for name, test in tests.items()}
