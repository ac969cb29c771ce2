"""Passes over pairs of annotators who answered the same items, compiled.

Each function handles the annotators `first`, `first + step`, ... and can run beside others on
another core (the interpreter is released). Rows lie item by item, and by annotator within an item;
`mine` lists each annotator's rows, `end` says where the item of a row ends, so that the rows from
the next one up to `end` are those of later annotators on the same item. For one annotator at a
time, sums over common items are kept for every other one: few enough for the nearest cache.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def grouped(codes, n):  # type: ignore[no-untyped-def]
    """Where each code's rows begin, (n + 1,), and the rows in order of code, by counting."""
    begin = np.zeros(n + 1, np.int64)
    for row in range(len(codes)):
        begin[codes[row] + 1] += 1
    for code in range(n):
        begin[code + 1] += begin[code]
    at = begin[:-1].copy()
    order = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        order[at[codes[row]]] = row
        at[codes[row]] += 1
    return begin, order


@_compiled
def _kappa(apart, own, other, disagreement, pooled):  # type: ignore[no-untyped-def]
    """1 - observed / expected disagreement from a pair's answers on common items."""
    n_values = len(own)
    common = 0.0
    for a in range(n_values):
        common += own[a]
    expected = 0.0
    for a in range(n_values):
        for b in range(n_values):
            if pooled:
                expected += disagreement[a, b] * (own[a] + other[a]) * (own[b] + other[b]) / 4
            else:
                expected += disagreement[a, b] * own[a] * other[b]
    return 1.0 - apart * common / expected if expected > 0 else np.nan


@_compiled
def kappa_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, who, code, weight, disagreement, pooled, matrix, sums
):
    """Kappa of each pair; sums (n_annotators, 2) gets its sum, and how many are defined."""
    n_annotators, n_values = len(begin) - 1, disagreement.shape[0]
    own = np.zeros((n_annotators, n_values))
    other = np.zeros((n_annotators, n_values))
    apart = np.zeros(n_annotators)
    seen = np.full(n_annotators, -1)
    met = np.empty(n_annotators, np.int64)
    for k in range(first, n_annotators, step):
        n_met = 0
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            times = weight[item[row]]
            if times == 0:
                continue
            a = code[row]
            for beside in range(np.uint64(row + 1), np.uint64(end[row])):
                m = who[beside]
                if m == k:
                    continue
                if seen[m] != k:
                    seen[m] = k
                    met[n_met] = m
                    n_met += 1
                b = code[beside]
                own[m, a] += times
                other[m, b] += times
                apart[m] += disagreement[a, b] * times
        for place in range(n_met):
            m = met[place]
            value = _kappa(apart[m], own[m], other[m], disagreement, pooled)
            if not np.isnan(value):
                sums[k, 0] += value
                sums[k, 1] += 1
            if matrix.size:
                matrix[k, m] = value
                matrix[m, k] = value
            apart[m] = 0
            own[m] = 0
            other[m] = 0


def _count_ones(typing_context, word):  # type: ignore[no-untyped-def]
    """How many bits of a word are set, in one instruction."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


_ones: Any = intrinsic(_count_ones)


@_compiled
def mark(item, who, code, chose, answered):  # type: ignore[no-untyped-def]
    """Set a bit per item: who chose which value (annotators, values, words), who answered."""
    for row in range(len(item)):
        word, bit = item[row] >> 6, np.uint64(1) << np.uint64(item[row] & 63)
        chose[who[row], code[row], word] |= bit
        answered[who[row], word] |= bit


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
            value = _kappa(apart, own, other, disagreement, pooled)
            if not np.isnan(value):
                sums[k, 0] += value
                sums[k, 1] += 1
            if matrix.size:
                matrix[k, m] = value
                matrix[m, k] = value


@_compiled
def _likeness(sums, concordance):  # type: ignore[no-untyped-def]
    """Pearson's r or Lin's concordance from n, sum x, y, xx, yy, xy; nan where undefined."""
    n = sums[0]
    if n < 2:
        return np.nan
    x, y = sums[1] / n, sums[2] / n
    xx, yy = sums[3] / n - x * x, sums[4] / n - y * y
    xy = sums[5] / n - x * y
    # a spread that is nothing but rounding is none
    x_varies, y_varies = xx > 1e-12 * sums[3] / n, yy > 1e-12 * sums[4] / n
    if concordance:
        if not x_varies and not y_varies:
            return np.nan
        return 2 * xy / (xx + yy + (x - y) ** 2)
    if not x_varies or not y_varies:
        return np.nan
    return min(max(xy / np.sqrt(xx * yy), -1.0), 1.0)


@_compiled
def likeness_by_rows(  # type: ignore[no-untyped-def]
    first, step, begin, mine, end, item, who, number, weight, concordance, matrix, sums
):
    """Correlation or concordance of each pair's ratings of common items; as kappa_by_rows."""
    n_annotators = len(begin) - 1
    totals = np.zeros((n_annotators, 6))
    seen = np.full(n_annotators, -1)
    met = np.empty(n_annotators, np.int64)
    for k in range(first, n_annotators, step):
        n_met = 0
        for place in range(begin[k], begin[k + 1]):
            row = mine[place]
            times = weight[item[row]]
            if times == 0:
                continue
            x = number[row]
            for beside in range(np.uint64(row + 1), np.uint64(end[row])):
                m = who[beside]
                if m == k:
                    continue
                if seen[m] != k:
                    seen[m] = k
                    met[n_met] = m
                    n_met += 1
                y = number[beside]
                total = totals[m]
                total[0] += times
                total[1] += times * x
                total[2] += times * y
                total[3] += times * x * x
                total[4] += times * y * y
                total[5] += times * x * y
        for place in range(n_met):
            m = met[place]
            value = _likeness(totals[m], concordance)
            if not np.isnan(value):
                sums[k, 0] += value
                sums[k, 1] += 1
            if matrix.size:
                matrix[k, m] = value
                matrix[m, k] = value
            totals[m] = 0
