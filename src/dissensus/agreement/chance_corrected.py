"""Agreement of any number of annotators, as it is or beyond chance, with standard errors.

A kappa is (observed - chance) / (1 - chance) agreement. Observed is the share of an item's pairs of
answers that agree, mean over items; kappas differ in what chance is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.agreement.estimates import (
    BLOCK,
    Estimate,
    OfSums,
    Totals,
    Votes,
    Weights,
    differing,
    disagreement,
    equal_pairs,
    groups,
    masi_distance,
    measure,
    numbers,
    own_disagreement,
    pairs_within,
    ratio,
    repeated_votes,
    undefined,
    unequal,
)
from dissensus.annotations import Annotations
from dissensus.annotations.annotations import slices
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale


@measure
def percent_agreement(annotations: Annotations) -> Estimate:
    """The share of pairs of answers about an item that are equal, mean over items.

    1 is perfect agreement; what chance gives is not taken off. Every item with two annotators or
    more counts the same, so that a few with very many answers do not outweigh the rest.
    Multi-label answers are equal if the whole sets are. An annotator is not compared with himself;
    one who answered an item twice counts half for each answer. nan where undefined: no item has two
    annotators, or the answers are ratings, which are hardly ever exactly equal (`mean_difference`
    is for them).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> round(percent_agreement(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Fleiss (1971), doi:10.1037/h0031619, for any number of answers per item.
    """
    if isinstance(annotations.scale, Interval):
        return undefined(annotations)
    return equal_pairs(annotations)


@measure
def fleiss_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """Agreement beyond chance of any number of annotators, not the same on every item.

    1 is perfect agreement, 0 what chance gives if all annotators drew from the same shares.
    Items may have different numbers of answers: agreement is the mean over items with two or
    more, shares the mean over all items, as Gwet has it; with equal numbers it is Fleiss' own
    formula. Annotators need not be known, so votes work. nan where undefined: no item has two
    answers, or all answers are the same.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(fleiss_kappa(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition.
    """

    def by_chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
        return ((share @ agree) * share).sum(axis=1)  # both draw from the shares of all answers

    return _beyond_chance(annotations, weights, "Fleiss' kappa", by_chance)


@measure
def randolph_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """Agreement beyond chance of any number of annotators; chance picks every value alike.

    1 is perfect agreement, 0 what blind choice among the scale's values gives. Unlike Fleiss'
    kappa it does not fall when one answer is rare; prefer it where annotators were not
    told how often to use a value. Values without answers count, so declare the scale. Also known as
    free-marginal kappa or the Brennan-Prediger coefficient. nan where undefined: no item has two
    answers, or the scale has one value only.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(randolph_kappa(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Randolph (2005), Free-marginal multirater kappa; Brennan and Prediger (1981),
    doi:10.1177/001316448104100307.
    """

    def by_chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
        return np.full(len(share), agree.mean())

    return _beyond_chance(annotations, weights, "Randolph's kappa", by_chance)


@measure
def gwet_ac(annotations: Annotations, weights: Weights = None) -> Estimate:
    """Agreement beyond chance of any number of annotators; AC1, or AC2 with weights.

    1 is perfect agreement, 0 what chance gives if only answers to hard items are guesses. Prefer
    it to kappa and alpha where nearly all answers are the same and these fall to 0 although
    all annotators agree. Values without answers count, so declare the scale. Annotators need not
    be known. nan where undefined: no item has two answers, or the scale has one value only.

    Args:
        weights: None for nominal answers (AC1); a name such as "linear" for levels, or
            distances (AC2).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(gwet_ac(Annotations.from_rows(rows)), 4)
        0.3333

    Reference: Gwet (2008), doi:10.1348/000711006X126600; AC2: Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition.
    """

    def by_chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
        n = len(agree)  # values are picked alike where items are hard, as often as values vary
        if n < 2:
            return np.ones(len(share))  # nothing is left beyond chance
        return np.asarray(agree.sum() / (n * (n - 1)) * (share * (1.0 - share)).sum(axis=1))

    return _beyond_chance(annotations, weights, "Gwet's AC", by_chance)


def _beyond_chance(
    annotations: Annotations,
    weights: Weights,
    name: str,
    chance: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Estimate:
    """(observed - chance) / (1 - chance) agreement, prepared to leave out items.

    Args:
        chance: from shares of values (n, n_values) and how much two values agree
            (n_values, n_values) to the agreement that chance gives, (n,).
    """
    apart = disagreement(weights, annotations.scale, name)

    def formula(
        agreeing: np.ndarray, several: np.ndarray, share: np.ndarray, answered: np.ndarray
    ) -> np.ndarray:
        by_chance = chance(ratio(share, answered[:, None]), 1.0 - apart)
        return _kappa(ratio(agreeing, several), by_chance)

    return OfSums(annotations.n_items, Votes.of(annotations, apart).agreement, formula)


def _kappa(observed: np.ndarray, chance: np.ndarray) -> np.ndarray:
    left = 1.0 - chance
    return ratio(observed - chance, np.where(left > 1e-12, left, 0.0))


# ---- Conger ----


@measure
def conger_kappa(annotations: Annotations, weights: Weights = None) -> Estimate:
    """Cohen's kappa for any number of annotators, not the same on every item.

    1 is perfect agreement, 0 what chance gives if every annotator draws from their own shares of
    values; Fleiss' kappa takes shares of all annotators together. With two annotators who
    answered all items it is Cohen's kappa. nan where undefined: fewer than two annotators, no
    item has two of them, or all answers are the same.

    Args:
        weights: None for nominal answers; a name such as "linear" for levels; or distances.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(conger_kappa(Annotations.from_rows(rows)), 4)
        0.4

    Reference: Conger (1980), doi:10.1037/0033-2909.88.2.322; with gaps: Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition.
    """
    apart = disagreement(weights, annotations.scale, "Conger's kappa")
    annotators = annotations.annotator_codes("Conger's kappa")
    if not annotations.n_rows:
        return undefined(annotations)
    agreeing = Votes.of(annotations, apart).agreeing(slice(None))
    return Conger(annotations, annotators, 1.0 - apart, *agreeing)


@dataclass(frozen=True, eq=False)
class Conger:
    """Agreement of pairs, and the shares of values of each annotator (a `Summable`)."""

    annotations: Annotations
    annotators: np.ndarray  # (n_rows,) codes
    agree: np.ndarray  # (n_values, n_values) how much two values agree
    agreeing: np.ndarray  # (n_items,) as `Votes.agreeing` has them
    several: np.ndarray  # (n_items,)

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        """Agreeing pairs, items with pairs, and each annotator's answers by value."""
        weights = np.ones(self.annotations.n_items) if weights is None else weights
        shape = (self.annotations.n_annotators, len(self.agree))
        at = self.annotators.astype(np.int64) * shape[1] + self.annotations.answer
        times = self.annotations.votes * weights[self.annotations.item]
        counts = np.bincount(at, times, minlength=shape[0] * shape[1]).reshape(shape)
        sums = weights @ self.agreeing, weights @ self.several
        return [*map(np.array, sums), counts.astype(float)]

    def value(self, totals: Totals | None = None) -> float:
        agreeing, several, counts = self.totals() if totals is None else totals
        share = _shares(counts)
        total = share.sum(axis=0)
        own = np.einsum("gk,kl,gl->", share, self.agree, share)
        chance = _mean_over_pairs(total @ self.agree @ total - own, _n_answering(counts))
        return float(_kappa(ratio(agreeing, several), chance))

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        """For each annotator of an item: their shares, without their answers to it."""
        agreeing, several, counts = self.totals() if totals is None else totals
        rows, n_items = self.annotations, self.annotations.n_items
        item, answer, votes = rows.item, rows.answer, rows.votes
        share, size, g = _shares(counts), counts.sum(axis=1), self.annotators
        own = np.einsum("gk,kl,gl->g", share, self.agree, share)
        left = size[g] - 1  # other items of the annotator
        scale = np.where(left > 1e-9, 1 / np.maximum(left, 1e-9), 0.0)
        moved = np.where(left > 1e-9, scale, -1.0)[:, None] * share[g]
        change = np.zeros((n_items, len(self.agree)))
        np.add.at(change, item, votes[:, None] * moved)
        np.subtract.at(change, (item, answer), votes * scale)
        toward = (self.agree @ share.T).T[g, answer]  # how much the answer agrees with one's shares
        quadratic = (size[g] ** 2 * own[g] - 2 * size[g] * toward + 1) * scale**2
        fall = np.bincount(item, votes * (quadratic - own[g]), minlength=n_items)
        apart = 1.0 - self.agree
        fall = fall - own_disagreement(
            rows, lambda a, b: apart[answer[a], answer[b]] * scale[a] ** 2, alone=True
        )
        gone = np.bincount(item, votes * (left <= 1e-9), minlength=n_items)
        total = share.sum(axis=0) + change
        products = ((total @ self.agree) * total).sum(axis=1) - own.sum() - fall
        chance = _mean_over_pairs(products, _n_answering(counts) - gone)
        observed = ratio(agreeing - self.agreeing, several - self.several)
        return _kappa(observed, chance)


def _shares(counts: np.ndarray) -> np.ndarray:
    """The share of each value among an annotator's answers, (n_annotators, n_values)."""
    size = counts.sum(axis=1)
    return counts / np.where(size > 0, size, 1.0)[:, None]


def _n_answering(counts: np.ndarray) -> int:
    return int(np.count_nonzero(counts.sum(axis=1)))


def _mean_over_pairs(products: np.ndarray, n_annotators: np.ndarray | int) -> np.ndarray:
    """Agreement of two annotators by chance, mean over pairs, from its sum over ordered pairs."""
    n = np.asarray(n_annotators, dtype=float)
    return ratio(np.asarray(products), n * (n - 1))


Distance = np.ndarray | Callable[[np.ndarray, np.ndarray], np.ndarray]
MOST_DIFFERENT = 20_000  # answers to compare with one another, for a distance without a shortcut
MOST_KEPT = 1 << 25  # distances between answers that stay in memory, for intervals


@measure
def krippendorff_alpha(
    annotations: Annotations, distance: Distance | None = None, weights: Weights = None
) -> Estimate:
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
        weights: compare levels by named weights instead: "identity" as nominal values, "quadratic"
            as numbers, "linear", ...

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(krippendorff_alpha(Annotations.from_rows(rows)), 4)
        0.4444

    Reference: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; for sets,
    Passonneau (2006), Measuring agreement on set-valued items.
    """
    scale = annotations.scale
    if distance is not None and weights is not None:
        raise DataError("a distance or weights: each takes the place of the other")
    if weights is not None:
        distance = disagreement(weights, scale, "Krippendorff's alpha with weights")
    if callable(distance):
        return _by_function(annotations, annotations.answer, distance)
    if distance is not None:
        return _by_values(annotations, _checked(distance, scale))
    if isinstance(scale, Ordinal):
        return _by_ranks(annotations)
    if isinstance(scale, MultiLabel):
        return _by_function(annotations, annotations.answer, masi_distance)
    if isinstance(scale, Nominal):
        own = unequal(scale.n_columns) if scale.distance is None else scale.distance
        return _by_values(annotations, own)
    number = numbers(scale, annotations.answer, "Krippendorff's alpha")
    return _by_moments(annotations, number)


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


def _by_values(annotations: Annotations, distance: np.ndarray) -> Estimate:
    votes, largest = Votes.of(annotations, distance), distance.max(initial=0.0)

    def parts(items: slice) -> tuple[np.ndarray, ...]:
        n, own = votes.n[items].astype(float), votes.own[items]
        counts = votes.counts[items] * (n >= 2)[:, None].astype(float)
        return (differing(counts, distance) - own) / np.maximum(n - 1, 1.0), counts, own

    def formula(apart: np.ndarray, total: np.ndarray, own: np.ndarray) -> np.ndarray:
        expected, n = ((total @ distance) * total).sum(axis=1) - own, total.sum(axis=1)
        return _alpha(apart, np.where(expected > 1e-13 * largest * n**2, expected, 0.0), n)

    return OfSums(annotations.n_items, parts, formula)


def _by_ranks(annotations: Annotations) -> Estimate:
    counts, n = annotations.counts(), annotations.voters()
    counts[n < 2] = 0.0
    n = np.maximum(n, 2)
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
        alphas = np.empty(len(self.counts))
        for b in slices(len(alphas), max(1, BLOCK // max(len(total), 1))):
            left = total - self.counts[b], own - self.own[b]
            alphas[b] = self._alphas(*left, inside, alone, b)
        return alphas

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


def _by_moments(annotations: Annotations, number: np.ndarray) -> Estimate:
    """Squared differences of `number` (n_rows,), without looking at pairs."""
    n = annotations.voters().astype(float)  # (n_items,)
    own = own_disagreement(annotations, lambda a, b: (number[a] - number[b]) ** 2)
    paired = n[annotations.item] >= 2
    item, votes, number = annotations.item[paired], annotations.votes[paired], number[paired]
    if number.size:  # sums of squares keep their digits
        number = number - np.average(number, weights=votes)

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

    return OfSums.of((apart, size, sums, squares, own), formula)


def _by_function(
    annotations: Annotations,
    answer: np.ndarray,
    distance: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Estimate:
    """Any distance between stored answers: those given are compared with one another once."""
    from scipy.sparse import csr_array

    n = annotations.voters()
    several = n[annotations.item] >= 2  # (n_rows,)
    values, code = np.unique(answer[several], return_inverse=True)
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

    @cached_property
    def _apart(self) -> np.ndarray | None:
        """The distances of all answers, (n_different, n_different); None if they are too many."""
        n = len(self.values)
        if n * n > MOST_KEPT:
            return None
        apart = np.empty((n, n))
        for block in slices(n, max(1, 8 * BLOCK // max(n, 1))):
            apart[block] = self.distance(self.values[block, None], self.values[None, :])
        return apart

    def _far(self, total: np.ndarray) -> np.ndarray:
        """From each answer to all answers, and back, (n_different,); 0 for one not given."""
        if self._apart is not None:
            return np.where(total > 0, self._apart @ total + total @ self._apart, 0.0)
        occurring = np.flatnonzero(total)
        values, times = self.values[occurring], total[occurring]
        far = np.zeros(len(occurring))
        for block in slices(len(occurring), max(1, BLOCK // max(len(occurring), 1))):
            distances = self.distance(values[:, None], values[None, block])
            far += distances @ times[block]
            far[block] += times @ distances
        every = np.zeros(len(total))
        every[occurring] = far
        return every


def _alpha(observed: np.ndarray, expected: np.ndarray, total: np.ndarray) -> np.ndarray:
    """1 - observed / expected, from sums of distances over ordered pairs."""
    return 1.0 - ratio(observed * (total - 1), expected)
