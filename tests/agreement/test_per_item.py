from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy

from dissensus.agreement import item_entropy, item_variance, majority_share
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal
from tests.agreement.tables import random_table


def test_entropy_equals_scipy() -> None:
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), Nominal(("a", "b", "c")), np.arange(3))
        counts = table.annotations.counts()
        expected = [entropy(row) if row.any() else np.nan for row in counts]
        np.testing.assert_allclose(item_entropy(table.annotations), expected, atol=1e-12)
        shares = [row.max() / row.sum() if row.any() else np.nan for row in counts]
        np.testing.assert_allclose(majority_share(table.annotations), shares)


def test_variance_is_that_of_each_column() -> None:
    for seed in range(20):
        answers = np.array([0, 0.5, 3, 10])
        table = random_table(np.random.default_rng(seed), Interval(0, 10), answers)
        n_items = table.annotations.n_items
        columns = [c[~np.isnan(c)] for c in table.wide.T[:n_items]]
        expected = [c.var() if c.size else np.nan for c in columns]
        np.testing.assert_allclose(item_variance(table.annotations), expected, atol=1e-12)
    levels = Annotations.from_rows([("t1", "ann", "1"), ("t1", "bob", "5")], Ordinal(("1", "5")))
    assert item_variance(levels).tolist() == [4.0]


def test_sets() -> None:
    rows = [("t1", "ann", "joy, fear"), ("t1", "bob", "joy"), ("t1", "cleo", "joy")]
    sets = Annotations.from_rows(rows, MultiLabel(("joy", "fear")))
    assert item_entropy(sets)[0] == pytest.approx(entropy([1, 2]) / 2)
    assert majority_share(sets)[0] == pytest.approx(2 / 3)


def test_items_without_answers_are_nan() -> None:
    one = Annotations.from_arrays(
        np.array([1]), None, np.array([0]), Ordinal(("1", "2")), items=Names.range(3)
    )
    for function in (item_entropy, item_variance, majority_share):
        assert np.isnan(function(one)).tolist() == [True, False, True]


def test_refuses_what_it_cannot_measure() -> None:
    ratings = Annotations.from_rows([("t1", "ann", 1)], Interval(0, 3))
    with pytest.raises(DataError) as entropy_error:
        item_entropy(ratings)
    assert str(entropy_error.value) == "an entropy is over values; ratings have a variance"
    with pytest.raises(DataError) as share_error:
        majority_share(ratings)
    assert str(share_error.value) == "a majority is among values; ratings have a variance"
    with pytest.raises(DataError) as variance_error:
        item_variance(Annotations.from_rows([("t1", "ann", "a")]))
    assert str(variance_error.value) == "a variance needs ratings or levels, not nominal answers"
