"""Sorting rows by a code in one pass over them, compiled."""

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def grouped(codes, n, order):  # type: ignore[no-untyped-def]
    """Write the rows by code, then in their order, to `order`; returns where each code begins."""
    begin = np.zeros(n + 1, np.int64)
    for row in range(len(codes)):
        begin[codes[row] + 1] += 1
    for code in range(n):
        begin[code + 1] += begin[code]
    place = begin.copy()
    for row in range(len(codes)):
        order[place[codes[row]]] = row
        place[codes[row]] += 1
    return begin
