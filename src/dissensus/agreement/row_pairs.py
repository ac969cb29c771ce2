"""Pairs of rows about one item."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dissensus.agreement.measure import BLOCK
from dissensus.annotations import Annotations
from dissensus.annotations.repeats import Repeated
from dissensus.scales import Interval


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
    own, repeated = np.zeros(annotations.n_items), annotations.repeated
    if repeated is None:
        return own
    rows, place, votes = repeated.several() if alone else _shared(annotations, repeated)
    item = annotations.item[rows]
    for a, b in pairs_within(place):
        far = 2 * votes[a] * votes[b] * apart(rows[a], rows[b])
        own += np.bincount(item[a], far, minlength=len(own))
    return own


def own_by_values(annotations: Annotations, apart: np.ndarray) -> np.ndarray:
    """`own_disagreement`, where two values disagree by `apart` (n_values, n_values)."""
    answer = annotations.answer
    return own_disagreement(annotations, lambda a, b: apart[answer[a], answer[b]])


def own_by_squares(annotations: Annotations, number: np.ndarray) -> np.ndarray:
    """`own_disagreement` in squared differences of `number` (n_rows,)."""
    return own_disagreement(annotations, lambda a, b: (number[a] - number[b]) ** 2)


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


def with_oneself(annotations: Annotations) -> float:
    """The share of pairs of an annotator's answers to an item that are equal; of ratings, how far
    apart they are on average. nan if nobody answered an item twice.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "ann", "no"), ("t2", "ann", "no"),
        ...         ("t2", "ann", "no")]
        >>> with_oneself(Annotations.from_rows(rows, repeats="keep"))
        0.5
    """
    if annotations.repeated is None:
        return float("nan")
    rows, place, _ = annotations.repeated.several()
    answer, is_rating = annotations.answer[rows], isinstance(annotations.scale, Interval)
    total = n_pairs = 0.0
    for a, b in pairs_within(place):
        of_pairs = np.abs(answer[a] - answer[b]) if is_rating else answer[a] == answer[b]
        total, n_pairs = total + float(of_pairs.sum()), n_pairs + len(a)
    return total / n_pairs


def value_pairs(annotations: Annotations) -> np.ndarray:
    """How often two annotators of an item gave each two values, (n_values, n_values).

    Every annotator of an item counts once, whatever their number.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no")]
        >>> value_pairs(Annotations.from_rows(rows)).tolist()
        [[2.0, 1.0], [1.0, 0.0]]
    """
    n = annotations.voters()
    counts = annotations.counts()[n >= 2]
    per_pair = counts / (n[n >= 2] - 1)[:, None]
    item, votes = repeated_votes(annotations)
    own = votes / (n[item] - 1)[:, None]
    alone = np.diag(per_pair.sum(axis=0) - own.sum(axis=0)) + own.T @ votes
    return np.asarray(per_pair.T @ counts - alone)


def _shared(annotations: Annotations, repeated: Repeated) -> tuple[np.ndarray, ...]:
    """`Repeated.several` of items with two annotators or more."""
    rows, place, votes = repeated.several()
    shared = annotations.voters()[annotations.item[rows]] >= 2
    return rows[shared], place[shared], votes[shared]
