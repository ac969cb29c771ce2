"""Which items and rows stand together in a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dissensus.training.batch import Batch
from dissensus.training.examples import Examples
from dissensus.training.settings import Training


class Cut(NamedTuple):
    """What a batch is made of."""

    items: np.ndarray  # (n_items,) codes
    rows: np.ndarray  # (n_rows,) numbers in the table
    owner: np.ndarray  # (n_rows,) the position in `items` of each row's item
    share: np.ndarray  # (n_items,) the share of the item's rows that is here


def cuts(
    examples: Examples, learned: np.ndarray, training: Training, order: np.random.Generator | None
) -> Iterator[Cut]:
    """An epoch. Every row of the learned items occurs once, in the generator's order, if any.

    An item with more than `max_rows_per_item` rows is cut into pieces, its rows shuffled first,
    and the pieces land in any batch.
    """
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
    share = (1.0 / pieces[item]).astype(np.float32)
    sequence = _sequence(examples, learned[item], training, order)
    for begin in range(0, len(sequence), training.batch_size):
        chosen = sequence[begin : begin + training.batch_size]
        lengths = stop[chosen] - start[chosen]
        owner = np.repeat(np.arange(len(chosen)), lengths)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        yield Cut(learned[item[chosen]], rows[start[chosen][owner] + within], owner, share[chosen])


def _sequence(
    examples: Examples, item: np.ndarray, training: Training, order: np.random.Generator | None
) -> np.ndarray:
    """The order in which pieces of items come: shuffled, and by content if it is said so."""
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
    """Batches in order, to predict with, each with the numbers of its rows in the table."""
    everything = Training(batch_size=size, max_rows_per_item=1 << 40)
    for cut in cuts(examples, items, everything, None):
        yield examples.batch(*cut), cut.rows
