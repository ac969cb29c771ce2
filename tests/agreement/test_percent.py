from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from dissensus.agreement import mean_difference, percent_agreement
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Scale
from tests.agreement.tables import Table, random_table


def over_items(table: Table, compare: Callable[[float, float], float]) -> float:
    """The mean over items of the mean over pairs of answers, pair by pair."""
    columns = [column[~np.isnan(column)] for column in table.wide.T]
    means = [np.mean([compare(a, b) for a, b in combinations(c, 2)]) for c in columns if len(c) > 1]
    return float(np.mean(means)) if means else float("nan")


@pytest.mark.parametrize(
    ("scale", "answers"),
    [(Nominal(("a", "b", "c")), np.arange(3)), (MultiLabel(("a", "b", "c")), np.array([0, 5, 7]))],
    ids=["nominal", "multi-label"],
)
def test_percent_is_the_share_of_equal_pairs(scale: Scale, answers: np.ndarray) -> None:
    for seed in range(50):
        table = random_table(np.random.default_rng(seed), scale, answers)
        expected = over_items(table, lambda a, b: float(a == b))
        assert percent_agreement(table.annotations) == pytest.approx(expected, nan_ok=True)


def test_difference_is_the_mean_over_pairs() -> None:
    for seed in range(50):
        answers = np.array([0, 0.5, 3, 3.25, 10])
        table = random_table(np.random.default_rng(seed), Interval(0, 10), answers)
        expected = over_items(table, lambda a, b: abs(a - b))
        assert mean_difference(table.annotations) == pytest.approx(expected, nan_ok=True)


def test_counts_stand_for_people() -> None:
    item, answer, count = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 3])
    votes = Annotations.from_arrays(item, None, answer, Nominal(("a", "b")), count=count)
    assert percent_agreement(votes) == pytest.approx((1 / 3 + 3 / 3) / 2)
    ratings = Annotations.from_arrays(item, None, answer.astype(float), Interval(0, 1), count=count)
    assert mean_difference(ratings) == pytest.approx((2 / 3 + 0) / 2)


def test_undefined_is_nan() -> None:
    alone = [("t1", "ann", 1), ("t2", "bob", 2)]
    assert np.isnan(percent_agreement(Annotations.from_rows(alone, Nominal(("1", "2")))))
    assert np.isnan(mean_difference(Annotations.from_rows(alone, Interval(0, 3))))
    together = [("t1", "ann", 1), ("t1", "bob", 1)]
    assert np.isnan(percent_agreement(Annotations.from_rows(together, Interval(0, 3))))


def test_a_difference_needs_ratings() -> None:
    with pytest.raises(DataError) as error:
        mean_difference(Annotations.from_rows([("t1", "ann", "yes")]))
    assert str(error.value) == "a mean difference needs ratings, not nominal answers"
