"""Confidence intervals: how much a measure would vary with other items, or other annotators.

A jackknife leaves out one item after another. It does not work where few items decide: how much a
measure varies cannot be read from items that all look alike, because all agree, or none has two
answers of a rare value. There, a score interval takes its place: the values under which these
answers are no surprise. Other crowds are imagined, in which a share of the items is replaced by
items with answers drawn by chance, or by items on which all agree. The ends of the interval are the
values of the crowds whose tables vary just enough to give the value that was found. For the share
of items on which two annotators agree it is Wilson's interval, with Student's t.

Reference: Wilson (1927), doi:10.1080/01621459.1927.10502953; for a kappa of two values, Donner and
Eliasziw (1992), doi:10.1002/sim.4780111109.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from dissensus.agreement.estimates import Estimate, OfSums, Summable
from dissensus.agreement.registry import Measure
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal

MOST_GROUPS = 1000  # of items, left out one group after another; for functions without a shortcut
RANK_GROUPS = 100  # likewise, for rank correlations
MOST_ANNOTATORS = 100  # or groups of them, likewise
ENOUGH = 50  # items that decide, for a jackknife of answers that repeat
MOST_CELLS = 1 << 22  # of counts over pairs of annotators and values, for a score interval
IMAGINED = 20, 200  # items of each kind: fewest and most
MOST_PAIRS = 200_000  # of answers to imagined items
MOST_VOTES = 1000  # of one row, for an imagined item
SMALLEST = 1e-9  # share of items that are replaced
PRECISE = 1e-4  # how exactly an end is found


class ConfidenceInterval(NamedTuple):
    """The two ends; both nan where there is no interval."""

    low: float
    high: float


NONE = ConfidenceInterval(math.nan, math.nan)


def interval_over_items(
    measure: Measure | Callable[[Annotations], float], annotations: Annotations, level: float = 0.95
) -> ConfidenceInterval:
    """How much a measure would vary with other items and the same annotators (`interval_of`).

    Any function that is no `Measure` has a symmetric jackknife interval; it is called without each
    item or, above 1,000 items, without each of 1,000 random groups of them; rank correlations are
    above 100 items, without each of 100.
    """
    if not 0 < level < 1:
        raise DataError(f"a level lies between 0 and 1, found {level:g}")
    if not isinstance(measure, Measure):
        function, bounds, n_groups = measure, (-math.inf, math.inf), MOST_GROUPS
    else:
        function, bounds, n_groups = measure.function, measure.bounds, RANK_GROUPS
        if measure.leaves_out:
            return interval_of(measure.prepare, annotations, bounds, level, measure.pair_counts)
    items = np.flatnonzero(annotations.per_item())
    value, without = function(annotations), _called(function, annotations, items, n_groups)
    return jackknife_from(value, Moments.of([without], value), bounds, level)


def interval_over_annotators(
    measure: Measure | Callable[[Annotations], float], annotations: Annotations, level: float = 0.95
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
    agree. Measures that are no sums over items, such as correlations, have jackknife intervals
    only. nan if fewer than two items have two annotators.

    Args:
        prepare: such as that of a `Measure`.
        bounds: the lowest and the highest value.
        of_pairs: for means over pairs of annotators, the same as sums of counts over items. Their
            bias, which is large if annotators share few items, makes the interval longer.
    """
    n = annotations.small_voters
    estimate = prepare(annotations)
    value = estimate.value()
    if math.isnan(value) or np.count_nonzero(n > 1) < 2:
        return NONE
    blocks: Iterable[tuple[slice, np.ndarray]]
    if isinstance(estimate, OfSums):  # of very many items, some at a time
        blocks = estimate.without_some()
    else:
        blocks = [(slice(None), estimate.without_each())]
    moments = Moments.of((without[n[items] > 0] for items, without in blocks), value)
    ends = None
    if not moments.n_deciding >= ENOUGH and _repeat(annotations):
        n_cells = (annotations.n_annotators * annotations.scale.n_columns) ** 2
        few = not annotations.repeats and n_cells <= MOST_CELLS
        if hasattr(estimate, "totals") if of_pairs is None else few:
            sums = cast(Callable[[Annotations], Summable], of_pairs or prepare)
            t, rises = _students_t(moments.n - 1, level), math.isfinite(bounds[1])
            ends = score_interval(sums, annotations, t, rises)
    if ends is None:
        return jackknife_from(value, moments, bounds, level, of_pairs is not None)
    low, high = ends if of_pairs is None else _stretched(*ends, moments)
    return _holding(value, low, high, bounds)


def _stretched(low: float, high: float, moments: Moments) -> tuple[float, float]:
    """The ends, farther away by the bias of a mean over pairs of annotators."""
    bias = (moments.n - 1) / moments.n * moments.sums
    return (low, high) if math.isnan(bias) else (low - max(bias, 0.0), high - min(bias, 0.0))


def _repeat(annotations: Annotations) -> bool:
    """Whether answers repeat: ratings do if 1 of 20 pairs of them are equal."""
    if not isinstance(annotations.scale, Interval):
        return True
    _, place = np.unique(annotations.answer, return_inverse=True)
    counts = np.bincount(place.reshape(-1), annotations.weight)
    return float((counts**2).sum() / counts.sum() ** 2) >= 0.05


class Moments(NamedTuple):
    """How the values of a measure without each item differ from its value, summed over items."""

    n: int
    sums: float
    squares: float
    fourths: float

    @classmethod
    def of(cls, without: Iterable[np.ndarray], value: float) -> Moments:
        """Of the values without each of some items, some more, and so on."""
        n, sums = 0, np.zeros(3)
        for part in without:
            deviations = part - value
            squares = deviations**2
            n, sums = n + len(part), sums + (deviations.sum(), squares.sum(), squares @ squares)
        return cls(n, *sums.tolist())

    @property
    def n_deciding(self) -> float:
        """How many items would differ as much in all if all differed alike; nan if none does."""
        return self.squares**2 / self.fourths if self.fourths > 0 else math.nan


def jackknife_of(
    estimate: Estimate, items: np.ndarray, bounds: tuple[float, float], level: float = 0.95
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
    return jackknife_from(value, Moments.of([estimate.without_each()[items]], value), bounds, level)


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
    measure: Callable[[Annotations], float],
    annotations: Annotations,
    items: np.ndarray,
    n_groups: int,
) -> np.ndarray:
    """The measure without each item, or without each group of items."""
    shuffled = np.random.default_rng(0).permutation(items)
    kept = np.ones(annotations.n_items, dtype=bool)
    values = []
    for group in np.array_split(shuffled, min(len(items), n_groups)) if len(items) else []:
        kept[group] = False
        values.append(measure(annotations.take(kept[annotations.item])))
        kept[group] = True
    return np.array(values)


# ---- score intervals ----


def score_interval(
    prepare: Callable[[Annotations], Summable],
    annotations: Annotations,
    t: float,
    rises_with_agreement: bool = True,
) -> tuple[float, float] | None:
    """The two ends; None where answers do not vary even if they are drawn by chance.

    Args:
        t: how many standard errors the value is away from an end, as they are in the crowd whose
            value that end is.
    """
    crowds = _Crowds.of(prepare, annotations)
    if not crowds.with_share(crowds.chance, 1.0).error > 0:
        return None
    sign = 1 if rises_with_agreement else -1
    ends = _end(crowds, crowds.chance, -sign, t), _end(crowds, crowds.agreed, sign, t)
    return min(ends), max(ends)


class _Crowd(NamedTuple):
    """The value of a crowd, and its standard error in tables with as many items."""

    value: float
    error: float


class _Part(NamedTuple):
    """Some items of a table, each with the weight that makes them as many as are replaced."""

    weight: np.ndarray  # (n_items,)
    totals: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class _Crowds:
    """A table with imagined items, of which each crowd has more or fewer."""

    estimate: Summable
    single: _Part  # items of one annotator, which stay
    several: _Part  # which are replaced
    chance: _Part
    agreed: _Part

    @classmethod
    def of(cls, prepare: Callable[[Annotations], Summable], annotations: Annotations) -> _Crowds:
        n = annotations.voters()
        several = n[n > 1].astype(float)
        n_imagined = int(np.clip(MOST_PAIRS / (several * (several - 1) / 2).mean(), *IMAGINED))
        imagined = ImaginedItems(annotations.take(n[annotations.item] > 1))
        tables = annotations, imagined.chance(n_imagined), imagined.agreed(n_imagined)
        estimate = prepare(one_table(*tables))
        weights = np.zeros((4, len(n) + 2 * n_imagined))
        weights[0, : len(n)], weights[1, : len(n)] = n == 1, n > 1
        weights[2, len(n) : -n_imagined] = weights[3, -n_imagined:] = len(several) / n_imagined
        return cls(estimate, *(_Part(weight, estimate.totals(weight)) for weight in weights))

    def with_share(self, imagined: _Part, share: float) -> _Crowd:
        """The crowd in which this share of the items of several annotators is replaced."""
        single, several = self.single, self.several
        weight = single.weight + (1.0 - share) * several.weight + share * imagined.weight
        totals = [
            stay + (1.0 - share) * left + share * more
            for stay, left, more in zip(single.totals, several.totals, imagined.totals, strict=True)
        ]
        value, without = self.estimate.value(totals), self.estimate.without_each(totals)
        weight, without = weight[weight > 0], without[weight > 0]
        if np.isnan(without).any():
            return _Crowd(value, math.inf)
        n = weight.sum()
        squares = weight @ (without - weight @ without / n) ** 2
        return _Crowd(value, math.sqrt((n - 1) / n * squares))


def _end(crowds: _Crowds, imagined: _Part, sign: int, t: float) -> float:
    """The value of the crowd that is just no surprise; `sign` is 1 for an upper end, else -1."""
    observed, last = crowds.with_share(imagined, 0.0), crowds.with_share(imagined, 1.0)

    def is_surprise(crowd: _Crowd) -> bool:
        return sign * (observed.value - crowd.value) < -t * crowd.error

    if not is_surprise(last):  # beyond chance: as far as chance varies
        errors = [crowd.error for crowd in (observed, last) if math.isfinite(crowd.error)]
        return observed.value + sign * t * max(errors, default=math.inf)
    near, far = observed, last
    low, high = SMALLEST, 1.0
    while abs(far.value - near.value) > PRECISE and high > 1.001 * low:
        share = math.sqrt(low * high)
        crowd = crowds.with_share(imagined, share)
        if is_surprise(crowd):
            far, high = crowd, share
        else:
            near, low = crowd, share
    return far.value


@dataclass(frozen=True, eq=False)
class ImaginedItems:
    """Items like those of a table, answered by the same annotators, with other answers.

    Values are drawn with the square roots of their counts. As often as they were given, rare values
    would hardly be drawn; all alike, they would not stay rare.
    """

    annotations: Annotations

    def chance(self, n: int) -> Annotations:
        """n items whose answers are drawn independently."""
        rows, item = self._rows(n)
        table = self.annotations.take(rows)
        if table.count is not None:
            times = np.minimum(table.count, MOST_VOTES)
            table, item = table.take(np.repeat(np.arange(len(rows)), times)), np.repeat(item, times)
            table = replace(table, count=np.ones_like(item))
        return replace(table, item=item, answer=self._drawn(len(item)), items=Names.range(n))

    def agreed(self, n: int) -> Annotations:
        """n items with one answer each, given by all."""
        rows, item = self._rows(n)
        answer = self._drawn(n)[item]
        return replace(self.annotations.take(rows), item=item, answer=answer, items=Names.range(n))

    def _rows(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows of n items, from all over the table, and the new code of each row's item."""
        order = np.argsort(self.annotations.item, kind="stable")
        items, begin, size = np.unique(
            self.annotations.item[order], return_index=True, return_counts=True
        )
        chosen = np.arange(n) * len(items) // n
        item = np.repeat(np.arange(n), size[chosen])
        within = np.arange(len(item)) - (np.cumsum(size[chosen]) - size[chosen])[item]
        return order[begin[chosen][item] + within], item

    def _drawn(self, n: int) -> np.ndarray:
        """n values, each as often as it should be, in random order."""
        values, share = self._shares
        place = np.searchsorted(np.cumsum(share), (np.arange(n) + 0.5) / n * share.sum())
        return np.asarray(values[np.random.default_rng(0).permutation(place)])

    @cached_property
    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """The values, and how often each is to be drawn, (n_values,) each."""
        scale, answer = self.annotations.scale, self.annotations.answer
        if isinstance(scale, Nominal | Ordinal):
            values = np.arange(scale.n_columns, dtype=answer.dtype)
        else:
            other = [0, 1] if isinstance(scale, MultiLabel) else []
            values = np.unique(np.r_[answer, np.array(other, dtype=answer.dtype)])
        place, weight = np.searchsorted(values, answer), self.annotations.weight
        return values, np.sqrt(np.bincount(place, weight, minlength=len(values)) + 1)


def one_table(*tables: Annotations) -> Annotations:
    """The items of several tables, one table after another."""
    first = np.cumsum([0, *(table.n_items for table in tables)])
    item = [table.item + begin for table, begin in zip(tables, first, strict=False)]

    def column(name: str) -> np.ndarray | None:
        parts = [getattr(table, name) for table in tables]
        return None if parts[0] is None else np.concatenate(parts)

    return Annotations(
        np.concatenate(item),
        column("annotator"),
        np.concatenate([table.answer for table in tables]),
        tables[0].scale,
        Names.range(int(first[-1])),
        tables[0].annotators,
        count=column("count"),
        repeats=tables[0].repeats,
    )
