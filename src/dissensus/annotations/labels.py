"""One label per item from its answers, with rules for ties."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from dissensus.errors import DataError

Ties = Literal["first", "last", "random", "drop"]
Labels = tuple[np.ndarray, np.ndarray]  # rows that have a label, and the label of each


def check_ties(ties: Ties) -> None:
    """Refuse an unknown rule."""
    if ties not in get_args(Ties):
        raise DataError(f"no rule {ties!r} for ties; there are first, last, random and drop")


def most_frequent(counts: np.ndarray) -> np.ndarray:
    """The values of each row (n, n_values) that no other outnumbers, as booleans."""
    return counts == counts.max(axis=1, keepdims=True)


def middle(counts: np.ndarray) -> np.ndarray:
    """The levels of each row (n, n_values) from one middle answer to the other, as booleans.

    Example:
        >>> middle(np.array([[1.0, 0, 0, 1], [1, 1, 1, 0]])).astype(int).tolist()
        [[1, 1, 1, 1], [0, 1, 0, 0]]
    """
    cumulated = counts.cumsum(axis=1)
    total = cumulated[:, -1:]
    low = (2 * cumulated >= total).argmax(axis=1)[:, None]
    high = (2 * cumulated > total).argmax(axis=1)[:, None]
    level = np.arange(counts.shape[1])
    return (low <= level) & (level <= high)


def one_of(best: np.ndarray, ties: Ties, seed: int) -> Labels:
    """One of the best values of each row, (n, n_values) booleans."""
    rows = np.arange(len(best))
    if ties == "drop":
        rows = np.flatnonzero(best.sum(axis=1) == 1)
        best = best[rows]
    if ties == "last":
        return rows, best.shape[1] - 1 - best[:, ::-1].argmax(axis=1)
    if ties == "random":
        return rows, (best * np.random.default_rng(seed).random(best.shape)).argmax(axis=1)
    return rows, best.argmax(axis=1)


def above_half(share: np.ndarray, ties: Ties, seed: int) -> Labels:
    """The set of values that more than half of each row's annotators chose, as booleans.

    One at exactly one half is out, and in if `ties` is "last"; at "random" a coin decides.
    """
    rows, chosen, even = np.arange(len(share)), share > 0.5, share == 0.5
    if ties == "last":
        chosen = chosen | even
    elif ties == "random":
        chosen = chosen | (even & (np.random.default_rng(seed).random(share.shape) < 0.5))
    elif ties == "drop":
        rows = np.flatnonzero(~even.any(axis=1))
    return rows, chosen[rows]
