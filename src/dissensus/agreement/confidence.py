"""Confidence intervals: how much a measure would vary with other items, or other annotators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from dissensus.agreement.measure import Estimate, Measure, Summable
from dissensus.agreement.score_interval import score_interval
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval

MOST_GROUPS = 1000  # of items, left out one group after another; for functions without a shortcut
MOST_ANNOTATORS = 100  # or groups of them, likewise
ENOUGH = 50  # items that decide, for a jackknife of answers that repeat
MOST_CELLS = 1 << 22  # of counts over pairs of annotators and values, for a score interval


class ConfidenceInterval(NamedTuple):
    """The two ends; both nan where there is no interval."""

    low: float
    high: float


NONE = ConfidenceInterval(math.nan, math.nan)


def interval_over_items(
    measure: Measure | Callable[[Annotations], float],
    annotations: Annotations,
    level: float = 0.95,
) -> ConfidenceInterval:
    """How much a measure would vary with other items and the same annotators (`interval_of`).

    Any function that is no `Measure` has a symmetric jackknife interval; it is called without each
    item or, above 1,000 items, without each of 1,000 random groups of them.
    """
    check_level(level)
    if isinstance(measure, Measure):
        of_pairs = measure.prepare_block if measure.by_pairs else None
        return interval_of(measure.prepare, annotations, measure.bounds, level, of_pairs)
    items = np.flatnonzero(annotations.per_item())
    value, without = measure(annotations), _called(measure, annotations, items)
    return jackknife_from(value, Moments.of(without - value), (-math.inf, math.inf), level)


def interval_over_annotators(
    measure: Measure | Callable[[Annotations], float],
    annotations: Annotations,
    level: float = 0.95,
) -> ConfidenceInterval:
    """How much a measure would vary with other items and as many other annotators.

    A jackknife leaves out one annotator after another or, above 100 annotators, one of 100 random
    groups after another; Student's t has one degree of freedom less. How far its interval and
    `interval_over_items` reach are added as the legs of a right triangle. What varies with both
    annotators and items is counted twice, so the interval is rather too wide than too narrow. nan
    if there are fewer than three annotators, or the measure is undefined without one of them.

    Reference: Owen (2007), The pigeonhole bootstrap, doi:10.1214/07-AOAS122, on two ways to vary;
    Zou and Donner (2008), doi:10.1002/sim.3095, on adding intervals.
    """
    function = measure.function if isinstance(measure, Measure) else measure
    bounds = measure.bounds if isinstance(measure, Measure) else (-math.inf, math.inf)
    over_items = interval_over_items(measure, annotations, level)
    codes = annotations.annotator_codes("an interval over annotators")
    active = np.random.default_rng(0).permutation(np.unique(codes))
    if len(active) < 3 or math.isnan(over_items.low):
        return NONE
    n = min(len(active), MOST_ANNOTATORS)
    groups = np.array_split(active, n)
    without = np.array([function(annotations.take(~np.isin(codes, group))) for group in groups])
    if np.isnan(without).any():
        return NONE
    value = function(annotations)
    half = math.sqrt((n - 1) * float(without.var())) * _students_t(n - 1, level)
    low, high = _on_log_odds(value, half, bounds)
    low = value - math.hypot(value - low, value - over_items.low)
    high = value + math.hypot(high - value, over_items.high - value)
    return _holding(value, low, high, bounds)


def interval_of(
    prepare: Callable[[Annotations], Estimate],
    annotations: Annotations,
    bounds: tuple[float, float] = (-1.0, 1.0),
    level: float = 0.95,
    of_pairs: Callable[[Annotations], Estimate] | None = None,
) -> ConfidenceInterval:
    """The interval over items of a measure that is prepared to leave out items.

    A jackknife (`jackknife_of`), or a score interval (`score_interval`) if fewer than 50 items
    decide and answers repeat: then how much a measure varies is hardly known, and 0 where all
    agree. Measures that are no sums over items, such as rank correlations, have jackknife intervals
    only. nan if fewer than two items have two annotators.

    Args:
        prepare: such as that of a `Measure`.
        bounds: the lowest and the highest value.
        of_pairs: for means over pairs of annotators, the same as sums of counts over items. Their
            bias, which is large if annotators share few items, makes the interval longer.
    """
    n, estimate = annotations.voters(), prepare(annotations)
    value, items = estimate.value(), np.flatnonzero(n)
    if math.isnan(value) or np.count_nonzero(n > 1) < 2:
        return NONE
    moments = Moments.of(estimate.without_each()[items] - value)
    ends = None
    if not moments.n_deciding >= ENOUGH and _repeat(annotations):
        is_sum = hasattr(estimate, "totals") if of_pairs is None else _can_be_counted(annotations)
        if is_sum:
            sums = cast(Callable[[Annotations], Summable], of_pairs or prepare)
            t, rises = _students_t(len(items) - 1, level), math.isfinite(bounds[1])
            ends = score_interval(sums, annotations, t, rises)
    if ends is None:
        return jackknife_from(value, moments, bounds, level, of_pairs is not None)
    low, high = ends if of_pairs is None else _stretched(*ends, moments)
    return _holding(value, low, high, bounds)


def _stretched(low: float, high: float, moments: Moments) -> tuple[float, float]:
    """The ends, farther away by the bias of a mean over pairs of annotators."""
    bias = (moments.n - 1) / moments.n * moments.sums
    return (low, high) if math.isnan(bias) else (low - max(bias, 0.0), high - min(bias, 0.0))


def _can_be_counted(annotations: Annotations) -> bool:
    """Whether the answers of all pairs of annotators are few enough to be counted."""
    n_cells = (annotations.n_annotators * annotations.scale.n_columns) ** 2
    return not annotations.repeats and n_cells <= MOST_CELLS


def _repeat(annotations: Annotations) -> bool:
    """Whether answers repeat: ratings do if 1 of 20 pairs of them are equal."""
    if not isinstance(annotations.scale, Interval):
        return True
    _, place = np.unique(annotations.answer, return_inverse=True)
    counts = np.bincount(place.reshape(-1), annotations.weight)
    return float((counts**2).sum() / counts.sum() ** 2) >= 0.05


def check_level(level: float) -> None:
    """Refuse a level such as 95."""
    if not 0 < level < 1:
        raise DataError(f"a level lies between 0 and 1, found {level:g}")


class Moments(NamedTuple):
    """How the values of a measure without each item differ from its value, summed over items."""

    n: int
    sums: float
    squares: float
    fourths: float

    @classmethod
    def of(cls, deviations: np.ndarray) -> Moments:
        squares = deviations**2
        sums = (deviations.sum(), squares.sum(), squares @ squares)
        return cls(len(deviations), *(float(part) for part in sums))

    @property
    def n_deciding(self) -> float:
        """How many items would differ as much in all if all differed alike; nan if none does."""
        return self.squares**2 / self.fourths if self.fourths > 0 else math.nan


def jackknife_of(
    estimate: Estimate,
    items: np.ndarray,
    bounds: tuple[float, float],
    level: float = 0.95,
) -> ConfidenceInterval:
    """The jackknife of an estimate: leave out one of these items (codes) after another.

    The standard error comes from how much the measure changes. The width is that of Student's t
    with as many degrees of freedom as the standard error has, which a few items that change more
    than others make fewer. The interval is symmetric on the scale of the log odds between the
    bounds, because a measure varies less the nearer it is to a bound. If leaving out changes
    nothing and the value is the highest there is, the lower end is the value if as many items as
    may well be missing from these (the exact binomial bound) were answered by chance, at 0.

    Reference: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11.
    """
    value = estimate.value()
    return jackknife_from(value, Moments.of(estimate.without_each()[items] - value), bounds, level)


def jackknife_from(
    value: float,
    moments: Moments,
    bounds: tuple[float, float],
    level: float = 0.95,
    of_pairs: bool = False,
) -> ConfidenceInterval:
    """`jackknife_of` from what leaving out each of the items changes.

    Args:
        of_pairs: whether it is a mean over pairs of annotators, which may be biased.
    """
    n, most = moments.n, bounds[1]
    if n < 2 or math.isnan(value) or math.isnan(moments.squares):
        return NONE
    error = math.sqrt((n - 1) / n * max(moments.squares - moments.sums**2 / n, 0.0))
    if error < 1e-12:
        if not value > most - 1e-9:
            return NONE
        missed = 1.0 - ((1.0 - level) / 2) ** (1.0 / n)
        return ConfidenceInterval(min(value, most * (1.0 - missed)), max(value, most))
    uneven = n / moments.n_deciding - 1.0
    df = max(1.0, 2 * (n - 1) / uneven) if uneven > 2 else n - 1
    half = error * _students_t(df, level)
    low, high = _on_log_odds(value, half, bounds)
    if of_pairs:
        low, high = _stretched(low, high, moments)
    return _holding(value, low, high, bounds)


def _students_t(df: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


def _on_log_odds(value: float, half: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """value - half and value + half, on the scale of the log odds between those bounds there are.

    One bound alone has the logarithm of the distance from it; none has no other scale.
    """
    below, above = value - bounds[0], bounds[1] - value
    if not (below > 0 and above > 0):
        return value - half, value + half
    factor = math.exp(min(half / below + half / above, 700.0))  # 1 / inf is 0
    if math.isinf(below) and math.isinf(above):
        return value - half, value + half
    if math.isinf(below):
        return bounds[1] - above * factor, bounds[1] - above / factor
    if math.isinf(above):
        return bounds[0] + below / factor, bounds[0] + below * factor
    whole = below + above  # odds / (1 + odds) of it, for factor times the odds or one factor-th
    return (
        bounds[0] + whole * below / (below + above * factor),
        bounds[1] - whole * above / (above + below * factor),
    )


def _holding(
    value: float, low: float, high: float, bounds: tuple[float, float]
) -> ConfidenceInterval:
    """The ends within the bounds, not beyond the value."""
    if math.isnan(low) or math.isnan(high):
        return NONE
    return ConfidenceInterval(min(value, max(low, bounds[0])), max(value, min(high, bounds[1])))


def _called(
    measure: Callable[[Annotations], float], annotations: Annotations, items: np.ndarray
) -> np.ndarray:
    """The measure without each item, or without each group of items."""
    shuffled = np.random.default_rng(0).permutation(items)
    kept = np.ones(annotations.n_items, dtype=bool)
    values = []
    for group in np.array_split(shuffled, min(len(items), MOST_GROUPS)) if len(items) else []:
        kept[group] = False
        values.append(measure(annotations.take(kept[annotations.item])))
        kept[group] = True
    return np.array(values)
