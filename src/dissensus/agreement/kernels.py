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


@_compiled
def rank_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, annotator, number, matrix, sums, without,
):  # fmt: skip
    """Spearman's correlation of each pair's ratings of common items; `without` stays as it is."""
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
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            for other_row in range(np.uint64(row + 1), np.uint64(end[row])):
                m = annotator[other_row]
                if m != k:
                    x[at[m]], y[at[m]] = number[row], number[other_row]
                    at[m] += 1
        totals = np.zeros(8)
        for m in range(n_annotators):
            if n_common[m] == 0:
                continue
            pair = slice(starts[m], starts[m + 1])
            x_rank, y_rank = _ranks(x[pair]), _ranks(y[pair])
            totals[:6] = 0
            for place in range(n_common[m]):
                _add(totals, x_rank[place], y_rank[place], 1.0)
            _record(_correlation(totals, 0.0, 0.0, False), k, m, matrix, sums)


@_compiled
def _ranks(x):  # type: ignore[no-untyped-def]
    """Ranks around 0, the mean rank for ties."""
    order = np.argsort(x)
    rank = np.empty(len(x))
    begin = 0
    while begin < len(x):
        stop = begin + 1
        while stop < len(x) and x[order[stop]] == x[order[begin]]:
            stop += 1
        for place in range(begin, stop):
            rank[order[place]] = (begin + stop - len(x)) / 2
        begin = stop
    return rank
