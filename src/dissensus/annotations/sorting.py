"""Sorting rows by item in one pass over them, compiled."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def place_by_item(item, n_items, order):  # type: ignore[no-untyped-def]
    """Write the rows by item, then in their order, to `order`; returns where each item begins."""
    offsets = np.zeros(n_items + 1, np.int64)
    for row in range(len(item)):
        offsets[item[row] + 1] += 1
    for code in range(n_items):
        offsets[code + 1] += offsets[code]
    place = offsets.copy()
    for row in range(len(item)):
        order[place[item[row]]] = row
        place[item[row]] += 1
    return offsets
