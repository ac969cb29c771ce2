"""One pass over the rows of an iteration, compiled: items in order, nothing allocated inside.

Each function handles the items from `first` to `last` and can run next to others on another core
(the interpreter is released); what is summed over items goes into a table of the thread's own.
A row is a cell: annotator times number of values plus answer. In the table a cell's parameters
and what is counted for it stand side by side, so that a row touches memory once.
Probabilities are multiplied, not their logarithms added, and put back to a sum of 1 every sixteen
rows: each is at least 1e-10, so nothing underflows, and no exponential is needed.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils as numba_code
from numba.core import types
from numba.cpython.unsafe import tuple as of_tuples
from numba.extending import intrinsic

cgutils: Any = numba_code
tuple_setitem: Any = of_tuples.tuple_setitem  # (tuple, index, value) -> tuple, compiled code only
_compiled = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
AHEAD = 16  # rows: how long before its turn a row's line of the table is asked for


def _prefetch(context, table, row, column):  # type: ignore[no-untyped-def]
    """Ask for table[row, column] ahead of time: without it half a pass is waiting for memory."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = [
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        ]
        place = cgutils.get_item_pointer(context, builder, signature.args[0], array, at)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, near, data = number(0), number(3), number(1)
        builder.call(call, [builder.bitcast(place, byte), read, near, data])
        return context.get_dummy_value()

    return types.void(table, row, column), emit


prefetch: Any = intrinsic(_prefetch)  # (table, row, column), compiled code only


@_compiled
def sort_by_item(item, annotator, answer, n_values, offsets, cell):  # type: ignore[no-untyped-def]
    """Lay cells out item by item; `offsets` (n_items + 1) says where each begins."""
    at = offsets[:-1].copy()
    for row in range(len(item)):
        place = at[item[row]]
        at[item[row]] += 1
        cell[place] = annotator[row] * n_values + answer[row]


@_compiled
def vote(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, table, prior, known, posterior, mass, watch
):
    """As `expect`, with the shares of votes, or the known value, as first posterior."""
    p = np.empty(len(prior))
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            posterior[i] = np.nan
            continue
        p[:] = 0.0
        if known[i] >= 0:
            p[known[i]] = 1.0
        else:
            for row in range(start, stop):
                p[cell[row] % len(prior)] += 1.0 / (stop - start)
        _store(p, i, posterior, mass, False)
        _count(p, start, stop, cell, table)
    return 0.0, 0.0


@_compiled
def confusion(counts, smoothing, least, out):  # type: ignore[no-untyped-def]
    """Counts (n_annotators, answered, true) as shares of the answers, written to `out`.

    Without smoothing, only values that the annotator has ever given have a share. If nothing is
    counted for a true value, these shares are equal, so that an annotator who always gives the
    same answer carries no information.
    """
    n_annotators, n_values = counts.shape[0], counts.shape[1]
    occurs = np.empty(n_values, np.bool_)
    for annotator in range(n_annotators):
        for answer in range(n_values):
            occurs[answer] = smoothing > 0 or counts[annotator, answer].sum() > 0
        if not occurs.any():
            occurs[:] = True
        for k in range(n_values):
            total = 0.0
            for answer in range(n_values):
                out[annotator, answer, k] = 0.0
                if occurs[answer]:
                    out[annotator, answer, k] = max(counts[annotator, answer, k] + smoothing, least)
                total += out[annotator, answer, k]
            for answer in range(n_values):
                out[annotator, answer, k] /= total


@_compiled
def expect(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, table, prior, known, posterior, mass, watch
):
    """The posterior of each item, given how likely each cell is under every true value.

    The left half of the table (n_cells, 2 * n_values) holds these likelihoods; the posterior is
    added to the right half, and to `mass` (n_values). Returns the log-likelihood and, if
    `watch` is set, the largest change of a posterior.
    """
    n_values = len(prior)
    p = np.empty(n_values)
    total, change = 0.0, 0.0
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        for k in range(n_values):
            p[k] = prior[k]
        for row in range(start, stop):
            c = cell[row]
            for k in range(n_values):
                p[k] *= table[c, k]
            if (row - start) & 15 == 15:
                total += _sum_to_one(p, n_values)
        total += _settle(p, n_values, known[i])
        change = max(change, _store(p, i, posterior, mass, watch))
        _count(p, start, stop, cell, table)
    return total, change


@_compiled
def expect_few(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, table, prior, known, posterior, mass, watch
):
    """As `expect`, for few values: the prior is a tuple, so their number is known when this is
    compiled, loops over them are unrolled and an item's weights stay in registers."""
    n_values = len(prior)
    total, change, product = 0.0, 0.0, 1.0
    sums = prior
    final = len(cell) - 1
    for k in range(n_values):
        sums = tuple_setitem(sums, k, 0.0)
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        p = prior
        for row in range(start, stop):
            soon = cell[min(row + AHEAD, final)]
            prefetch(table, soon, 0)
            prefetch(table, soon, n_values)
            c = cell[row]
            for k in range(n_values):
                p = tuple_setitem(p, k, p[k] * table[c, k])
            if (row - start) & 15 == 15:
                weight = 0.0
                for k in range(n_values):
                    weight += p[k]
                share = 1 / weight
                for k in range(n_values):
                    p = tuple_setitem(p, k, p[k] * share)
                total += math.log(weight)
        if known[i] < 0:
            weight = 0.0
            for k in range(n_values):
                weight += p[k]
            share = 1 / weight
            for k in range(n_values):
                p = tuple_setitem(p, k, p[k] * share)
        else:
            weight = p[known[i]]
            for k in range(n_values):
                p = tuple_setitem(p, k, 1.0 if known[i] == k else 0.0)
        product *= weight
        if product < 1e-120:  # at least 1e-180 is left, as a weight is at least 1e-170
            total += math.log(product)
            product = 1.0
        if watch:
            for k in range(n_values):
                change = max(change, abs(p[k] - posterior[i, k]))
        for k in range(n_values):
            posterior[i, k] = p[k]
            sums = tuple_setitem(sums, k, sums[k] + p[k])
        for row in range(start, stop):
            c = cell[row]
            for k in range(n_values):
                table[c, n_values + k] += p[k]
    for k in range(n_values):
        mass[k] += sums[k]
    return total + math.log(product), change


@_compiled
def expect_others(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, table, prior, known, posterior, mass, watch
):
    """As `expect`, where annotators are known from their answers to other items only.

    The left half of the table holds counts. `prior` is how often each value is true (n_values); of
    each annotator and true value the number of answers and of wrong ones (n_annotators, n_values);
    how much more is added to the latter for which wrong answer it is; and a power of the
    likelihood. Counts contain what is added to them, and the item's own posterior, which is
    taken off.
    """
    values, totals, wrong, more, power = prior
    n_values = len(values)
    p, above, below = np.empty(n_values), np.empty(n_values), np.empty(n_values)
    change = 0.0
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        for k in range(n_values):
            p[k] = 1.0 if values[k] > 0 else 0.0
            above[k], below[k] = 1.0, 1.0
        for row in range(start, stop):
            c = cell[row]
            j, a = c // n_values, c % n_values
            above_right = above[a] * (table[c, a] - posterior[i, a])
            below_right = below[a] * (totals[j, a] - posterior[i, a])
            for k in range(n_values):
                own = posterior[i, k]
                above[k] *= (table[c, k] - own) * (wrong[j, k] - own)
                below[k] *= (totals[j, k] - own) * (wrong[j, k] + more - own)
            above[a], below[a] = above_right, below_right
            if (row - start) & 7 == 7 or row == stop - 1:
                for k in range(n_values):
                    p[k] *= above[k] / below[k]
                    above[k], below[k] = 1.0, 1.0
                _sum_to_one(p, n_values)
        for k in range(n_values):
            p[k] = (values[k] - posterior[i, k]) * p[k] ** power
        _settle(p, n_values, known[i])
        change = max(change, _store(p, i, posterior, mass, watch))
        _count(p, start, stop, cell, table)
    return 0.0, change


@_compiled
def leave_out(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, table, prior, known, posterior, mass, watch
):
    """The log-likelihood of each answer given the other answers to its item; nothing is counted.

    As `expect_others`, with one more part of `prior`: of so many items one is used.
    """
    values, totals, wrong, more, power, every = prior
    n_values = len(values)
    total = 0.0
    p = np.empty(n_values)
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if i % every > 0 or stop - start < 2 or known[i] >= 0:
            continue
        logs = np.empty((stop - start, n_values))
        for k in range(n_values):
            own = posterior[i, k]
            p[k] = math.log(values[k] - own) if values[k] > 0 else -np.inf
            for row in range(start, stop):
                c = cell[row]
                j = c // n_values
                chance = (table[c, k] - own) / (totals[j, k] - own)
                if c % n_values != k:
                    chance *= (wrong[j, k] - own) / (wrong[j, k] + more - own)
                logs[row - start, k] = math.log(chance)
                p[k] += power * logs[row - start, k]
        for row in range(stop - start):
            top = -np.inf
            for k in range(n_values):
                top = max(top, p[k] - power * logs[row, k])
            likelihood, weight = 0.0, 0.0
            for k in range(n_values):
                share = math.exp(p[k] - power * logs[row, k] - top)
                weight += share
                likelihood += share * math.exp(logs[row, k])
            total += math.log(likelihood / weight)
    return total, 0.0


@_compiled
def expect_own(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, table, prior, known, posterior, mass, watch
):
    """As `expect`, where an answer is informative about its own value only.

    The table (n_cells, 2) holds how many times likelier a cell is if its answer is true, and
    the probability that it is true is added in the second column.
    """
    n_values = len(prior)
    p = np.empty(n_values)
    total, change = 0.0, 0.0
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        for k in range(n_values):
            p[k] = prior[k]
        for row in range(start, stop):
            c = cell[row]
            p[c % n_values] *= table[c, 0]
            if (row - start) & 15 == 15:
                total += _sum_to_one(p, n_values)
        total += _settle(p, n_values, known[i])
        change = max(change, _store(p, i, posterior, mass, watch))
        for row in range(start, stop):
            c = cell[row]
            table[c, 1] += p[c % n_values]
    return total, change


@_compiled
def expect_difficulty(  # type: ignore[no-untyped-def]
    first, last, offsets, cell, ability, log_ease, prior, known, posterior, right
):
    """As `expect`, where an answer is right with the logistic of ability times the item's ease.

    Writes to `right` (n_rows) the probability that each answer is right.
    """
    n_values = len(prior)
    others = math.log(max(n_values - 1, 1))
    p = np.empty(n_values)
    total, change = 0.0, 0.0
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        ease = math.exp(log_ease[i])
        for k in range(n_values):
            p[k] = math.log(prior[k]) if prior[k] > 0 else -np.inf
        for row in range(start, stop):
            x = ability[cell[row] // n_values] * ease
            p[cell[row] % n_values] += x + others
            total -= _softplus(x) + others
        top = p.max()
        for k in range(n_values):
            p[k] = math.exp(p[k] - top)
        total += top + _settle(p, n_values, known[i])
        for k in range(n_values):
            change = max(change, abs(p[k] - posterior[i, k]))
            posterior[i, k] = p[k]
        for row in range(start, stop):
            right[row] = p[cell[row] % n_values]
    return total, change


@_compiled
def improve_ease(first, last, offsets, cell, n_values, right, ability, log_ease, steps):  # type: ignore[no-untyped-def]
    """Move every item's log-ease uphill, a few steps of Fisher scoring, each one checked."""
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        b = log_ease[i]
        value = _item_value(start, stop, cell, n_values, right, ability, b)
        for _ in range(steps):
            ease = math.exp(b)
            slope, curve = 1.0 - b, 1.0
            for row in range(start, stop):
                x = ability[cell[row] // n_values] * ease
                sure = 1 / (1 + math.exp(-x))
                slope += (right[row] - sure) * x
                curve += sure * (1 - sure) * x * x
            step = min(max(slope / curve, -1.0), 1.0)
            for _ in range(8):
                new = _item_value(start, stop, cell, n_values, right, ability, b + step)
                if new >= value:
                    b, value = b + step, new
                    break
                step /= 2
            if abs(step) < 1e-4:
                break
        log_ease[i] = b


@_compiled
def ability_slope(first, last, offsets, cell, n_values, right, ability, log_ease, sums):  # type: ignore[no-untyped-def]
    """Add to sums (n_annotators, 3) slope and curve of the likelihood in each ability, and it."""
    for i in range(first, last):
        if offsets[i] == offsets[i + 1]:
            continue
        ease = math.exp(log_ease[i])
        for row in range(offsets[i], offsets[i + 1]):
            annotator = cell[row] // n_values
            x = ability[annotator] * ease
            sure = 1 / (1 + math.exp(-x))
            sums[annotator, 0] += (right[row] - sure) * ease
            sums[annotator, 1] += sure * (1 - sure) * ease * ease
            sums[annotator, 2] += right[row] * x - _softplus(x)


@_compiled
def _item_value(start, stop, cell, n_values, right, ability, b):  # type: ignore[no-untyped-def]
    ease = math.exp(b)
    value = -0.5 * (b - 1) ** 2
    for row in range(start, stop):
        x = ability[cell[row] // n_values] * ease
        value += right[row] * x - _softplus(x)
    return value


@_compiled
def _softplus(x):  # type: ignore[no-untyped-def]
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@_compiled
def _sum_to_one(p, n_values):  # type: ignore[no-untyped-def]
    """Scale weights to a sum of 1; the log of their sum."""
    total = 0.0
    for k in range(n_values):
        total += p[k]
    for k in range(n_values):
        p[k] /= total
    return math.log(total)


@_compiled
def _settle(p, n_values, known):  # type: ignore[no-untyped-def]
    """Turn weights into a distribution; the log of their sum, or of the known value's weight."""
    if known < 0:
        return _sum_to_one(p, n_values)
    weight = p[known]
    for k in range(n_values):
        p[k] = 0.0
    p[known] = 1.0
    return math.log(weight)


@_compiled
def _store(p, i, posterior, mass, watch):  # type: ignore[no-untyped-def]
    """Take a distribution as the item's posterior and add it to `mass`; the largest change."""
    change, n_values = 0.0, len(p)
    for k in range(n_values):
        if watch:
            change = max(change, abs(p[k] - posterior[i, k]))
        posterior[i, k] = p[k]
        mass[k] += p[k]
    return change


@_compiled
def _count(p, start, stop, cell, table):  # type: ignore[no-untyped-def]
    """Add a distribution to the right half of the table, for each answer to the item."""
    n_values = len(p)
    for row in range(start, stop):
        c = cell[row]
        for k in range(n_values):
            table[c, n_values + k] += p[k]
