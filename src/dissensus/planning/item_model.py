"""What items are like: which share of them is clear, which disputed, and between which values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dissensus.annotations import Annotations
from dissensus.annotations.annotations import middle, most_frequent, slices
from dissensus.scales import Interval, MultiLabel, Ordinal

LEVELS = 8  # of ratings, and of ordinal scales with more than `MOST_LEVELS`
MOST_LEVELS = 11
MOST_VALUES = 20  # of a nominal scale; rarer ones count as one
MOST_PAIRS = 60  # of values between which an item can be disputed: those given to the same items
SLIP = 0.02  # share of answers of any kind of item that are as in the whole table
ITERATIONS = 150
CELLS = 1 << 19  # items times kinds, of which shares are estimated; of more items, some are drawn
LIKELY = 1.92  # log-likelihood that a 95 % region may lose


@dataclass(frozen=True, eq=False)
class ItemModel:
    """Each item is of one of many kinds; a kind is a distribution of answers.

    Annotators are as drawn from the crowd. How frequent kinds are is estimated by
    expectation-maximisation (the nonparametric maximum likelihood of a mixing distribution), so
    that few answers to each of many items say how many items are disputed. Multi-label answers
    have a row for each item and value: chosen or not.
    """

    kinds: np.ndarray  # (n_kinds, n_values) probabilities
    share: np.ndarray  # (n_kinds,) of items
    counts: np.ndarray  # (n_distinct, n_values) of answers; items with the same counts once
    place: np.ndarray  # (n_rows,) which of them each item has
    known: np.ndarray  # (n_known, n_values) counts that kinds are estimated from
    size: np.ndarray  # (n_known,) items with these counts
    ordered: bool  # whether a consensus is the median
    positions: np.ndarray | None  # (n_values,) of levels and ratings as numbers

    @classmethod
    def fit(cls, annotations: Annotations) -> ItemModel:
        """Estimate how frequent each kind of item is; items without answers are as the others.

        Example:
            >>> rows = [(f"t{n}", who, "no" if n < 8 else ("yes", "no")[who == "bob"])
            ...         for n in range(10) for who in ("ann", "bob", "cleo")]
            >>> model = ItemModel.fit(Annotations.from_rows(rows))
            >>> model.expected()[[0, 9]].round(2).tolist()
            [[0.98, 0.02], [0.37, 0.63]]
        """
        counts, positions = value_counts(annotations)
        ordered = isinstance(annotations.scale, Ordinal | Interval)
        kinds = _ordered_kinds(counts) if ordered and counts.shape[1] > 2 else _kinds(counts)
        distinct, place = np.unique(counts, axis=0, return_inverse=True)
        known = counts[counts.sum(axis=1) > 0]
        if len(known) > (most := CELLS // len(kinds)):
            known = known[np.random.default_rng(0).choice(len(known), most, replace=False)]
        known, size = np.unique(known, axis=0, return_counts=True)
        start = np.full(len(kinds), 1 / len(kinds))
        model = cls(kinds, start, distinct, place.reshape(-1), known, size, ordered, positions)
        return replace(model, share=model._step(start, ITERATIONS))

    def compatible(self, directions: np.ndarray) -> np.ndarray:
        """How frequent kinds may be as well: the shares, and some at the border of what the answers
        are compatible with, where a sum over kinds is as large or as small as it can be.

        A likelihood region holds what is uncertain because there are few items, and what so few
        answers to each item leave open however many items there are.

        Args:
            directions: weights of such sums, (n_sums, n_kinds), 0 to 1.

        Returns:
            (1 + 2 * n_sums, n_kinds)
        """
        best = self._step(self.share, 2 * ITERATIONS)
        least = self._logarithm(best) - LIKELY
        shares = [self.share]
        for pull in (side for one in directions for side in (one, 1 - one)):
            inside, outside, strength = best, best, 16.0
            while outside is inside and strength < 1e5:
                outside = self._step(inside, ITERATIONS, strength * pull)
                if self._logarithm(outside) >= least:
                    inside, strength = outside, 2 * strength
            low, high = 0.0, 1.0
            for _ in range(12):  # the region is convex
                middle = (low + high) / 2
                mixed = (1 - middle) * inside + middle * outside
                low, high = (middle, high) if self._logarithm(mixed) >= least else (low, middle)
            shares.append((1 - low) * inside + low * outside)
        return np.array(shares)

    def _step(self, share: np.ndarray, times: int, pull: np.ndarray | float = 0.0) -> np.ndarray:
        """Shares of kinds that make the answers more likely, or (Baum & Eagon, 1967) what they are
        pulled to."""
        likelihood, size = self._likelihood, self.size.astype(float)
        for _ in range(times):
            share = share * ((size / (likelihood @ share)) @ likelihood + pull)
            share /= share.sum()
        return share

    def _logarithm(self, share: np.ndarray) -> float:
        return float(self.size @ np.log(self._likelihood @ share))

    @cached_property
    def _likelihood(self) -> np.ndarray:
        """Of what is known of each kind, (n_known, n_kinds)."""
        return _likelihoods(self.known, self.kinds)

    def beliefs(self) -> Iterator[np.ndarray]:
        """The probability of each kind for items with these counts, (n_distinct, n_kinds), some at
        a time."""
        for rows in slices(len(self.counts), max(1, 8 * CELLS // len(self.kinds))):
            joint = _likelihoods(self.counts[rows], self.kinds) * self.share
            yield joint / joint.sum(axis=1, keepdims=True)

    def expected(self) -> np.ndarray:
        """The expected distribution of each item, (n_rows, n_values)."""
        return np.concatenate([belief @ self.kinds for belief in self.beliefs()])[self.place]

    def consensus(self) -> np.ndarray:
        """What the consensus of each kind is, (n_kinds, n_values), 1 or a share of those that tie;
        of ratings the mean, (n_kinds, 1)."""
        if self.ordered and self.positions is not None and self.kinds.shape[1] > 2:
            return np.asarray(self.kinds @ self.positions[:, None])
        return labels_of(self.kinds, self.ordered)


def _likelihoods(counts: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Of counts (n, n_values) of each kind; the largest of a row is 1."""
    logs = counts @ np.log(kinds).T
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def labels_of(counts: np.ndarray, ordered: bool) -> np.ndarray:
    """The consensus of answers (n, n_values) as shares of 1: those that tie have one each."""
    best = middle(counts) if ordered else most_frequent(counts)
    return np.asarray(best / best.sum(axis=1, keepdims=True))


def value_counts(annotations: Annotations) -> tuple[np.ndarray, np.ndarray | None]:
    """Answers by value, (n_rows, n_values), with ratings as levels; and values as numbers."""
    scale = annotations.scale
    if isinstance(scale, MultiLabel):
        chosen, voters = annotations.marginals(), annotations.voters()
        return np.stack([voters[:, None] - chosen, chosen], axis=2).reshape(-1, 2), None
    if isinstance(scale, Interval):
        return _levels(annotations, annotations.answer)
    if isinstance(scale, Ordinal):
        numbers = np.array(scale.positions)
        if len(scale) > MOST_LEVELS:
            return _levels(annotations, numbers[annotations.answer])
        return annotations.counts(), numbers
    counts = annotations.counts()
    if counts.shape[1] > MOST_VALUES:
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        rest = counts[:, order[MOST_VALUES - 1 :]].sum(axis=1, keepdims=True)
        counts = np.hstack([counts[:, order[: MOST_VALUES - 1]], rest])
    return counts, None


def _levels(annotations: Annotations, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as levels with about as many answers each, and their means."""
    edges = np.unique(np.quantile(number, np.arange(1, LEVELS) / LEVELS))
    level = np.searchsorted(edges, number, side="left")
    level = np.unique(level, return_inverse=True)[1].reshape(-1)
    n, votes = int(level.max(initial=0)) + 1, annotations.votes
    counts = np.bincount(annotations.item * n + level, votes, minlength=annotations.n_items * n)
    means = np.bincount(level, votes * number, n) / np.maximum(np.bincount(level, votes, n), 1e-12)
    return counts.reshape(-1, n), means


def _usual(counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=0) + 0.5
    return np.asarray(total / total.sum())


def _kinds(counts: np.ndarray) -> np.ndarray:
    """Items that are clear, disputed between two values, or anything."""
    n_values, usual = counts.shape[1], _usual(counts)
    if n_values == 1:
        return np.ones((1, 1))
    if n_values == 2:
        second = 1 / (1 + np.exp(-np.linspace(-5, 5, 41)))
        return np.stack([1 - second, second], axis=1)
    one = np.eye(n_values)
    clear = np.array([0.4, 0.55, 0.7, 0.8, 0.88, 0.94, 0.97, 0.99])
    rows = [usual, np.full(n_values, 1 / n_values)]
    rows += [q * one[k] + (1 - q) * _without(usual, k) for k in range(n_values) for q in clear]
    together = np.triu(counts.T @ (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)), 1)
    order = np.argsort(-together, axis=None, kind="stable")[:MOST_PAIRS]
    for first, second in zip(*np.unravel_index(order, together.shape), strict=True):
        rest = _without(usual, first, second)
        for both in (0.75, 0.97):
            for split in (0.2, 0.35, 0.5, 0.65, 0.8):
                pair = split * one[first] + (1 - split) * one[second]
                rows.append(both * pair + (1 - both) * rest)
    return (1 - SLIP / 10) * np.array(rows) + SLIP / 10 * usual


def _without(usual: np.ndarray, *values: int) -> np.ndarray:
    rest = usual.copy()
    rest[list(values)] = 0.0
    return rest / rest.sum() if rest.any() else usual


def _ordered_kinds(counts: np.ndarray) -> np.ndarray:
    """Items around a place of the scale, narrow or wide; at both ends of it; or anything."""
    n_values, usual = counts.shape[1], _usual(counts)
    level = np.arange(n_values)
    rows = [usual]
    for spread in (0.25, 0.4, 0.6, 0.9, 1.4, 2.2, 4.0):
        for place in np.arange(-0.75, n_values - 0.2, max(0.25, spread / 2)):
            mass = np.exp(-((level - place) ** 2) / (2 * spread**2)) + 1e-12
            rows.append(mass / mass.sum())
    ends = np.exp(-level / 0.7), np.exp(-level[::-1] / 0.7)
    low, high = (end / end.sum() for end in ends)
    rows += [part * low + (1 - part) * high for part in (0.25, 0.5, 0.75)]
    return (1 - SLIP) * np.array(rows) + SLIP * usual
