"""Do 95 % intervals of agreement hold the value that a huge table has?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from cells import Cell

from dissensus import Annotations, Interval, Nominal, Ordinal
from dissensus.agreement import MEASURES, interval
from dissensus.names import Names
from dissensus.scales import Scale

HUGE = 100_000  # items, or a few thousand with many raters


@dataclass(frozen=True)
class Crowd:
    """Raters who answer all items, or `per_item` of them each; drawn anew if they are a sample."""

    n_items: int
    n_raters: int
    shares: tuple[float, ...] = ()  # of values; none: ratings
    accuracies: tuple[float, float] = (0.6, 0.95)  # from the first to the last rater
    per_item: int = 0
    sample: bool = False
    levels: bool = False  # ratings are levels
    skewed: bool = False  # ratings, and their errors, are exponential

    def drawn(self, generator: np.random.Generator, n_items: int, n_raters: int) -> Annotations:
        """A table; of a sample, the raters are others each time."""
        if self.sample:
            skill = generator.uniform(*self.accuracies, n_raters)
            lenient = generator.normal(0, 0.4, n_raters)
        else:
            skill = np.linspace(*self.accuracies, n_raters)
            lenient = np.linspace(-0.3, 0.3, n_raters)
        size = (n_items, n_raters)
        if self.shares:
            n_values = len(self.shares)
            truth = generator.choice(n_values, n_items, p=self.shares)[:, None]
            errors = (truth + generator.integers(1, n_values, size)) % n_values
            answers = np.where(generator.random(size) < skill, truth, errors)
            scale: Scale = Nominal(tuple("abcde"[:n_values]))
        else:
            noise: Any = generator.exponential if self.skewed else partial(generator.normal, 0.0)
            answers = noise(1.0, n_items)[:, None] + lenient + (2 - 1.8 * skill) * noise(1.0, size)
            scale = Interval(-100, 100)
            if self.levels:
                answers, scale = (
                    np.digitize(answers, [-1.2, -0.3, 0.3, 1.2]),
                    Ordinal(tuple("12345")),
                )
        per_item = self.per_item or n_raters
        raters = generator.random(size).argsort(axis=1)[:, :per_item]
        return Annotations.from_arrays(
            np.repeat(np.arange(n_items), per_item),
            raters.ravel(),
            np.take_along_axis(answers, raters, axis=1).ravel().astype(scale.dtype),
            scale,
            items=Names.range(n_items),
            annotators=Names.range(n_raters),
        )


@cache
def expected(crowd: Crowd, measure: str) -> float:
    """The value of a huge table in which all raters answer all items."""
    n_items, n_raters = (2_000, 300) if crowd.sample else (HUGE, crowd.n_raters)
    n_items = min(n_items, 2_000_000 // n_raters)
    dense = Crowd(**{**vars(crowd), "per_item": 0})
    return MEASURES[measure].function(dense.drawn(np.random.default_rng(7), n_items, n_raters))


def ends_of(measure: str, table: Annotations, sample: bool) -> tuple[float, float]:
    if sample:
        try:
            return interval(measure, table, over="raters")
        except TypeError:  # an older version has intervals over items only
            pass
    return interval(measure, table)


def holds(generator: np.random.Generator, crowd: Crowd, measure: str) -> float:
    table = crowd.drawn(generator, crowd.n_items, crowd.n_raters)
    if math.isnan(MEASURES[measure].function(table)):
        return math.nan
    low, high = ends_of(measure, table, crowd.sample)
    return math.nan if math.isnan(low) else float(low <= expected(crowd, measure) <= high)


def full_agreement(generator: np.random.Generator) -> float:
    """The lower end for 20 items on which two raters agree."""
    answer = np.repeat(generator.permutation(np.arange(20) % 2), 2)
    item, rater = np.repeat(np.arange(20), 2), np.tile([0, 1], 20)
    table = Annotations.from_arrays(item, rater, answer, Nominal(("a", "b")))
    return interval("krippendorff-alpha", table).low


RARE, VERY_RARE, FIVE = (0.9, 0.1), (0.97, 0.03), (0.5, 0.25, 0.15, 0.07, 0.03)
GOOD, FAIR = (0.93, 0.99), (0.83, 0.93)
SETTINGS: tuple[tuple[str, str, Crowd], ...] = (
    ("2 raters, 20 items, .5/.5", "percent", Crowd(20, 2, (0.5, 0.5), GOOD)),
    ("2 raters, 20 items, .9/.1", "krippendorff-alpha", Crowd(20, 2, RARE, GOOD)),
    ("2 raters, 20 items, .97/.03", "gwet-ac1", Crowd(20, 2, VERY_RARE, GOOD)),
    ("2 raters, 50 items, .97/.03", "krippendorff-alpha", Crowd(50, 2, VERY_RARE, GOOD)),
    ("2 raters, 50 items, .97/.03", "cohen-kappa", Crowd(50, 2, VERY_RARE, GOOD)),
    ("4 raters, 50 items, .97/.03", "krippendorff-alpha", Crowd(50, 4, VERY_RARE, FAIR)),
    ("4 raters, 200 items, .97/.03", "conger-kappa", Crowd(200, 4, VERY_RARE, GOOD)),
    ("3 raters, 20 items, 5 values", "fleiss-kappa", Crowd(20, 3, FIVE, GOOD)),
    ("4 of 30 raters, 300 items", "cohen-kappa", Crowd(300, 30, (0.5, 0.5), per_item=4)),
    ("3 raters, 20 items, 5 levels", "krippendorff-alpha", Crowd(20, 3, levels=True)),
    ("4 raters, 50 items, skewed", "krippendorff-alpha", Crowd(50, 4, skewed=True)),
    ("4 raters, 50 items, skewed", "icc2", Crowd(50, 4, skewed=True)),
)
NEW_RATERS: tuple[tuple[str, str, Crowd], ...] = (
    ("5 raters, 200 items", "krippendorff-alpha", Crowd(200, 5, (0.5, 0.5), sample=True)),
    ("3 of 10 raters, 200 items", "fleiss-kappa", Crowd(200, 10, RARE, per_item=3, sample=True)),
    ("8 raters, 100 items, ratings", "icc2", Crowd(100, 8, sample=True)),
)
CELLS = (
    *(
        Cell(
            name,
            f"interval of {measure} holds",
            "0.92 to 0.98",
            partial(holds, crowd=crowd, measure=measure),
        )
        for name, measure, crowd in SETTINGS
    ),
    *(
        Cell(
            f"{name}, for new raters",
            f"interval of {measure} holds",
            "0.90 to 0.98",
            partial(holds, crowd=crowd, measure=measure),
        )
        for name, measure, crowd in NEW_RATERS
    ),
    Cell("2 raters agree on 20 items", "lower end of alpha", "below 0.9", full_agreement),
)
