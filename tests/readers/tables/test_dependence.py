"""Functions and pairs of columns, against counts by hand and by brute force."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from dissensus.readers.tables.dependence import (
    exceptions,
    is_function,
    n_distinct_pairs,
    n_repeated,
    n_repeated_by_chance,
)
from dissensus.readers.tables.rows import Column


def column(cells: list[str]) -> Column:
    return Column.of(pa.chunked_array([cells]))


def test_exceptions_are_the_cells_that_are_not_the_usual_ones_of_their_group() -> None:
    draw = np.random.default_rng(0)
    cells = [str(n) for n in draw.integers(0, 4, 80)]
    groups = [f"g{n}" for n in draw.integers(0, 9, 80)]
    usual = {g: Counter(c for c, of in zip(cells, groups, strict=True) if of == g) for g in groups}
    n_wrong = 80 - sum(one.most_common(1)[0][1] for one in usual.values())
    n_possible = 80 - max(len(usual), Counter(cells).most_common(1)[0][1])
    assert exceptions(column(cells), column(groups)) == (n_wrong, n_possible)


def test_a_column_that_is_nearly_always_the_same_is_a_function_only_without_exceptions() -> None:
    groups = column([f"g{n // 5}" for n in range(500)])
    rare = column(["yes" if n in (3, 77, 303, 444) else "no" for n in range(500)])
    assert exceptions(rare, groups) == (4, 4)
    assert not is_function(rare, groups)
    assert is_function(column(["yes" if n in range(20, 25) else "no" for n in range(500)]), groups)


def test_repeated_pairs_by_chance_are_those_of_random_cells() -> None:
    draw = np.random.default_rng(1)
    groups = column([str(n) for n in np.sort(draw.integers(0, 20, 100))])
    cells = column([str(n) for n in draw.integers(0, 10, 100)])
    shuffled = [
        n_repeated(groups, Column(cells.values, draw.choice(cells.codes, 100))) for _ in range(400)
    ]
    assert n_repeated_by_chance(groups, cells) == pytest.approx(np.mean(shuffled), rel=0.05)


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_distinct_pairs_are_counted_in_any_order_of_rows(n_rows: int) -> None:
    draw = np.random.default_rng(n_rows)
    one = [str(n) for n in np.sort(draw.integers(0, 60, n_rows))]
    other = ["" if n == 0 else str(n) for n in draw.integers(0, 5, n_rows)]
    expected = len(set(zip(one, other, strict=True)))
    assert n_distinct_pairs(column(one), column(other)) == expected
    assert n_distinct_pairs(column(one[::-1]), column(other[::-1])) == expected
