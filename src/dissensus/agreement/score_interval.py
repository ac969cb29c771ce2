"""Intervals where few items decide: the values under which these answers are no surprise.

How much a measure varies cannot be read from items that all look alike: all agree, or none has two
answers of a rare value. So other crowds are imagined, in which a share of the items is replaced by
items with answers drawn by chance, or by items on which all agree. The ends of the interval are the
values of the crowds whose tables vary just enough to give the value that was found. This is a score
interval: for the share of items on which two annotators agree it is Wilson's, with Student's t.

Reference: Wilson (1927), doi:10.1080/01621459.1927.10502953; for a kappa of two values, Donner and
Eliasziw (1992), doi:10.1002/sim.4780111109.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dissensus.agreement.measure import Summable
from dissensus.annotations import Annotations
from dissensus.names import Names
from dissensus.scales import MultiLabel, Nominal, Ordinal

IMAGINED = 20, 200  # items of each kind: fewest and most
MOST_PAIRS = 200_000  # of answers to imagined items
MOST_VOTES = 1000  # of one row, for an imagined item
SMALLEST = 1e-9  # share of items that are replaced
PRECISE = 1e-4  # how exactly an end is found


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
        estimate = prepare(joined(*tables))
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
    found, last = crowds.with_share(imagined, 0.0), crowds.with_share(imagined, 1.0)

    def is_surprise(crowd: _Crowd) -> bool:
        return sign * (found.value - crowd.value) < -t * crowd.error

    if not is_surprise(last):  # beyond chance: as far as chance varies
        errors = [crowd.error for crowd in (found, last) if math.isfinite(crowd.error)]
        return found.value + sign * t * max(errors, default=math.inf)
    near, far = found, last
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
        scale, answer, weight = (
            self.annotations.scale,
            self.annotations.answer,
            self.annotations.weight,
        )
        if isinstance(scale, Nominal | Ordinal):
            values = np.arange(scale.n_columns, dtype=answer.dtype)
        else:
            other = [0, 1] if isinstance(scale, MultiLabel) else []
            values = np.unique(np.r_[answer, np.array(other, dtype=answer.dtype)])
        counts = np.bincount(np.searchsorted(values, answer), weight, minlength=len(values))
        return values, np.sqrt(counts + 1)


def joined(*tables: Annotations) -> Annotations:
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
