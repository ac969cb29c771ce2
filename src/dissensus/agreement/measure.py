"""What is known of a measure of agreement besides its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.annotations import Annotations

# From item weights (n_draws, n_items) to one value for each draw, (n_draws,). An item of weight 2
# counts as two items with the same answers: this is how the bootstrap draws items.
Estimate = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Measure:
    """A measure of agreement, the scales it is for, and what it means in a line."""

    function: Callable[[Annotations], float]
    scales: tuple[str, ...]  # kinds of scales
    description: str
    prepare: Callable[[Annotations], Estimate]  # the same for weighted items, prepared once
    reasons: tuple[Callable[[Annotations], str | None], ...]  # why it is nan; the first that speaks
    needs_ids: bool = False  # whether it must know who answered
    brief: bool = False  # whether it is among the few of `at_a_glance`


@dataclass(frozen=True)
class Breakdown:
    """A measure that has one value per item, per annotator or per pair of annotators."""

    function: Callable[[Annotations], np.ndarray]
    scales: tuple[str, ...]
    description: str
    needs_ids: bool = False
    higher_is_agreement: bool = True  # else what is far from 0 is worth a look


def whole(prepare: Callable[[Annotations], Estimate], annotations: Annotations) -> float:
    """The value with every item counted once."""
    return float(prepare(annotations)(np.ones((1, annotations.n_items)))[0])


def summed(weight: np.ndarray, per_item: np.ndarray) -> np.ndarray:
    """Weighted sums over items, (n_draws,) or (n_draws, n_columns).

    For a single draw without the threads of a matrix product, which wait for busy cores.
    """
    if len(weight) > 1:
        return weight @ per_item
    return np.einsum("i,i...->...", weight[0], per_item)[None]


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below; nan where below is not positive."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
