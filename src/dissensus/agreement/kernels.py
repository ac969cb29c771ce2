"""Passes over pairs of annotators who answered the same items, compiled.

Each function handles the annotators `first`, `first + step`, ... and can run next to others on
another core (the interpreter is released). Rows lie item by item, and by annotator within an item;
`mine` lists each annotator's rows, `end` says where the item of a row ends, so that the rows from
the next one up to `end` are those of later annotators on the same item. For one annotator at a
time, sums over common items are kept for every other one: few enough for the nearest cache.
What a measure is without an item comes from the same sums, that item's part taken off for a moment.

`sums` (n_annotators, 2) gets the sum of each annotator's values and how many are defined, `matrix`
each value, if it has room. If `without` (n_items, 2) has rows, an item's row gets how much both
sums change without it. `_record` and `_change` are written out where a call would cost a third of
the time.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _record(value, k, m, matrix, sums):  # type: ignore[no-untyped-def]
    """Add the value of two annotators to the sums, and write it down."""
    if not np.isnan(value):
        sums[k, 0] += value
        sums[k, 1] += 1
    if matrix.size:
        matrix[k, m] = value
        matrix[m, k] = value


@_compiled
def _change(old, new, without, item):  # type: ignore[no-untyped-def]
    """How the sums change if a value is another one without an item."""
    if not np.isnan(old):
        without[item, 0] -= old
        without[item, 1] -= 1
    if not np.isnan(new):
        without[item, 0] += new
        without[item, 1] += 1


@_compiled
def kappa_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, annotator, code, disagreement, least, pooled,
    matrix, sums, without,
):  # fmt: skip
    """Kappa of each pair; expected disagreement below `least` is nothing but rounding."""
    n_annotators, n_values = len(begin) - 1, disagreement.shape[0]
    own = np.zeros((n_annotators, n_values))
    other = np.zeros((n_annotators, n_values))
    apart, common = np.zeros(n_annotators), np.zeros(n_annotators)
    expected, value = np.zeros(n_annotators), np.zeros(n_annotators)
    kept = np.zeros((n_annotators, 3))
    seen = np.full(n_annotators, -1)
    met = np.empty(n_annotators, np.int64)
    for k in range(first, n_annotators, step):
        n_met = 0
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            a = code[row]
            for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                m = annotator[other_row]
                if m == k:
                    continue
                if seen[m] != k:
                    seen[m] = k
                    met[n_met] = m
                    n_met += 1
                b = code[other_row]
                own[m, a] += 1
                other[m, b] += 1
                apart[m] += disagreement[a, b]
                common[m] += 1
        for place in range(n_met):
            m = met[place]
            expected[m] = _expected(own[m], other[m], disagreement, pooled)
            value[m] = 1.0 - apart[m] * common[m] / expected[m] if expected[m] > 0 else np.nan
            if not np.isnan(value[m]):
                sums[k, 0] += value[m]
                sums[k, 1] += 1
            if matrix.size:
                matrix[k, m] = value[m]
                matrix[m, k] = value[m]
        place = begin[k] if len(without) else begin[k + 1]
        while place < begin[k + 1]:  # leave out the item of this row, and of repeats after it
            left_out, stop = item[mine[place]], place + 1
            while stop < begin[k + 1] and item[mine[stop]] == left_out:
                stop += 1
            for row in mine[place:stop]:
                a = code[row]
                for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                    m = annotator[other_row]
                    if m == k:
                        continue
                    if kept[m, 2] == 0:
                        kept[m, 0], kept[m, 1], kept[m, 2] = expected[m], apart[m], common[m]
                    b = code[other_row]
                    expected[m] -= _fall(a, b, own[m], other[m], disagreement, pooled)
                    own[m, a] -= 1
                    other[m, b] -= 1
                    apart[m] -= disagreement[a, b]
                    common[m] -= 1
            for row in mine[place:stop]:
                a = code[row]
                for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                    m = annotator[other_row]
                    if m == k:
                        continue
                    if kept[m, 2] > 0:
                        if not np.isnan(value[m]):
                            without[left_out, 0] -= value[m]
                            without[left_out, 1] -= 1
                        if expected[m] > least:
                            without[left_out, 0] += 1.0 - apart[m] * common[m] / expected[m]
                            without[left_out, 1] += 1
                        expected[m], apart[m], common[m] = kept[m, 0], kept[m, 1], kept[m, 2]
                        kept[m, 2] = 0
                    own[m, a] += 1
                    other[m, code[other_row]] += 1
            place = stop
        for place in range(n_met):
            m = met[place]
            apart[m], common[m] = 0, 0
            own[m] = 0
            other[m] = 0


@_compiled
def _expected(own, other, disagreement, pooled):  # type: ignore[no-untyped-def]
    """Disagreement by chance of two annotators with these answers, times common items squared."""
    n_values = len(own)
    expected = 0.0
    for a in range(n_values):
        mine = (own[a] + other[a]) / 2 if pooled else own[a]
        if mine == 0:  # of many values, two annotators use few
            continue
        for b in range(n_values):
            theirs = (own[b] + other[b]) / 2 if pooled else other[b]
            expected += disagreement[a, b] * mine * theirs
    return expected


@_compiled
def _fall(a, b, own, other, disagreement, pooled):  # type: ignore[no-untyped-def]
    """How much `_expected` falls when an item is left out that got the answers a and b."""
    fall = 0.0
    if pooled:
        for c in range(len(own)):
            both = own[c] + other[c]
            fall += (disagreement[a, c] + disagreement[c, a]) * both
            fall += (disagreement[b, c] + disagreement[c, b]) * (both - (c == a))
        return fall / 4
    for c in range(len(own)):
        fall += disagreement[a, c] * other[c] + disagreement[c, b] * own[c]
    return fall - disagreement[a, b]


@_compiled
def correlation_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, annotator, number, least, concordance,
    matrix, sums, without,
):  # fmt: skip
    """Correlation or concordance of each pair's ratings of common items.

    `least` (n_annotators,): each one's variance that may be nothing but rounding.
    """
    n_annotators = len(begin) - 1
    totals, kept = np.zeros((n_annotators, 8)), np.zeros((n_annotators, 8))
    value = np.zeros(n_annotators)
    seen = np.full(n_annotators, -1)
    met = np.empty(n_annotators, np.int64)
    for k in range(first, n_annotators, step):
        n_met = 0
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                m = annotator[other_row]
                if m == k:
                    continue
                if seen[m] != k:
                    seen[m] = k
                    met[n_met] = m
                    n_met += 1
                    totals[m, 6], totals[m, 7] = number[row], number[other_row]
                _add(totals[m], number[row], number[other_row], 1.0)
        for place in range(n_met):
            m = met[place]
            value[m] = _correlation(totals[m], least[k], least[m], concordance)
            if not np.isnan(value[m]):
                sums[k, 0] += value[m]
                sums[k, 1] += 1
            if matrix.size:
                matrix[k, m] = value[m]
                matrix[m, k] = value[m]
        place = begin[k] if len(without) else begin[k + 1]
        while place < begin[k + 1]:  # leave out the item of this row, and of repeats after it
            left_out, stop = item[mine[place]], place + 1
            while stop < begin[k + 1] and item[mine[stop]] == left_out:
                stop += 1
            for row in mine[place:stop]:
                for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                    m = annotator[other_row]
                    if m == k:
                        continue
                    if kept[m, 0] == 0:
                        kept[m] = totals[m]
                    _add(totals[m], number[row], number[other_row], -1.0)
            for row in mine[place:stop]:
                for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                    m = annotator[other_row]
                    if m == k or kept[m, 0] == 0:
                        continue
                    new = _correlation(totals[m], least[k], least[m], concordance)
                    _change(value[m], new, without, left_out)
                    totals[m] = kept[m]
                    kept[m, 0] = 0
            place = stop
        for place in range(n_met):
            totals[met[place]] = 0


@_compiled
def _correlation(sums, least_x, least_y, concordance):  # type: ignore[no-untyped-def]
    """Pearson's r or Lin's concordance; nan where undefined.

    Args:
        sums: n, and the sums of x, y, xx, yy, xy, where x and y are taken from the two numbers
            that follow, so that they keep their digits wherever they lie.
        least_x, least_y: variances that may be nothing but rounding.
    """
    n = sums[0]
    if n < 2:
        return np.nan
    x, y = sums[1] / n, sums[2] / n
    xx, yy = sums[3] / n - x * x, sums[4] / n - y * y
    xy = sums[5] / n - x * y
    x_varies = xx > max(1e-12 * sums[3] / n, least_x)
    y_varies = yy > max(1e-12 * sums[4] / n, least_y)
    if concordance:
        if not x_varies and not y_varies:
            return np.nan
        return 2 * xy / (xx + yy + (x + sums[6] - y - sums[7]) ** 2)
    if not x_varies or not y_varies:
        return np.nan
    return min(max(xy / np.sqrt(xx * yy), -1.0), 1.0)


@_compiled
def _add(sums, x, y, times):  # type: ignore[no-untyped-def]
    x, y = x - sums[6], y - sums[7]
    sums[0] += times
    sums[1] += times * x
    sums[2] += times * y
    sums[3] += times * x * x
    sums[4] += times * y * y
    sums[5] += times * x * y


# ---- where most answered most items ----


def _count_ones(typing_context, word):  # type: ignore[no-untyped-def]
    """How many bits of a word are set, in one instruction."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


_ones: Any = intrinsic(_count_ones)


@_compiled
def mark(item, annotator, code, chose, answered):  # type: ignore[no-untyped-def]
    """Set a bit per item: in `chose` (annotators, values, words) for a chosen value, in `answered`
    for any answer."""
    for row in range(len(item)):
        word, bit = item[row] >> 6, np.uint64(1) << np.uint64(item[row] & 63)
        chose[annotator[row], code[row], word] |= bit
        answered[annotator[row], word] |= bit


@_compiled
def kappa_by_bits(  # type: ignore[no-untyped-def]
    first, step, chose, answered, disagreement, plain, pooled, matrix, sums
):
    """Kappa of each pair where most answered most items: 64 items at a time.

    `plain`: any two values disagree fully, so that equal answers are all there is to count.
    """
    n_annotators, n_values, n_words = chose.shape
    own, other = np.zeros(n_values), np.zeros(n_values)
    for k in range(first, n_annotators, step):
        for m in range(k + 1, n_annotators):
            common, equal = 0.0, np.uint64(0)
            for a in range(n_values):
                mine, theirs = np.uint64(0), np.uint64(0)
                for w in range(n_words):
                    mine += _ones(chose[k, a, w] & answered[m, w])
                    theirs += _ones(chose[m, a, w] & answered[k, w])
                    equal += _ones(chose[k, a, w] & chose[m, a, w])
                own[a] = mine
                other[a] = theirs
                common += own[a]
            if common == 0:
                continue
            apart = common - equal if plain else 0.0
            if not plain:
                for a in range(n_values):
                    for b in range(n_values):
                        if disagreement[a, b] == 0:
                            continue
                        both = np.uint64(0)
                        for w in range(n_words):
                            both += _ones(chose[k, a, w] & chose[m, b, w])
                        apart += disagreement[a, b] * both
            expected = _expected(own, other, disagreement, pooled)
            value = 1.0 - apart * common / expected if expected > 0 else np.nan
            _record(value, k, m, matrix, sums)


# ---- ranks ----

# Without an item, ranks above it fall by one and those of its ties by one half. So correlations
# without each item come from one count per item: how many other items the two annotators order in
# the same way, less those they order the other way round. A Fenwick tree counts them.


@_compiled
def rank_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, annotator, number, kendall, matrix, sums, without,
):  # fmt: skip
    """Spearman's or Kendall's correlation of each pair's ratings of common items."""
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
            _record(value, k, m, matrix, sums)
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
                _change(value, new, without, items[place])
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
