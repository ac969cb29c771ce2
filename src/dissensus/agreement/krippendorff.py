"""Krippendorff's alpha: agreement beyond chance of any number of annotators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from dissensus.agreement.estimates import (
    BLOCK,
    UNKNOWN,
    Estimate,
    Formula,
    OfSums,
    Totals,
    differing,
    groups,
    linearised,
    own_by_values,
    own_disagreement,
    pairs_within,
    ratio,
    repeated_votes,
)
from dissensus.agreement.weights import (
    Weights,
    disagreement,
    masi_distance,
    middle,
    numbers,
    unequal,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Scale

Level = Literal["nominal", "ordinal", "interval", "ratio", "masi"]

Distance = np.ndarray | Callable[[np.ndarray, np.ndarray], np.ndarray]

MOST_DIFFERENT = 20_000  # answers to compare with one another, for a distance without a shortcut


def krippendorff_alpha(
    annotations: Annotations,
    distance: Distance | None = None,
    level: Level | None = None,
    weights: Weights = None,
) -> float:
    """Chance-corrected agreement of any number of annotators, missing answers allowed.

    1 is perfect agreement, 0 what chance gives, below 0 systematic disagreement; nan where
    undefined: no item has two annotators, or all paired answers are the same. Annotators need
    not be known, so anonymous answers and counts work. An annotator who answered an item twice
    is one annotator, half for each answer, and is not compared with himself.

    How far apart two answers are depends on the scale. Nominal: 0 or 1, or the scale's own
    `distance`. Ordinal: Krippendorff's ordinal metric, the squared number of answers between
    two levels. Interval: the squared difference. Multi-label: the MASI distance of two sets.

    Args:
        annotations: items with fewer than two annotators carry no information.
        distance: how far apart two answers are instead, taken as it is, so square it first where
            the squared distance is meant. Either between values, (n_values, n_values), or a
            function of two arrays of answers (codes, ratings or bit masks) that are broadcast
            against each other.
        level: read the answers on this level instead: levels or ratings as "interval" or "ratio"
            numbers, levels as "nominal".
        weights: compare levels by named weights instead, such as "linear".

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(krippendorff_alpha(Annotations.from_rows(rows)), 4)
        0.4444

    Reference: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; for sets,
    Passonneau (2006), Measuring agreement on set-valued items.
    """
    return prepare_krippendorff_alpha(annotations, distance, level, weights).value()


def prepare_krippendorff_alpha(
    annotations: Annotations,
    distance: Distance | None = None,
    level: Level | None = None,
    weights: Weights = None,
    of_block: bool = False,
) -> Estimate:
    """`krippendorff_alpha`, prepared to leave out items.

    Args:
        of_block: whether sums are to be added to those of other blocks of items.
    """
    scale = annotations.scale
    if (distance is not None) + (level is not None) + (weights is not None) > 1:
        raise DataError("a distance, a level or weights: each takes the place of the others")
    if weights is not None:
        distance = disagreement(weights, scale, "Krippendorff's alpha with weights")
    if callable(distance):
        return _by_function(annotations, annotations.answer, distance)
    if distance is not None:
        return _by_values(annotations, _checked(distance, scale))
    wanted = _level(level, scale)
    if wanted == "ordinal":
        return _by_ranks(annotations)
    if wanted == "masi":
        every = np.arange(1 << len(scale)) if of_block and isinstance(scale, MultiLabel) else None
        return _by_function(annotations, annotations.answer, masi_distance, every)
    if wanted == "nominal":
        own = scale.distance if isinstance(scale, Nominal) and level is None else None
        return _by_values(annotations, unequal(scale.n_columns) if own is None else own)
    number = numbers(scale, annotations.answer, f"Krippendorff's alpha on {wanted} level")
    if wanted == "ratio":
        return _by_function(annotations, number, _ratio_distance)
    return _by_moments(annotations, number, middle(scale) if of_block else None)


def _level(level: Level | None, scale: Scale) -> str:
    if level is not None and level not in get_args(Level):
        raise DataError(f"no level {level!r}; there are {', '.join(get_args(Level))}")
    wanted = level or {"multi-label": "masi"}.get(scale.kind, scale.kind)
    fits = {
        "nominal": scale.kind in ("nominal", "ordinal"),
        "ordinal": scale.kind == "ordinal",
        "masi": scale.kind == "multi-label",
    }
    if not fits.get(wanted, scale.kind in ("ordinal", "interval")):
        raise DataError(f"{scale.kind} answers cannot be compared on {wanted} level")
    return wanted


def _checked(distance: np.ndarray, scale: Scale) -> np.ndarray:
    if isinstance(scale, Interval):
        raise DataError("a matrix of distances is between values; ratings have differences")
    if isinstance(scale, MultiLabel):
        raise DataError("a matrix of distances is between values; sets need a function of two sets")
    n = scale.n_columns
    distance = np.asarray(distance, dtype=float)
    if distance.shape != (n, n) or np.diag(distance).any():
        raise DataError(
            f"the distance between {n} values is {n} x {n} and 0 from a value to itself; "
            f"found {distance.shape}"
        )
    return distance


def _ratio_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = a + b
    return np.divide(a - b, total, out=np.zeros(np.shape(total)), where=total != 0) ** 2


def _paired_counts(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Counts (n_items, n_values), 0 without pairs; and the annotators per item, at least 2."""
    counts, n = annotations.counts(), annotations.voters()
    if (n == 1).any():
        counts[n < 2] = 0.0
    return counts, np.maximum(n, 2.0)


def _by_values(annotations: Annotations, distance: np.ndarray) -> Estimate:
    counts, n = _paired_counts(annotations)
    own = own_by_values(annotations, distance)  # (n_items,)
    apart = (differing(counts, distance) - own) / (n - 1)  # (n_items,)
    largest = distance.max(initial=0.0)

    def formula(apart: np.ndarray, total: np.ndarray, own: np.ndarray) -> np.ndarray:
        expected, n = ((total @ distance) * total).sum(axis=1) - own, total.sum(axis=1)
        return _alpha(apart, np.where(expected > 1e-13 * largest * n**2, expected, 0.0), n)

    return OfSums((apart, counts, own), formula)


def _by_ranks(annotations: Annotations) -> Estimate:
    counts, n = _paired_counts(annotations)
    per_pair = counts / (n - 1)[:, None]
    own = per_pair * n[:, None]
    item, votes = repeated_votes(annotations)
    share = votes / (n[item] - 1)[:, None]
    np.subtract.at(own, item, share)
    return _Ranks(counts, per_pair, own, item, votes, share)


@dataclass(frozen=True, eq=False)
class _Ranks:
    """The ordinal metric: levels lie where the answers of all paired items put them."""

    counts: np.ndarray  # (n_items, n_values), 0 without pairs
    per_pair: np.ndarray  # (n_items, n_values) counts / (annotators - 1)
    own: np.ndarray  # (n_items, n_values) per_pair * annotators
    item: np.ndarray  # (n_repeated,) of annotators who answered an item twice
    votes: np.ndarray  # (n_repeated, n_values) of these annotators
    share: np.ndarray  # (n_repeated, n_values) votes / (annotators - 1)

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        """Of each level; and how often two levels meet in an item, (n_values, n_values)."""
        counts, own, votes = self.counts, self.own, self.votes
        if weights is not None:
            counts, own = counts * weights[:, None], own * weights[:, None]
            votes = votes * weights[self.item][:, None]
        inside = self.per_pair.T @ counts - self.share.T @ votes
        alone = np.diag(votes.sum(axis=0)) - self.votes.T @ votes
        return [counts.sum(axis=0), own.sum(axis=0), inside, alone]

    def value(self, totals: Totals | None = None) -> float:
        total, own, inside, alone = self.totals() if totals is None else totals
        return float(self._alphas(total[None], own[None], inside, alone, None)[0])

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        total, own, inside, alone = self.totals() if totals is None else totals
        step = max(1, BLOCK // max(len(total), 1))
        blocks = (slice(begin, begin + step) for begin in range(0, len(self.counts), step))
        alphas = [
            self._alphas(total - self.counts[b], own - self.own[b], inside, alone, b)
            for b in blocks
        ]
        return np.concatenate(alphas) if alphas else np.empty(0)

    def _alphas(
        self,
        total: np.ndarray,
        own: np.ndarray,
        inside: np.ndarray,
        alone: np.ndarray,
        left_out: slice | None,
    ) -> np.ndarray:
        """For each row of sums (n, n_values), those of an item that is left out subtracted."""
        n = total.sum(axis=1)
        rank = np.cumsum(total, axis=1) - total / 2  # differences are the answers in between
        rank -= ((rank * total).sum(axis=1) / np.maximum(n, 1.0))[:, None]
        together = ((rank @ inside) * rank).sum(axis=1)
        themselves = ((rank @ alone) * rank).sum(axis=1)  # annotators with their own answers
        if left_out is not None:
            of_item = (rank * self.per_pair[left_out]).sum(axis=1)
            together -= of_item * (rank * self.counts[left_out]).sum(axis=1)
            rows = np.flatnonzero((self.item >= left_out.start) & (self.item < left_out.stop))
            place, votes = self.item[rows] - left_out.start, self.votes[rows]
            level = rank[place]
            mean = (level * votes).sum(axis=1)
            np.add.at(together, place, mean * (level * self.share[rows]).sum(axis=1))
            np.subtract.at(themselves, place, (level**2 * votes).sum(axis=1) - mean**2)
        apart = 2 * ((own * rank**2).sum(axis=1) - together)
        expected = 2 * (n * (total * rank**2).sum(axis=1) - themselves)
        return _alpha(apart, np.where(expected > 1e-9 * n**3, expected, 0.0), n)


def _by_moments(
    annotations: Annotations, number: np.ndarray, centre: float | None = None
) -> Estimate:
    """Squared differences of `number` (n_rows,), without looking at pairs.

    Args:
        centre: what numbers are centred at; their mean if left out.
    """
    n = annotations.voters().astype(float)  # (n_items,)
    own = own_disagreement(annotations, lambda a, b: (number[a] - number[b]) ** 2)
    paired = n[annotations.item] >= 2
    item, votes, number = annotations.item[paired], annotations.votes[paired], number[paired]
    if number.size:  # sums of squares keep their digits
        number = number - (np.average(number, weights=votes) if centre is None else centre)

    def over_items(values: np.ndarray) -> np.ndarray:
        return np.bincount(item, votes * values, minlength=len(n)).astype(float, copy=False)

    size, sums, squares = over_items(np.ones(len(item))), over_items(number), over_items(number**2)
    mean = sums / np.maximum(n, 1.0)
    spread = over_items((number - mean[item]) ** 2)
    apart = (2 * n * spread - own) / np.maximum(n - 1, 1.0)  # (n_items,)

    def formula(
        apart: np.ndarray, total: np.ndarray, sums: np.ndarray, square: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        expected = total * square - sums**2 - own / 2
        expected = np.where(expected > 1e-12 * total * square, 2 * expected, 0.0)  # not rounding
        return _alpha(apart, expected, total)

    return OfSums((apart, size, sums, squares, own), formula)


def _by_function(
    annotations: Annotations,
    answer: np.ndarray,
    distance: Callable[[np.ndarray, np.ndarray], np.ndarray],
    every: np.ndarray | None = None,
) -> Estimate:
    """Any distance between stored answers: those given are compared with one another once.

    Args:
        every: all answers there can be, in order, if sums are to be added to those of others.
    """
    from scipy.sparse import csr_array

    n = annotations.voters()
    several = n[annotations.item] >= 2  # (n_rows,)
    if every is None:
        values, code = np.unique(answer[several], return_inverse=True)
    else:
        values, code = every, np.searchsorted(every, answer[several])
    if len(values) > MOST_DIFFERENT:
        raise DataError(
            f"{len(values):,} different answers have too many distances to compare all with all "
            f"(at most {MOST_DIFFERENT:,}); round the ratings"
        )
    item, place, times = groups(replace(annotations.take(several), answer=code.reshape(-1)))
    counts = csr_array((times, (item, place)), (annotations.n_items, len(values)))
    apart = np.zeros(annotations.n_items)
    for a, b in pairs_within(item):
        far = 2 * times[a] * times[b] * distance(values[place[a]], values[place[b]])
        apart += np.bincount(item[a], far, minlength=len(apart))
    own = own_disagreement(annotations, lambda a, b: distance(answer[a], answer[b]))
    return _Distances(values, counts, apart, own, np.maximum(n, 2) - 1.0, distance)


@dataclass(frozen=True, eq=False)
class _Distances:
    """Any distance between answers that were given to items with two or more."""

    values: np.ndarray  # (n_different,) answers
    counts: Any  # (n_items, n_different) sparse
    apart: np.ndarray  # (n_items,) sum of distances over ordered pairs of an item's answers
    own: np.ndarray  # (n_items,) the part of it that is between answers of one annotator
    others: np.ndarray  # (n_items,) annotators - 1, at least 1
    distance: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        weights = np.ones(len(self.apart)) if weights is None else weights
        total = np.asarray(self.counts.T @ weights, dtype=float).reshape(-1)
        return [np.array(weights @ self._observed()), total, np.array(weights @ self.own)]

    def value(self, totals: Totals | None = None) -> float:
        observed, total, own = self.totals() if totals is None else totals
        expected = total @ self._far(total) / 2 - own
        return float(_alpha(*(np.array([x]) for x in (observed, expected, total.sum())))[0])

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        observed, total, own = self.totals() if totals is None else totals
        far = self._far(total)
        whole = total @ far / 2 - own
        expected = whole - self.counts @ far + self.apart + self.own
        expected = np.where(expected > 1e-12 * whole, expected, 0.0)  # not rounding
        return _alpha(observed - self._observed(), expected, total.sum() - self.counts.sum(axis=1))

    def _observed(self) -> np.ndarray:
        return np.asarray((self.apart - self.own) / self.others)

    def _far(self, total: np.ndarray) -> np.ndarray:
        """From each answer to all answers, and back, (n_different,); 0 for one not given."""
        given = np.flatnonzero(total)
        values, times = self.values[given], total[given]
        far = np.zeros(len(given))
        step = max(1, BLOCK // max(len(given), 1))
        for begin in range(0, len(given), step):
            block = slice(begin, begin + step)
            distances = self.distance(values[:, None], values[None, block])
            far += distances @ times[block]
            far[block] += times @ distances
        every = np.zeros(len(total))
        every[given] = far
        return every


def _alpha(observed: np.ndarray, expected: np.ndarray, total: np.ndarray) -> np.ndarray:
    """1 - observed / expected, from sums of distances over ordered pairs."""
    return 1.0 - ratio(observed * (total - 1), expected)


def krippendorff_formula(annotations: Annotations, weights: Weights = None) -> Formula:
    """The standard error of Krippendorff's alpha of nominal answers, or with weights.

    Otherwise distances depend on all answers, or lie between ratings or sets: nan.
    """
    if weights is None:
        if not isinstance(annotations.scale, Nominal):
            return UNKNOWN
        weights = annotations.scale.distance
    agree = 1.0 - disagreement(weights, annotations.scale, "Krippendorff's alpha")
    n = annotations.voters().astype(float)
    several = n >= 2
    counts, own = annotations.counts()[several], own_by_values(annotations, 1.0 - agree)[several]
    n = n[several]
    if not len(n):
        return UNKNOWN
    relative = (n - n.mean()) / n.mean()
    agreeing = 1.0 - (differing(counts, 1.0 - agree) - own) / (n * (n - 1))
    weighed = agreeing * n / n.mean()
    share = counts / n.mean()
    mean = share.mean(axis=0)
    chance, observed = mean @ agree @ mean + own.sum() / n.sum() ** 2, weighed.mean()
    if not 1.0 - chance > 1e-12:
        return UNKNOWN
    corrected = observed + (1.0 - observed) / n.sum()  # for few answers
    prime = (observed - chance) / (1.0 - chance)
    by_chance = share @ (agree @ mean) - chance * relative
    each = (weighed - corrected * relative - chance) / (1.0 - chance)
    each = each - 2 * (1.0 - prime) * (by_chance - chance) / (1.0 - chance)
    value = (corrected - chance) / (1.0 - chance)
    return linearised(each, value)
