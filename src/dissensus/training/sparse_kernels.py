"""Compiled steps of single rows of a table; `sparse_tables` says what they compute and why.

Tables and moments are (n_annotators, width), updated in place at the rows `codes`. All numbers have
the precision of the tables, so that the loops are vectorised.

A sequence of steps without a gradient is (6,): a 2 x 2 matrix without its third number, which is 0,
the factors of two moments, and a number of the row's last step, which does not change.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")
BLOCK = 256  # steps whose products are kept up to date at every step


@_compiled
def _followed_by(after, before):  # type: ignore[no-untyped-def]
    """Append missed steps to earlier ones; written into `before`."""
    before[1] = after[0] * before[1] + after[1] * before[2]
    before[0] *= after[0]
    before[2] *= after[2]
    before[3] *= after[3]
    before[4] *= after[4]


@_compiled
def note_step(since, begin, now, missed, nothing):  # type: ignore[no-untyped-def]
    """Add the now-th step; returns where the current block begins.

    `since[s]` holds all steps after the s-th, up to the last one if s is in the current block,
    and up to the block's beginning if it is older.
    """
    for before in range(begin, now):
        _followed_by(missed, since[before])
    since[now] = nothing
    if now - begin < BLOCK:
        return begin
    for before in range(begin):
        _followed_by(since[begin], since[before])
    return now


@_compiled
def write_missed(since, begin, last, missed):  # type: ignore[no-untyped-def]
    """Write all steps after the last one of each row, (n_rows, 6)."""
    for row in range(len(last)):
        missed[row] = since[last[row]]
        if last[row] < begin:
            _followed_by(since[begin], missed[row])


@_compiled
def catch_up_adam(  # type: ignore[no-untyped-def]
    codes, missed, table, first, second, epsilon, rows
):
    """(table, first, second) as they are after the missed steps; the table's rows in `rows`."""
    for number in range(len(codes)):
        row = codes[number]
        kept, drift = missed[number, :2]
        left, left_square, correction = missed[number, 3:]
        for column in range(table.shape[1]):
            mean, square = first[row, column], second[row, column]
            direction = mean / (np.sqrt(square) * correction + epsilon[0])
            rows[number, column] = kept * table[row, column] + drift * direction
            table[row, column] = rows[number, column]
            first[row, column] = left * mean
            second[row, column] = left_square * square


@_compiled
def step_adam(codes, gradient, table, first, second, settings):  # type: ignore[no-untyped-def]
    """A step of torch's AdamW; settings: what is left of the weight, corrected rate, what is left
    of both moments and what is new of them, the spread's correction, epsilon."""
    kept, rate, left, new, left_square, new_square, correction, epsilon = settings
    for number in range(len(codes)):
        row = codes[number]
        for column in range(table.shape[1]):
            slope = gradient[number, column]
            mean = left * first[row, column] + new * slope
            square = left_square * second[row, column] + new_square * slope * slope
            first[row, column] = mean
            second[row, column] = square
            direction = mean / (np.sqrt(square) * correction + epsilon)
            table[row, column] = kept * table[row, column] - rate * direction
