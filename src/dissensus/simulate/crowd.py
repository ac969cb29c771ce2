"""Annotators with known tendencies: where they look, and how they answer or rate what they see.

Nothing here depends on the kind of content. An item is a few *parts* (clauses, objects, events);
each part is about an aspect and states one value. Preferences, leans and noise are whole numbers,
and every draw compares whole numbers, so that a seed gives the same answers on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from dissensus.errors import DataError

STEP_BITS = 4  # one step of preference makes a part 2**4 times as likely to be looked at
FAITHFUL = 24  # a stated value is reported this many times as readily as a neighbour of it
LEAN = (8, 2, 1)  # weight of an annotator's favourite answer, of its neighbours, of the rest
NOISE = (2, 4, 6, 8, 10)  # percent of careless answers; each is as frequent as the others
MOST = 4  # parts of an item whose answer is one of several values; the fewest are three
HUNDREDTHS = np.arange(-100, 101)  # what a rating from -1 to 1 can be
BIAS = (-15, -10, -5, 0, 5, 10, 15)  # hundredths; each is as frequent as the others
SPREAD = (3, 6, 9, 12, 15)  # likewise
MOST_VALUES = 8  # as many as there are emotions and shapes
CELLS = 1 << 21  # of the largest intermediate array: blocks of rows limit memory


class Sizes(NamedTuple):
    """How large a simulated corpus is, and the seed of its draws."""

    n_items: int
    n_annotators: int
    labels_per_item: int
    n_values: int
    seed: int

    def checked(self) -> Sizes:
        """Refuse sizes that are impossible."""
        limits = {"n_values": 2, "seed": 0}
        for name, size in self._asdict().items():
            least = limits.get(name, 1)
            if size < least:
                at_least = f"{least} or more" if name == "seed" else f"at least {least}"
                raise DataError(f"simulate: {name} must be {at_least}, found {size}")
        if self.n_values > MOST_VALUES:
            raise DataError(
                f"simulate: n_values must be at most {MOST_VALUES}, found {self.n_values}"
            )
        if self.labels_per_item > self.n_annotators:
            raise DataError(
                f"simulate: labels_per_item is {self.labels_per_item}, but there are only "
                f"{self.n_annotators} annotators and each answers an item once; ask for fewer "
                "labels or more annotators"
            )
        return self


class Draws:
    """Random whole numbers of one seed.

    They are the raw words of PCG64, whose stream numpy promises never to change, and are compared
    as integers: neither a version of numpy nor a rounding can move a draw.

    Example:
        >>> Draws(0).below(6, 4).tolist()
        [3, 1, 0, 0]
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def words(self, *shape: int) -> np.ndarray:
        """Uniform over 0 to 2**32 - 1, int64."""
        raw = self._bits.random_raw(int(np.prod(shape)))
        return (raw >> np.uint64(32)).astype(np.int64).reshape(shape)

    def below(self, limit: int | np.ndarray, *shape: int) -> np.ndarray:
        """Uniform over 0 to limit - 1, where limit is at most 2**31."""
        return self.words(*shape) * limit >> 32

    def orders(self, n: int, width: int) -> np.ndarray:
        """A random order of 0 to width - 1 in each of n rows, (n, width)."""
        return np.argsort(self.words(n, width), axis=1, kind="stable")

    def distinct(self, limit: int, n: int, width: int) -> np.ndarray:
        """Distinct numbers below limit in each of n rows, (n, width); beyond limit they recur."""
        chosen = np.empty((n, width), dtype=np.int64)
        for column in range(width):
            if column >= limit:
                chosen[:, column] = chosen[:, column - limit]
                continue
            number = self.below(limit - column, n)
            for taken in np.sort(chosen[:, :column], axis=1).T:
                number += number >= taken
            chosen[:, column] = number
        return chosen

    def choose(self, weights: np.ndarray) -> np.ndarray:
        """A column of each row with probability proportional to its whole weights, (n,).

        A row's weights sum to less than 2**31.
        """
        sums = weights.cumsum(axis=1)
        target = self.words(len(weights)) * sums[:, -1] >> 32
        return (target[:, None] >= sums).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of the items; -1 if an item has fewer parts than others."""

    aspect: np.ndarray  # (n_items, most parts) codes
    value: np.ndarray  # (n_items, most parts) codes of the values that the parts state

    @property
    def there(self) -> np.ndarray:
        """Which parts exist, (n_items, most parts) booleans."""
        return self.aspect >= 0

    def __len__(self) -> int:
        return len(self.aspect)


@dataclass(frozen=True, eq=False)
class Attention:
    """Where annotators look: annotator a looks at part j of item i with probability

    focus(j | i, a) = 16 ** preference[a, aspect(i, j)] / the same summed over the parts of i.
    """

    preference: np.ndarray  # (n_annotators, n_aspects) whole numbers from 0

    def __len__(self) -> int:
        return len(self.preference)

    @property
    def attraction(self) -> np.ndarray:
        """How much each aspect draws each annotator's eye, (n_annotators, n_aspects) weights."""
        return np.left_shift(1, STEP_BITS * self.preference)

    def even_sets(self, size: int) -> np.ndarray:
        """The sets of aspects between which this crowd's first choices are most evenly split.

        Half of all sets of this size, (n_sets, size). An item whose parts are about such a
        set has no part that draws the whole crowd, so looking where the crowd looks on average
        says little about where one annotator looks.
        """
        every = np.array(list(combinations(range(self.preference.shape[1]), size)))
        first = self.preference[:, every].argmax(axis=2)  # (n_annotators, n_sets)
        votes = (first[:, :, None] == np.arange(size)).sum(axis=0)  # (n_sets, size)
        uneven = (votes**2).sum(axis=1)
        return every[np.sort(np.argsort(uneven, kind="stable")[: -(-len(every) // 2)])]

    def look(
        self, parts: Parts, item: np.ndarray, annotator: np.ndarray, draws: Draws
    ) -> np.ndarray:
        """The part that each annotator looks at, (n_rows,)."""
        return draws.choose(self._focus_weights(parts, item, annotator))

    def focus(self, parts: Parts, item: np.ndarray, annotator: np.ndarray) -> np.ndarray:
        """The probability that each annotator looks at each part, (n_pairs, most parts)."""
        weights = self._focus_weights(parts, item, annotator)
        return weights / weights.sum(axis=1, keepdims=True)

    def _focus_weights(self, parts: Parts, item: np.ndarray, annotator: np.ndarray) -> np.ndarray:
        weights = self.attraction[annotator[:, None], parts.aspect[item]]
        return np.where(parts.there[item], weights, 0)

    def mean_focus(self, parts: Parts) -> np.ndarray:
        """The mean of all annotators' focus, (n_items, most parts).

        It is the best without knowing the annotator.
        """
        code, focus = self._focus_by_set(parts)  # (n_items,), (n_sets, n_annotators, n_aspects)
        mean = focus.mean(axis=1)[code[:, None], parts.aspect]
        return np.where(parts.there, mean, 0)

    def _focus_by_set(self, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
        bits = np.where(parts.there, np.left_shift(1, parts.aspect.clip(0)), 0).sum(axis=1)
        sets, code = np.unique(bits, return_inverse=True)
        inside = sets[:, None] >> np.arange(self.preference.shape[1]) & 1  # (n_sets, n_aspects)
        weights = self.attraction * inside[:, None, :]  # (n_sets, n_annotators, n_aspects)
        return code.reshape(-1), weights / weights.sum(axis=2, keepdims=True)


@dataclass(frozen=True, eq=False)
class Crowd(Attention):
    """Annotators, and the exact distribution of each annotator's answers to an item.

    Annotator a looks at part j of item i with probability focus(j | i, a), as `Attention` states
    it, takes it, stating value e, for value v with probability

        reading(v | e, a) = lean[a, v] * close(v, e) / the same summed over all v,

    where close is 24 for v = e, 1 for the neighbours of e (distance 1) and 0 otherwise, and in a
    share noise[a] of the cases answers from the lean alone:

        p(v | i, a) = (1 - noise[a]) * sum over j of focus(j | i, a) * reading(v | e(i, j), a)
                      + noise[a] * lean[a, v] / the sum of lean[a].
    """

    lean: np.ndarray  # (n_annotators, n_values) whole weights from 1
    noise: np.ndarray  # (n_annotators,) whole percents
    distance: np.ndarray  # (n_values, n_values) steps between values

    @classmethod
    def balanced(
        cls, n_annotators: int, n_aspects: int, distance: np.ndarray, draws: Draws
    ) -> Crowd:
        """A crowd in which every preference, lean and noise is as frequent as any other."""
        preference = even_preferences(n_annotators, n_aspects, draws)
        favourite = evenly(n_annotators, len(distance), draws)
        lean = np.full((n_annotators, len(distance)), LEAN[2], dtype=np.int64)
        lean[distance[favourite] == 1] = LEAN[1]
        lean[np.arange(n_annotators), favourite] = LEAN[0]
        noise = np.array(NOISE)[evenly(n_annotators, len(NOISE), draws)]
        return cls(preference, lean, noise, distance)

    @property
    def closeness(self) -> np.ndarray:
        """How readily value v is read from a part that states e, (n_values e, n_values v)."""
        return np.where(self.distance == 0, FAITHFUL, (self.distance == 1).astype(np.int64))

    # ---- what annotators do ----

    def answer(
        self, parts: Parts, item: np.ndarray, annotator: np.ndarray, draws: Draws
    ) -> tuple[np.ndarray, np.ndarray]:
        """The part that each annotator looks at, and the answer, (n_rows,) each."""
        looked = self.look(parts, item, annotator, draws)
        careless = draws.below(100, len(item)) < self.noise[annotator]
        closeness, answer = self.closeness, np.empty(len(item), dtype=np.int32)
        for rows in blocks(len(item), len(self.distance)):
            stated = closeness[parts.value[item[rows], looked[rows]]]
            stated[careless[rows]] = 1
            answer[rows] = draws.choose(self.lean[annotator[rows]] * stated)
        return looked, answer

    def distribution(
        self, parts: Parts, item: np.ndarray, annotator: np.ndarray, dtype: Any = np.float64
    ) -> np.ndarray:
        """The probability of each answer of each pair, (n_pairs, n_values)."""
        n_parts, n_values = parts.aspect.shape[1], len(self.distance)
        closeness, answers = self.closeness, np.empty((len(item), n_values), dtype=dtype)
        for rows in blocks(len(item), n_values):
            annotators, items = annotator[rows], item[rows]
            lean = self.lean[annotators].astype(float)  # (block, n_values)
            focus = self.focus(parts, items, annotators)
            noise = self.noise[annotators, None] / 100
            mixed = np.zeros_like(lean)
            for part in range(n_parts):
                reading = lean * closeness[parts.value[items, part]]
                mixed += reading * (focus[:, part] / reading.sum(axis=1))[:, None]
            answers[rows] = (1 - noise) * mixed + noise * lean / lean.sum(axis=1, keepdims=True)
        return answers

    # ---- what annotators do on average ----

    def mean_distribution(self, parts: Parts) -> np.ndarray:
        """The mean of all annotators' answer distributions, (n_items, n_values).

        Its most probable value is the best answer without knowing the annotator. It is summed over
        the sets of aspects that occur, not over all pairs of items and annotators.
        """
        code, focus = self._focus_by_set(parts)
        lean, noise, closeness = self.lean.astype(float), self.noise[:, None] / 100, self.closeness
        careless = noise * lean / lean.sum(axis=1, keepdims=True)
        mean = np.tile(careless.mean(axis=0), (len(parts), 1))  # (n_items, n_values)
        for value in np.unique(parts.value[parts.there]):
            reading = lean * closeness[value]
            reading *= (1 - noise) / reading.sum(axis=1, keepdims=True)
            by_set = np.einsum("sak,av->skv", focus, reading, optimize=True) / len(self)
            for aspect, stated in zip(parts.aspect.T, parts.value.T, strict=True):
                item = np.flatnonzero((aspect >= 0) & (stated == value))
                mean[item] += by_set[code[item], aspect[item]]
        return mean


@dataclass(frozen=True, eq=False)
class Raters(Attention):
    """Annotators, and the exact density of how each of them rates an item on one question.

    Annotator a looks at part j of item i with probability focus(j | i, a), as `Attention` states
    it, and rates it mode(i, j) + bias[a] + k, all in hundredths. The slip k is the sum of two fair
    draws from -s to s, where s = spread[a], so that

        P(k) = (2 s + 1 - |k|) / (2 s + 1) ** 2                 for |k| <= 2 s
        p(x | i, a) = sum over j of focus(j | i, a) * P(x - mode(i, j) - bias[a]).
    """

    bias: np.ndarray  # (n_annotators,) hundredths
    spread: np.ndarray  # (n_annotators,) hundredths

    @classmethod
    def balanced(
        cls, n_annotators: int, n_aspects: int, n_questions: int, draws: Draws
    ) -> list[Raters]:
        """The same annotators on each of several questions; only their bias differs."""
        preference = even_preferences(n_annotators, n_aspects, draws)
        spread = np.array(SPREAD)[evenly(n_annotators, len(SPREAD), draws)]
        biases = [
            np.array(BIAS)[evenly(n_annotators, len(BIAS), draws)] for _ in range(n_questions)
        ]
        return [cls(preference, bias, spread) for bias in biases]

    def rate(self, mode: np.ndarray, annotator: np.ndarray, draws: Draws) -> np.ndarray:
        """Ratings in hundredths of the parts looked at, whose modes these are, (n_rows,)."""
        spread = self.spread[annotator]
        slip = draws.below(2 * spread + 1, len(mode)) + draws.below(2 * spread + 1, len(mode))
        return mode + self.bias[annotator] + slip - 2 * spread

    def below(
        self,
        points: np.ndarray,
        parts: Parts,
        mode: np.ndarray,
        item: np.ndarray,
        annotator: np.ndarray,
    ) -> np.ndarray:
        """The probability of rating no higher than each point, (n_pairs, n_points)."""
        total = np.zeros((len(item), len(points)))
        for rows in blocks(len(item), len(points)):
            annotators, items = annotator[rows], item[rows]
            focus = self.focus(parts, items, annotators)
            for part in range(focus.shape[1]):
                centre = mode[items, part] + self.bias[annotators]
                slip, n = points - centre[:, None], 2 * self.spread[annotators, None] + 1
                few, many = np.clip(slip + n, 0, n), np.clip(n - 1 - slip, 0, n)
                below = np.where(slip < 0, few * (few + 1) // 2, n * n - many * (many + 1) // 2)
                total[rows] += focus[:, part, None] * (below / (n * n))  # sums of P, in closed form
        return total

    def density(
        self, parts: Parts, mode: np.ndarray, item: np.ndarray, annotator: np.ndarray
    ) -> np.ndarray:
        """The probability of each rating in HUNDREDTHS, (n_pairs, 201)."""
        return np.diff(self.below(HUNDREDTHS, parts, mode, item, annotator), axis=1, prepend=0.0)


def assign(sizes: Sizes, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Assign annotators to items: (item, annotator) per row, item by item.

    The numbers of answers per annotator differ by at most one. Annotators take turns in a random
    order; after the fewest whole turns that end with an item a new order is drawn, so that all
    annotators share items with one another.
    """
    n_items, n_annotators, labels_per_item, *_ = sizes
    turns = labels_per_item // gcd(n_annotators, labels_per_item)
    places = np.arange(n_items * labels_per_item)
    order = draws.orders(places[-1] // (turns * n_annotators) + 1, n_annotators)
    annotator = order[places // (turns * n_annotators), places % n_annotators]
    annotator = np.sort(annotator.reshape(n_items, labels_per_item), axis=1)
    item = np.repeat(np.arange(n_items, dtype=np.int32), labels_per_item)
    return item, annotator.ravel().astype(np.int32)


def circle(n_values: int) -> np.ndarray:
    """Steps between values on a circle, such as the circumplex of affect.

    Example:
        >>> circle(6)[0].tolist()
        [0.0, 1.0, 2.0, 3.0, 2.0, 1.0]
    """
    place = np.arange(float(n_values))
    apart = np.abs(place[:, None] - place)
    return np.minimum(apart, n_values - apart)


def even_preferences(n_annotators: int, n_aspects: int, draws: Draws) -> np.ndarray:
    """Preferences such that every aspect is preferred as often as any other.

    Each run of n_aspects annotators shares one random order of the aspects, turned by one place
    from one to the next: together they prefer each aspect equally.
    """
    runs = -(-n_annotators // n_aspects)
    order = draws.orders(runs, n_aspects).repeat(n_aspects, axis=0)[:n_annotators]
    return (order + np.arange(n_annotators)[:, None] % n_aspects) % n_aspects


def draw_parts(crowd: Attention, n_items: int, n_values: int, draws: Draws) -> Parts:
    """Which aspects and values the three or four parts of each item have, in random order.

    One value is stated twice: it is the best guess without knowing the annotator.
    """
    sets = [np.pad(crowd.even_sets(n), ((0, 0), (0, MOST - n)), constant_values=-1) for n in (3, 4)]
    three, four = (chosen[draws.below(len(chosen), n_items)] for chosen in sets)
    aspect = np.where(draws.below(2, n_items)[:, None] == 0, three, four)
    value = draws.distinct(n_values, n_items, MOST - 1)[:, [0, 0, 1, 2]]
    value = np.where(aspect < 0, -1, value)
    return Parts(shuffled(aspect, draws), shuffled(value, draws))


def shuffled(table: np.ndarray, draws: Draws) -> np.ndarray:
    """Each row in random order, with missing entries (-1) at the end."""
    key = draws.words(*table.shape) + ((table < 0).astype(np.int64) << 32)
    return np.take_along_axis(table, np.argsort(key, axis=1, kind="stable"), axis=1)


def evenly(n: int, limit: int, draws: Draws) -> np.ndarray:
    """n numbers below limit in random order, each as often as any other, or once more."""
    return (np.arange(n) % limit)[draws.orders(1, n)[0]]


def blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices of rows of this width, such that arrays computed from a slice are small."""
    step = max(1, CELLS // width)
    return (slice(start, start + step) for start in range(0, n_rows, step))
