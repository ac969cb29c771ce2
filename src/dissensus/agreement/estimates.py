"""What measures are made of: pairs of answers to an item, counted, and summed over items.

A measure of some annotations is an `Estimate`. Most are a formula of sums over items (`OfSums`).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property, wraps
from typing import Any, Literal, ParamSpec, Protocol, cast

import numpy as np

from dissensus.annotations import Annotations
from dissensus.annotations.annotations import Repeated, slices
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.scales import MultiLabel, Nominal, Ordinal, Scale, set_sizes, shared_sizes

NamedWeights = Literal["identity", "linear", "quadratic", "ordinal"]
Weights = NamedWeights | np.ndarray | None


MOST_VALUES = 5_000  # that all pairs of are compared: 1 GB with all that is computed from them


def unequal(n_values: int) -> np.ndarray:
    """1 for different values, 0 for the same, (n_values, n_values); more than MOST_VALUES, or than
    the environment variable DISSENSUS_MAX_VALUES says, are refused."""
    stated = os.environ.get("DISSENSUS_MAX_VALUES") or str(MOST_VALUES)
    if not re.fullmatch("[0-9]{1,9}", stated):
        raise DataError(f"DISSENSUS_MAX_VALUES must be a whole number, found {stated!r}")
    if n_values > int(stated):
        raise DataError(
            f"agreement compares all pairs of values, {n_values:,} are more than {int(stated):,}; "
            "are these answers free texts? Choose other questions (--question), use fewer values, "
            f"or set DISSENSUS_MAX_VALUES={n_values}, which takes {40 * n_values**2 / 1e9:,.0f} GB"
        )
    return 1.0 - np.eye(n_values)


def disagreement(weights: Weights, scale: Scale, what: str) -> np.ndarray:
    """How much two values disagree, (n_values, n_values): 0 for a value with itself, at most 1.

    Args:
        weights: None or "identity": any two values disagree fully. "linear": by the steps between
            two levels; "quadratic": by their square; "ordinal": by the pairs of
            levels between them. An array: by these distances, 0 on the diagonal.
        what: the measure that asks, for messages.

    Example:
        >>> disagreement("linear", Ordinal(("low", "mid", "high")), "kappa").tolist()
        [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]

    Reference: Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 3.
    """
    if not isinstance(scale, Nominal | Ordinal):
        raise DataError(f"{what} needs nominal or ordinal answers, not {scale.kind}")
    n = len(scale)
    if weights is None:
        return unequal(n)
    if isinstance(weights, str):
        far = _by_steps(weights, scale)
    else:
        far = np.asarray(weights, dtype=float)
        if far.shape != (n, n) or np.diag(far).any() or not (far >= 0).all():
            raise DataError(
                f"the distance between {n} values is {n} x {n}, never negative, and 0 from a "
                f"value to itself; found {far.shape}"
            )
    return far / far.max() if far.any() else far


def _by_steps(weights: str, scale: Nominal | Ordinal) -> np.ndarray:
    if weights not in NAMED:
        raise DataError(
            f"no weights {weights!r}{did_you_mean(weights, NAMED)}; there are {listed(NAMED)}"
        )
    if weights != "identity" and isinstance(scale, Nominal):
        raise DataError(
            f"{weights} weights count steps between levels, and nominal values have no order; "
            "declare an ordinal scale, or give the distances as an array"
        )
    level = np.arange(len(scale), dtype=float)
    return NAMED[weights](level[:, None], level[None])


NAMED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "identity": lambda a, b: 1.0 - (a == b),
    "linear": lambda a, b: np.abs(a - b),
    "quadratic": lambda a, b: (a - b) ** 2,
    "ordinal": lambda a, b: np.abs(a - b) * (np.abs(a - b) + 1) / 2,
}


def numbers(scale: Scale, answer: np.ndarray, what: str) -> np.ndarray:
    """Answers as numbers: ratings as they are, levels by their position on the scale."""
    if isinstance(scale, Ordinal):
        return np.array(scale.positions)[answer]
    if scale.kind != "interval":
        raise DataError(f"{what} needs ratings or levels, not {scale.kind} answers")
    return np.asarray(answer, dtype=float)


def masi_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """1 - Jaccard index x monotonicity of two sets, given as bit masks; 0 to 1.

    Monotonicity is 1 for equal sets, 2/3 if one holds the other, 1/3 if they overlap, 0 if they
    have nothing in common; two empty sets are equal.

    Example:
        >>> joy, fear, both = 1, 2, 3
        >>> masi_distance(np.array([joy, joy, joy, 0]), np.array([joy, fear, both, 0])).round(4)
        array([0.    , 1.    , 0.6667, 0.    ])

    Reference: Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and
    pragmatic annotation.
    """
    shared, sizes = shared_sizes(a, b), (set_sizes(a), set_sizes(b))
    jaccard = shared / np.maximum(sizes[0] + sizes[1] - shared, 1)
    holds = shared == np.minimum(*sizes)
    monotone = np.where(holds, 2 / 3, 1 / 3)  # where nothing is shared, Jaccard is 0
    return np.where(shared == np.maximum(*sizes), 0.0, 1.0 - jaccard * monotone)


BLOCK = 1 << 20  # numbers at a time
Totals = list[np.ndarray]  # what is summed over items


class Estimate(Protocol):
    """A measure of some annotations, prepared so that one item can be left out quickly."""

    def value(self) -> float:
        """The measure of all items; nan where undefined."""
        ...

    def without_each(self) -> np.ndarray:
        """The measure without the first item, without the second, ..., (n_items,)."""
        ...


Options = ParamSpec("Options")


class Measured(Protocol[Options]):
    """A function that returns the value of a measure; `prepare` returns its `Estimate`."""

    prepare: Callable[Options, Estimate]

    def __call__(self, *args: Options.args, **kwargs: Options.kwargs) -> float: ...


def measure(prepare: Callable[Options, Estimate]) -> Measured[Options]:
    """The value of a measure that is written as its `Estimate`."""

    @wraps(prepare)
    def value(*args: Options.args, **kwargs: Options.kwargs) -> float:
        return prepare(*args, **kwargs).value()

    value.__annotations__ = {**prepare.__annotations__, "return": "float"}
    value.prepare = prepare  # type: ignore[attr-defined]
    return cast(Measured[Options], value)


class Summable(Estimate, Protocol):
    """A measure that is a formula of sums over items, which may be those of more items."""

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        """What is summed over items, each as often as its weight (n_items,) says."""
        ...

    def value(self, totals: Totals | None = None) -> float:
        """The measure of all items, or of those whose totals are given."""
        ...

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        """The same without one of the own items, (n_items,)."""
        ...


@dataclass(frozen=True, eq=False)
class OfSums:
    """A measure that is a formula of sums over items (`Summable`).

    Args:
        parts: of some items, what each of them adds to the sums: (n,) or (n, n_columns) each.
        formula: from the sums, (n,) or (n, n_columns) each, to n values.
    """

    n_items: int
    parts: Callable[[slice], Sequence[np.ndarray]]
    formula: Callable[..., np.ndarray]

    @classmethod
    def of(cls, per_item: Sequence[np.ndarray], formula: Callable[..., np.ndarray]) -> OfSums:
        """Of arrays that have what is summed, (n_items,) or (n_items, n_columns) each."""
        return cls(len(per_item[0]), lambda items: [part[items] for part in per_item], formula)

    def value(self, totals: Totals | None = None) -> float:
        totals = self.totals() if totals is None else totals
        return float(self.formula(*(sums[None] for sums in totals))[0])

    def without_each(self, totals: Totals | None = None) -> np.ndarray:
        values = np.empty(self.n_items)
        for items, part in self.without_some(totals):
            values[items] = part
        return values

    def without_some(self, totals: Totals | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """The same for some items at a time."""
        totals = self.totals() if totals is None else totals
        for items, parts in self._blocks():
            pairs = zip(totals, parts, strict=True)
            yield items, self.formula(*(total - part for total, part in pairs))

    def totals(self, weights: np.ndarray | None = None) -> Totals:
        totals: Totals = []
        for items, parts in self._blocks():
            sums = [p.sum(axis=0) if weights is None else weights[items] @ p for p in parts]
            totals = [a + b for a, b in zip(totals, sums, strict=True)] if totals else sums
        return [np.asarray(total, dtype=float) for total in totals]

    def _blocks(self) -> Iterator[tuple[slice, Sequence[np.ndarray]]]:
        """Some items at a time, and their parts; all at once, and kept, if there are few."""
        if self.n_items <= BLOCK // 8:
            yield slice(None), self._every_part
            return
        width = sum(part[0].size for part in self.parts(slice(0, 1)))
        for items in slices(self.n_items, max(1, BLOCK // width)):
            yield items, self.parts(items)

    @cached_property
    def _every_part(self) -> Sequence[np.ndarray]:
        return self.parts(slice(None))


def undefined(annotations: Annotations) -> OfSums:
    """A measure that has no value for these annotations."""
    return OfSums.of([np.full(annotations.n_items, np.nan)], lambda nothing: nothing)


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below; nan where below is not positive."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


def or_none(value: Any) -> Any:
    """A value as JSON has it: None in the place of nan, dictionaries of dataclasses, lists."""
    if value is None or type(value) in (str, int, bool):  # most of what there is
        return value
    if isinstance(value, dict):
        return {name: or_none(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [or_none(part) for part in value]
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if is_dataclass(value):
        return {name: or_none(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


# ---- pairs of answers to an item ----


@dataclass(frozen=True, eq=False)
class Votes:
    """How many annotators gave an item each value, and how much two values are apart."""

    counts: np.ndarray  # (n_items, n_values) in few bytes
    n: np.ndarray  # (n_items,) annotators
    own: np.ndarray  # (n_items,) how much annotators who answered twice disagree with themselves
    apart: np.ndarray  # (n_values, n_values)

    @classmethod
    def of(cls, annotations: Annotations, apart: np.ndarray) -> Votes:
        """Count; `apart` says how much two values disagree."""
        answer = annotations.answer
        own = own_disagreement(annotations, lambda a, b: apart[answer[a], answer[b]])
        return cls(annotations.small_counts, annotations.small_voters, own, apart)

    def agreeing(self, items: slice) -> tuple[np.ndarray, np.ndarray]:
        """The share of pairs of annotators of these items who agree, 0 without any, and 1 where
        there are any; `apart` is 0 to 1."""
        counts, n = self.counts[items].astype(float), self.n[items].astype(float)
        return _agreeing(n, differing(counts, self.apart) - self.own[items])

    def agreement(self, items: slice) -> tuple[np.ndarray, ...]:
        """As `agreeing`, then the shares of values among an item's votes, (n_items, n_values), and
        1 for items with answers."""
        share = self.counts[items] / np.maximum(self.n[items], 1.0)[:, None]
        return *self.agreeing(items), share, (self.n[items] > 0).astype(float)


def equal_pairs(annotations: Annotations) -> OfSums:
    """The share of equal pairs, mean over items with pairs."""
    if not isinstance(annotations.scale, MultiLabel):
        votes = Votes.of(annotations, unequal(annotations.scale.n_columns))
        return OfSums(len(votes.n), votes.agreeing, ratio)
    n, answer = annotations.voters(), annotations.answer
    item, _, alike = groups(annotations)
    own = own_disagreement(annotations, lambda a, b: answer[a] != answer[b])
    apart = n**2.0 - np.bincount(item, alike**2, minlength=len(n)) - own
    return OfSums.of(_agreeing(n, apart), ratio)


def _agreeing(n: np.ndarray, disagreeing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of ordered pairs of an item's n annotators who agree, and 1 where there are any."""
    several = n >= 2
    pairs = np.where(several, n * (n - 1.0), 1.0)
    return np.where(several, 1.0 - disagreeing / pairs, 0.0), several.astype(float)


def groups(annotations: Annotations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each answer that was given to an item: the item, the answer, and how many gave it.

    Items rise, and so do the answers of an item.
    """
    values, answer = np.unique(annotations.answer, return_inverse=True)
    key = annotations.item.astype(np.int64) * max(len(values), 1) + answer.reshape(-1)
    order = np.argsort(key)
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    if not starts.size:
        return starts, annotations.answer[:0], np.zeros(0)
    first = order[starts]
    times = np.add.reduceat(annotations.votes[order], starts)
    return annotations.item[first], annotations.answer[first], times


def differing(counts: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """How much each item's ordered pairs of answers disagree in sum, (n_items,).

    Args:
        counts: how many gave which value, (n_items, n_values).
        apart: how far apart two values are, (n_values, n_values).
    """
    if (apart == 1.0 - np.eye(len(apart))).all():
        return np.einsum("iv->i", counts) ** 2 - np.einsum("iv,iv->i", counts, counts)
    return np.einsum("iv,iv->i", counts @ apart, counts)


def pairs_within(item: np.ndarray, at_once: int = BLOCK) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions of each two rows of one item, a block at a time; `item` (n,) rises."""
    end = np.searchsorted(item, item, side="right")
    later = end - np.arange(len(item)) - 1  # rows of the same item that follow
    cumulated = np.cumsum(later)
    begin = 0
    while begin < len(item):
        done = cumulated[begin - 1] if begin else 0
        stop = max(int(np.searchsorted(cumulated, done + at_once, side="right")), begin + 1)
        a = np.repeat(np.arange(begin, stop), later[begin:stop])
        before = (cumulated - later - done)[a]  # pairs of this block with rows before a
        yield a, a + 1 + np.arange(len(a)) - before
        begin = stop


def own_disagreement(
    annotations: Annotations,
    apart: Callable[[np.ndarray, np.ndarray], np.ndarray],
    alone: bool = False,
) -> np.ndarray:
    """How much annotators who answered an item twice disagree with themselves, (n_items,).

    It is what counts of votes contain besides the disagreement of different annotators: the sum
    over ordered pairs of an annotator's answers to an item, which share one vote. 0 for items of
    one annotator.

    Args:
        apart: from two arrays of rows to how much their answers disagree.
        alone: also of items of one annotator.
    """
    repeated = annotations.repeated
    if repeated is None:
        return np.broadcast_to(0.0, annotations.n_items)
    own = np.zeros(annotations.n_items)
    rows, place, votes = repeated.several() if alone else _shared(annotations, repeated)
    item = annotations.item[rows]
    for a, b in pairs_within(place):
        far = 2 * votes[a] * votes[b] * apart(rows[a], rows[b])
        own += np.bincount(item[a], far, minlength=len(own))
    return own


def repeated_votes(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The item and the votes, (n, n_values), of each annotator who answered an item twice that
    others answered too."""
    n_values, repeated = annotations.scale.n_columns, annotations.repeated
    if repeated is None:
        return np.zeros(0, dtype=np.int64), np.zeros((0, n_values))
    rows, place, votes = _shared(annotations, repeated)
    pairs, first, place = np.unique(place, return_index=True, return_inverse=True)
    key = place.reshape(-1) * n_values + annotations.answer[rows]
    table = np.bincount(key, votes, minlength=len(pairs) * n_values).astype(float, copy=False)
    return annotations.item[rows[first]], table.reshape(-1, n_values)


def _shared(annotations: Annotations, repeated: Repeated) -> tuple[np.ndarray, ...]:
    """`Repeated.several` of items with two annotators or more."""
    rows, place, votes = repeated.several()
    shared = annotations.voters()[annotations.item[rows]] >= 2
    return rows[shared], place[shared], votes[shared]


# ---- several tests ----


def holm(
    p_values: Sequence[float] | np.ndarray, weights: Sequence[float] | np.ndarray | None = None
) -> np.ndarray:
    """Corrected so that 5 % of families at most have one below 0.05 that should not be.

    nan stays nan and is no test.

    Args:
        weights: a test with twice the weight may be significant by a p twice as large.

    Example:
        >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
        [0.03, 0.06, nan, 0.06]
        >>> holm([0.03, 0.03], weights=[0.75, 0.25]).round(3).tolist()
        [0.04, 0.04]

    Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    p_values = np.asarray(p_values, dtype=float)
    weight = np.ones(p_values.shape) if weights is None else np.asarray(weights, dtype=float)
    corrected = np.full(p_values.shape, np.nan)
    order = np.argsort(p_values / weight)[: np.count_nonzero(~np.isnan(p_values))]
    left = np.cumsum(weight[order][::-1])[::-1]  # of the tests that were not rejected before
    steps = np.maximum.accumulate(p_values[order] / weight[order] * left)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def false_discovery(p_values: np.ndarray) -> np.ndarray:
    """Corrected so that of those below 0.05, 5 % at most are expected not to be.

    If none should be, 5 % of families at most have one. nan stays nan and is no test.

    Example:
        >>> false_discovery(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
        [0.03, 0.04, nan, 0.04]

    Reference: Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.
    """

    corrected = np.full(p_values.shape, np.nan)
    order = np.argsort(p_values)[: np.count_nonzero(~np.isnan(p_values))]
    steps = p_values[order] * (len(order) / np.arange(1, len(order) + 1))
    # as in scipy.stats, which is slow to import
    corrected[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return corrected
