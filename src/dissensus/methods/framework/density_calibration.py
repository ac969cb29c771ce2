"""Choose how predicted ratings become a density: by the densities of the ratings of held-out items.

Predicted ratings are means, and differ less than ratings do. The published temperature is the same
for all corpora; here it, or a bandwidth, or the spread of the ratings, follows from the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dissensus.densities import Grid, RatingKde, cross_entropy, jsd, tvd
from dissensus.errors import ModelError
from dissensus.methods.framework.predicted_densities import PredictedRatings

Distance = Literal["cross-entropy", "tvd", "jsd"]
DISTANCES: dict[str, Callable[[Any, Any, Grid], Any]] = {
    "cross-entropy": cross_entropy,
    "tvd": tvd,
    "jsd": jsd,
}
LIMITS = {  # of each setting that can be chosen
    "temperature": (1.0, 1000.0),
    "bandwidth": (0.01, 2.0),
    "factor": (0.05, 20.0),
    "stretch": (0.05, 20.0),
    "noise": (0.05, 10.0),
    "shared": (0.0, 0.95),
    "correlation": (0.0, 0.95),
}
ADDED = ("shared", "correlation")  # steps are added to these; they multiply the others
FIRST_STEP, LAST_STEP = 1.0, 0.125  # of the search, as powers of 2; half as large if added
MOST_ITEMS = 256  # that are used, so that it takes seconds


@dataclass(frozen=True)
class CalibratedDensity:
    """The density that was chosen, and the mean distance on held-out items before and after."""

    kde: RatingKde
    before: float
    after: float

    def note(self, names: Sequence[str], by: Distance, n_items: int) -> str:
        values = ", ".join(f"{name} {getattr(self.kde, name):.3g}" for name in names)
        return (
            f"density calibrated on {n_items} items: {values} "
            f"({by} {self.after:.3f}, before {self.before:.3f})"
        )


def calibrated_settings(text: str) -> tuple[str, ...]:
    """The settings of a density in a text such as "bandwidth,noise"."""
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    wrong = [name for name in names if name not in LIMITS]
    if wrong:
        raise ModelError(
            f"calibrate must name settings of a density ({', '.join(LIMITS)}), not {wrong[0]!r}"
        )
    return names


def calibrate_density(
    kde: RatingKde,
    names: Sequence[str],
    predicted: PredictedRatings,
    target: np.ndarray,
    by: Distance = "cross-entropy",
) -> CalibratedDensity:
    """Choose settings of a density, with the lowest mean distance to the densities of the ratings.

    From the settings of `kde`, each is increased or reduced as long as the distance falls; then the
    steps become smaller.

    Args:
        names: the settings to choose.
        target: the density of the ratings of each item, (n_items, *grid.shape).
    """
    grid = Grid((kde.bins,) * (target.ndim - 1))
    if grid.n_dimensions == 1:
        names = [name for name in names if name != "correlation"]  # of two questions

    def distance(candidate: RatingKde) -> float:
        return float(DISTANCES[by](target, predicted.density(candidate), grid).mean())

    before = lowest = distance(kde)
    best, step = kde, FIRST_STEP
    while step >= LAST_STEP:
        moved = False
        for name in names:
            for direction in (step, -step):
                candidate = _moved(best, name, direction)
                if candidate != best and (score := distance(candidate)) < lowest:
                    best, lowest, moved = candidate, score, True
                    break
        step = step if moved else step / 2
    return CalibratedDensity(best, before, lowest)


def _moved(kde: RatingKde, name: str, step: float) -> RatingKde:
    value: float = getattr(kde, name)
    low, high = LIMITS[name]
    if name in ADDED:
        value += step / 2
    else:
        value = abs(step) / 2 if value == 0 else value * 2**step  # noise begins at 0
    changed: dict[str, Any] = {name: round(min(max(value, low), high), 6)}
    return replace(kde, **changed)
