"""How much of a column another one explains, against scikit-learn's analysis of variance."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_selection import f_classif

from dissensus.readers.tables.dependence import effect, from_key, n_distinct_pairs
from dissensus.readers.tables.rows import Column


def column(cells: list[str]) -> Column:
    return Column.of(pa.chunked_array([cells]))


def test_effect_is_the_f_of_an_analysis_of_variance() -> None:
    draw = np.random.default_rng(0)
    groups = draw.integers(0, 8, 200)
    numbers = draw.normal(size=200) + 0.5 * groups
    by = effect(column([str(x) for x in numbers]), column([f"g{g}" for g in groups]))
    expected = f_classif(numbers[:, None], groups)[0][0]
    assert by.z == pytest.approx((expected - 1) / np.sqrt(2 / 7 + 2 / 192))
    assert 0 < by.share < 1


def test_effect_on_words_of_equal_groups_is_the_share_of_agreeing_pairs_above_chance() -> None:
    words = list("aabababbbbab")
    groups = [str(n // 3) for n in range(12)]
    by = effect(column(words), column(groups))
    codes = np.array([[word == "a", word == "b"] for word in words], dtype=float)
    of_group = np.array([int(g) for g in groups])
    within = np.mean([codes[of_group == g].var(axis=0, ddof=1).sum() for g in range(4)])
    means = np.array([codes[of_group == g].mean(axis=0) for g in range(4)])
    between = 3 * means.var(axis=0, ddof=1).sum()
    assert by.share == pytest.approx((between - within) / (between + 2 * within))


def test_copies_of_whole_rows_are_no_repeated_pairs() -> None:
    one, other, answer = (column(list(cells)) for cells in ("aabba", "xyxyx", "12344"))
    assert from_key(one, other).n_wrong == 1
    assert from_key(one, other, [one, other, answer]).n_wrong == 1
    assert from_key(one, other, [one, other]).n_wrong == 0


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_distinct_pairs_are_counted_in_any_order_of_rows(n_rows: int) -> None:
    draw = np.random.default_rng(n_rows)
    one = [str(n) for n in np.sort(draw.integers(0, 60, n_rows))]
    other = ["" if n == 0 else str(n) for n in draw.integers(0, 5, n_rows)]
    expected = len(set(zip(one, other, strict=True)))
    assert n_distinct_pairs(column(one), column(other)) == expected
    assert n_distinct_pairs(column(one[::-1]), column(other[::-1])) == expected
