"""Spearman's and Kendall's correlation of pairs of annotators, compiled.

Without an item, ranks above it fall by one and those of its ties by one half. So both correlations
without each item come from one count per item: how many other items the two annotators order in
the same way, less those they order the other way round. A Fenwick tree counts them.
"""

from __future__ import annotations

import numba
import numpy as np

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def rank_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, annotator, number, kendall, matrix, sums, without,
):  # fmt: skip
    """The rank correlation of each pair's ratings of common items; as `kappa_by_rows`."""
    n_annotators = len(begin) - 1
    n_common = np.zeros(n_annotators, np.int64)
    for k in range(first, n_annotators, step):
        n_common[:] = 0
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                if annotator[other_row] != k:
                    n_common[annotator[other_row]] += 1
        starts = np.zeros(n_annotators + 1, np.int64)
        starts[1:] = np.cumsum(n_common)
        at = starts[:-1].copy()
        x, y = np.empty(starts[-1]), np.empty(starts[-1])
        about = np.empty(starts[-1], np.int64)
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                m = annotator[other_row]
                if m != k:
                    x[at[m]], y[at[m]], about[at[m]] = number[row], number[other_row], item[row]
                    at[m] += 1
        for m in range(n_annotators):
            if n_common[m] == 0:
                continue
            pair = slice(starts[m], starts[m + 1])
            value, left_out = rank_correlation(x[pair], y[pair], kendall, len(without) > 0)
            if not np.isnan(value):
                sums[k, 0] += value
                sums[k, 1] += 1
            if matrix.size:
                matrix[k, m] = value
                matrix[m, k] = value
            items = about[pair]
            place = 0 if len(without) else len(items)
            while place < len(items):
                stop = place + 1
                while stop < len(items) and items[stop] == items[place]:
                    stop += 1
                new = left_out[place]
                if stop > place + 1:  # repeats: the item has several rows of this pair
                    kept = items != items[place]
                    new = rank_correlation(x[pair][kept], y[pair][kept], kendall, False)[0]
                if not np.isnan(value):
                    without[items[place], 0] -= value
                    without[items[place], 1] -= 1
                if not np.isnan(new):
                    without[items[place], 0] += new
                    without[items[place], 1] += 1
                place = stop


@_compiled
def rank_correlation(x, y, kendall, leave_out):  # type: ignore[no-untyped-def]
    """Spearman's rho or Kendall's tau-b, and the same without each entry (n,)."""
    n = len(x)
    x_rank, x_ties = _ranks(x)
    y_rank, y_ties = _ranks(y)
    without = np.full(n, np.nan)
    if kendall:
        scores = _ordered_alike(x_rank, y_rank)
        total = scores.sum()  # ordered pairs
        x_tied, y_tied = (x_ties - 1).sum(), (y_ties - 1).sum()
        if leave_out:
            for i in range(n):
                without[i] = _tau(
                    n - 1,
                    total - 2 * scores[i],
                    x_tied - 2 * (x_ties[i] - 1),
                    y_tied - 2 * (y_ties[i] - 1),
                )
        return _tau(n, total, x_tied, y_tied), without
    x_cubes, y_cubes = (x_ties**2 - 1).sum(), (y_ties**2 - 1).sum()  # sums of t^3 - t
    product = (x_rank * y_rank).sum()
    if leave_out:
        scores = _ordered_alike(x_rank, y_rank)
        x_above, y_above = _above(x_rank, y_rank), _above(y_rank, x_rank)
        whole = n * (n + 1) / 2
        for i in range(n):
            p, q = x_rank[i], y_rank[i]
            x_fall = (whole - p + x_above[i]) / 2  # of x ranks, times the fall of y ranks
            y_fall = (whole - q + y_above[i]) / 2
            both = (n - 1 + (n + 1 - 2 * p) + (n + 1 - 2 * q) + scores[i]) / 4
            s, t = x_ties[i], y_ties[i]
            without[i] = _rho(
                n - 1,
                product - p * q - x_fall - y_fall + both,
                x_cubes - 3 * s * (s - 1),
                y_cubes - 3 * t * (t - 1),
            )
    return _rho(n, product, x_cubes, y_cubes), without


@_compiled
def _tau(n, total, x_tied, y_tied):  # type: ignore[no-untyped-def]
    """Kendall's tau-b from sums over ordered pairs; nan where one side is constant."""
    x_pairs, y_pairs = n * (n - 1) - x_tied, n * (n - 1) - y_tied
    if x_pairs <= 0 or y_pairs <= 0:
        return np.nan
    return total / np.sqrt(x_pairs) / np.sqrt(y_pairs)


@_compiled
def _rho(n, product, x_cubes, y_cubes):  # type: ignore[no-untyped-def]
    """Spearman's rho; nan where one side is constant."""
    cube = n**3 - n
    x_spread, y_spread = (cube - x_cubes) / 12, (cube - y_cubes) / 12
    if x_spread <= 0 or y_spread <= 0:
        return np.nan
    return (product - n * (n + 1) ** 2 / 4) / np.sqrt(x_spread) / np.sqrt(y_spread)


@_compiled
def _ranks(x):  # type: ignore[no-untyped-def]
    """Ranks from 1, the mean rank for ties; and how many entries share each one's rank."""
    order = np.argsort(x)
    rank, ties = np.empty(len(x)), np.empty(len(x))
    begin = 0
    while begin < len(x):
        stop = begin + 1
        while stop < len(x) and x[order[stop]] == x[order[begin]]:
            stop += 1
        for place in range(begin, stop):
            rank[order[place]] = (begin + stop + 1) / 2
            ties[order[place]] = stop - begin
        begin = stop
    return rank, ties


@_compiled
def _above(x_rank, y_rank):  # type: ignore[no-untyped-def]
    """The sum of x ranks of entries above each entry in y, less the sum of those below."""
    order = np.argsort(y_rank)
    above = np.empty(len(x_rank))
    total, below, begin = x_rank.sum(), 0.0, 0
    while begin < len(order):
        stop, own = begin, 0.0
        while stop < len(order) and y_rank[order[stop]] == y_rank[order[begin]]:
            own += x_rank[order[stop]]
            stop += 1
        for place in range(begin, stop):
            above[order[place]] = total - own - 2 * below
        below += own
        begin = stop
    return above


@_compiled
def _ordered_alike(x_rank, y_rank):  # type: ignore[no-untyped-def]
    """For each entry: others that both order alike, less those ordered the other way round."""
    n = len(x_rank)
    scores = np.zeros(n)
    order = np.argsort(x_rank)
    height = (2 * y_rank).astype(np.int64)  # 2 to 2 n: whole numbers also for ties
    for backwards in range(2):
        tree = np.zeros(2 * n + 1)
        sign = -1.0 if backwards else 1.0
        begin = 0
        while begin < n:
            stop = begin
            while stop < n and x_rank[order[stop]] == x_rank[order[begin]]:
                stop += 1
            for place in range(begin, stop):
                i = order[place]
                below = _sum(tree, height[i] - 1)
                scores[i] += sign * (below - (begin - _sum(tree, height[i])))
            for place in range(begin, stop):
                at = height[order[place]]
                while at < len(tree):
                    tree[at] += 1
                    at += at & -at
            begin = stop
        order = order[::-1]
    return scores


@_compiled
def _sum(tree, at):  # type: ignore[no-untyped-def]
    total = 0.0
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total
