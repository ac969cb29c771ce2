"""Which items and rows make up each batch of an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dissensus.training.batch import Batch
from dissensus.training.examples import Examples
from dissensus.training.settings import Training


class BatchIndex(NamedTuple):
    """The items and rows of a batch."""

    items: np.ndarray  # (n_items,) codes
    rows: np.ndarray  # (n_rows,) numbers in the table
    owner: np.ndarray  # (n_rows,) the position in `items` of each row's item
    share: np.ndarray  # (n_items,) the share of the item's rows that is here


@dataclass(frozen=True, eq=False)
class EpochPlan:
    """An epoch: items, or pieces of items with very many rows, in their order, with their rows."""

    items: np.ndarray  # (n_pieces,) codes
    share: np.ndarray  # (n_pieces,) the share of the item's rows in each piece
    rows: np.ndarray  # (n_rows,) numbers in the table
    starts: np.ndarray  # (n_pieces + 1,) where each piece's rows begin
    batch_size: int

    def __len__(self) -> int:
        return -(-len(self.items) // self.batch_size)

    def batch(self, number: int) -> BatchIndex:
        """The items and rows of the batch of this number."""
        first = number * self.batch_size
        last = min(first + self.batch_size, len(self.items))
        starts = self.starts[first : last + 1]
        owner = np.repeat(np.arange(last - first), np.diff(starts))
        rows = self.rows[starts[0] : starts[-1]]
        return BatchIndex(self.items[first:last], rows, owner, self.share[first:last])


def plan_epoch(
    examples: Examples, learned: np.ndarray, training: Training, order: np.random.Generator | None
) -> EpochPlan:
    """Every row of the learned items once, in an order drawn from the generator.

    Without a generator, or where the training does not shuffle, items keep their order. An item
    with more than `max_rows_per_item` rows is divided into pieces, after its rows are shuffled, and
    the pieces may be in different batches.
    """
    order = order if training.shuffle else None
    first, last = examples.offsets[learned], examples.offsets[learned + 1]
    pieces = np.maximum(1, -(-(last - first) // training.max_rows_per_item))
    item = np.repeat(np.arange(len(learned)), pieces)
    nth = np.arange(len(item)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    rows = np.arange(len(examples.table.item))
    if order is not None:
        for heavy in np.flatnonzero(pieces > 1):
            order.shuffle(rows[first[heavy] : last[heavy]])
    n = last - first
    start = first[item] + n[item] * nth // pieces[item]
    stop = first[item] + n[item] * (nth + 1) // pieces[item]
    sequence = _sequence(examples, learned[item], training, order)
    lengths = (stop - start)[sequence]
    starts = np.r_[0, np.cumsum(lengths)]
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    return EpochPlan(
        learned[item[sequence]],
        (1.0 / pieces[item]).astype(np.float32)[sequence],
        rows[np.repeat(start[sequence], lengths) + within],
        starts,
        training.batch_size,
    )


def batch_indices(
    examples: Examples, learned: np.ndarray, training: Training, order: np.random.Generator | None
) -> Iterator[BatchIndex]:
    """The batches of an epoch, one after another."""
    plan = plan_epoch(examples, learned, training, order)
    return (plan.batch(number) for number in range(len(plan)))


def _sequence(
    examples: Examples, item: np.ndarray, training: Training, order: np.random.Generator | None
) -> np.ndarray:
    """The order of the pieces of items: shuffled, and grouped by content with `batch_by`."""
    if order is None:
        return np.arange(len(item))
    shuffled = order.permutation(len(item))
    if training.batch_by == "item":
        return shuffled
    codes = np.stack([content[item] for content in examples.content.values()], axis=1)
    _, group = np.unique(codes, axis=0, return_inverse=True)
    place = order.permutation(group.max(initial=0) + 1)
    return shuffled[np.argsort(place[group.reshape(-1)[shuffled]], kind="stable")]


def batches(examples: Examples, items: np.ndarray, size: int) -> Iterator[tuple[Batch, np.ndarray]]:
    """Batches to predict with, in order, each with the numbers of its rows in the table."""
    settings = Training(batch_size=size, max_rows_per_item=1 << 40)
    for index in batch_indices(examples, items, settings, None):
        yield examples.batch(*index), index.rows
