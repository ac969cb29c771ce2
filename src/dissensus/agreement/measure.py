"""What is known of a measure of agreement besides its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dissensus.annotations import AnnotationBlocks, Annotations

BLOCK = 1 << 20  # numbers at a time
MOST_PAIRS = 1 << 26  # of annotators and values, that are counted in blocks


class Estimate(Protocol):
    """A measure of some annotations, prepared so that one item can be left out quickly."""

    def value(self) -> float:
        """The measure of all items; nan where undefined."""
        ...

    def without_each(self) -> np.ndarray:
        """The measure without the first item, without the second, ..., (n_items,)."""
        ...


class Summable(Estimate, Protocol):
    """A measure that is a formula of sums over items, which may be those of more items."""

    def totals(self, weights: np.ndarray | None = None) -> list[np.ndarray]:
        """What is summed over items, each as often as its weight (n_items,) says."""
        ...

    def value(self, totals: list[np.ndarray] | None = None) -> float:
        """The measure of all items, or of those whose totals are given."""
        ...

    def without_each(self, totals: list[np.ndarray] | None = None) -> np.ndarray:
        """The same without one of the own items, (n_items,)."""
        ...


class Formula(NamedTuple):
    """A standard error, an interval and a test by formula; nan and "" where there is none.

    `p` is of the hypothesis that the true value is 0.
    """

    error: float
    low: float
    high: float
    test: str  # such as "t(11) = 5.3"
    p: float


@dataclass(frozen=True)
class Measure:
    """A measure of agreement, the scales it is for, and what it means in a line."""

    function: Callable[[Annotations], float]
    scales: tuple[str, ...]  # kinds of scales
    description: str
    prepare: Callable[[Annotations], Estimate]  # the same, to leave out one item after another
    reasons: tuple[Callable[[Annotations], str | None], ...]  # why it is nan; the first that speaks
    needs_ids: bool = False  # whether annotators must be known
    brief: bool = False  # whether it is among the few of `at_a_glance`
    bounds: tuple[float, float] = (-1.0, 1.0)  # of its confidence interval
    formula: Callable[..., Formula] | None = None  # of its standard error
    takes_weights: bool = False  # whether function, prepare and formula have the argument `weights`
    is_kappa: bool = False  # agreement beyond chance, for which textbooks have words
    in_blocks: tuple[str, ...] = ()  # kinds of scales on which blocks of items have `Summable`s
    prepare_block: Callable[[Annotations], Estimate] | None = None  # of a block, if not `prepare`
    most_values: int | None = None  # of a multi-label scale, in blocks
    by_pairs: bool = False  # whether blocks count pairs of annotators

    def why_not_in_blocks(self, blocks: AnnotationBlocks) -> str | None:
        """None, or why these answers cannot be counted in blocks of items."""
        kind = blocks.scale.kind
        if kind not in self.in_blocks:
            return f"{kind} answers must all be in one process for it"
        if self.most_values is not None and kind == "multi-label":
            if blocks.scale.n_columns > self.most_values:
                return f"sets of more than {self.most_values} values must all be in one process"
        if self.needs_ids and blocks.is_anonymous:
            return "it needs known annotators; these answers are anonymous"
        if self.by_pairs and blocks.repeats:
            return "repeated answers must all be in one process for it"
        if self.by_pairs and (blocks.n_annotators * blocks.scale.n_columns) ** 2 > MOST_PAIRS:
            return f"the pairs of {blocks.n_annotators:,} annotators are too many to be counted"
        return None


@dataclass(frozen=True)
class Breakdown:
    """A measure that has one value per item, per annotator or per pair of annotators."""

    function: Callable[[Annotations], np.ndarray]
    scales: tuple[str, ...]
    description: str
    needs_ids: bool = False
    higher_is_agreement: bool = True  # else what is far from 0 is worth a look


@dataclass(frozen=True, eq=False)
class OfSums:
    """A measure that is a formula of sums over items (`Summable`).

    Args:
        per_item: what is summed, (n_items,) or (n_items, n_columns) each.
        formula: from the sums, (n,) or (n, n_columns) each, to n values.
    """

    per_item: tuple[np.ndarray, ...]
    formula: Callable[..., np.ndarray]

    def value(self, totals: list[np.ndarray] | None = None) -> float:
        totals = self.totals() if totals is None else totals
        return float(self.formula(*(sums[None] for sums in totals))[0])

    def without_each(self, totals: list[np.ndarray] | None = None) -> np.ndarray:
        totals, n_items = self.totals() if totals is None else totals, len(self.per_item[0])
        step = max(1, BLOCK // sum(int(total.size) for total in totals))
        values = np.empty(n_items)
        for begin in range(0, n_items, step):
            block = slice(begin, begin + step)
            pairs = zip(totals, self.per_item, strict=True)
            values[block] = self.formula(*(total - part[block] for total, part in pairs))
        return values

    def totals(self, weights: np.ndarray | None = None) -> list[np.ndarray]:
        if weights is not None:
            return [np.asarray(weights @ part, dtype=float) for part in self.per_item]
        return [np.asarray(part.sum(axis=0), dtype=float) for part in self.per_item]


@dataclass(frozen=True, eq=False)
class Undefined:
    """A measure that has no value for these annotations (an `Estimate`)."""

    n_items: int

    def value(self) -> float:
        return float("nan")

    def without_each(self) -> np.ndarray:
        return np.full(self.n_items, np.nan)


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below; nan where below is not positive."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
