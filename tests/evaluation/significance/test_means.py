"""Tests of the mean score: against enumeration, scipy and formulas; ties, nan, one seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy import stats

from dissensus.evaluation.significance.difference import Difference
from dissensus.evaluation.significance.paired_tests import over_both, over_items, over_seeds
from tests.evaluation.crowds import scores

SMALL = np.array([0.9, 0.2, 0.7, 0.6, 0.3]), np.array([0.5, 0.3, 0.1, 0.2, 0.35])


def every_draw(n: int) -> np.ndarray:
    """All n^n ways to draw n of n, as codes."""
    return np.array(list(itertools.product(range(n), repeat=n)))


def exact_studentised(difference: np.ndarray) -> np.ndarray:
    """|t| of each possible draw."""
    drawn = difference[every_draw(len(difference))]
    moved = np.abs(drawn.mean(axis=1) - difference.mean())
    error = drawn.std(axis=1, ddof=1) / np.sqrt(len(difference))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 1e-12, moved / error, np.where(moved > 1e-12, np.inf, 0))


# ---- over items ----


def test_p_and_interval_are_those_of_all_possible_draws() -> None:
    difference = SMALL[0] - SMALL[1]
    extreme = exact_studentised(difference)
    error = difference.std(ddof=1) / np.sqrt(5)
    exact = float((extreme >= difference.mean() / error - 1e-9).mean())
    result = over_items(*SMALL, resamples=100_000)
    assert result.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 100_000))
    reach = result.high - result.effect
    assert result.effect - result.low == pytest.approx(reach)
    assert (extreme * error > reach * 1.001).mean() <= 0.05 + 0.003
    assert (extreme * error >= reach * 0.999).mean() >= 0.05 - 0.003


def test_with_many_items_the_interval_is_that_of_scipy() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.normal(0.1, 1, 800), generator.normal(0, 1, 800)
    difference = over_items(first, second)
    theirs = stats.bootstrap((first - second,), np.mean, method="BCa", rng=2).confidence_interval
    width = theirs.high - theirs.low
    assert difference.low == pytest.approx(theirs.low, abs=0.04 * width)
    assert difference.high == pytest.approx(theirs.high, abs=0.04 * width)
    assert difference.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.02)


def test_items_of_one_group_are_drawn_together() -> None:
    generator = np.random.default_rng(3)
    of_group = generator.normal(0, 1, 40)
    first = np.repeat(of_group, 10) + generator.normal(0, 0.1, 400)
    groups = np.repeat(np.arange(40), 10)
    difference = over_items(first, np.zeros(400), groups=groups)
    by_mean = over_items(first.reshape(40, 10).mean(axis=1), np.zeros(40))
    assert (difference.n_items, difference.n_groups) == (400, 40)
    assert difference.low == pytest.approx(by_mean.low, abs=1e-9)
    apart = over_items(first, np.zeros(400))
    assert difference.high - difference.low > 2.5 * (apart.high - apart.low)


def test_the_interval_excludes_nothing_just_where_p_is_small() -> None:
    generator = np.random.default_rng(5)
    for _ in range(40):
        difference = over_items(
            generator.normal(0.15, 1, 150), generator.normal(0, 1, 150), resamples=999
        )
        assert (difference.low > 0 or difference.high < 0) == (difference.p <= 0.05)


def test_few_items_that_differ_are_no_proof() -> None:
    """Five of 200 items, all for the first: McNemar's exact p is 0.0625, percentiles say 0.01."""
    first, second = np.zeros(200), np.zeros(200)
    first[:5] = 1
    difference = over_items(first, second)
    assert (difference.ties, 0.02 < difference.p < 0.08) == (195, True)


def test_where_two_items_differ_the_interval_is_by_percentiles() -> None:
    first = np.zeros(200)
    first[:2] = 1
    difference = over_items(first, np.zeros(200))
    assert difference.p > 0.1 and 0.02 < difference.high < 0.04
    assert difference.low == pytest.approx(0, abs=1e-12)
    assert difference.notes == ("only 2 items differ: the interval is from percentiles",)


def test_identical_scores_are_a_tie() -> None:
    difference = over_items(SMALL[0], SMALL[0])
    assert (difference.effect, difference.low, difference.high, difference.p, difference.ties) == (
        0,
        0,
        0,
        1,
        5,
    )
    assert difference.notes == ("identical scores on all 5 items",)


def test_an_undefined_item_and_a_run_without_scores_are_left_out_and_said() -> None:
    first, second = scores(np.random.default_rng(0), 4, 30)
    first[2] = np.nan
    second[0, 5] = np.inf
    kept = np.delete(np.arange(30), 5)
    difference = over_items(first, second)
    clean = over_items(first[[0, 1, 3]][:, kept], second[[0, 1, 3]][:, kept])
    assert (difference.effect, difference.p, difference.n_runs, difference.n_items) == (
        clean.effect,
        clean.p,
        3,
        29,
    )
    assert difference.notes == (
        "1 of 4 runs left out: one method has no score",
        "1 of 30 items left out: one method has no score",
    )


# ---- over seeds ----


def test_the_test_over_seeds_is_students() -> None:
    first, second = np.array([0.8, 0.83, 0.79, 0.82]), np.array([0.78, 0.8, 0.8, 0.77])
    difference, theirs = over_seeds(first, second), stats.ttest_rel(first, second)
    ends = theirs.confidence_interval()
    assert (difference.p, difference.low, difference.high) == pytest.approx(
        (theirs.pvalue, ends.low, ends.high)
    )
    assert (difference.n_runs, difference.n_items, difference.test) == (4, 0, "seeds")


ONE_SEED = "one seed: the variance over seeds is unknown; test over items"


@pytest.mark.parametrize(
    ("test", "first", "second", "reason"),
    [
        (over_items, [1.0], [0.5], "one item: the variance is unknown"),
        (partial(over_items, groups=np.array([1, 1])), [1, 2], [0, 0],
         "one group of 2 items: the variance is unknown"),
        (over_items, [1.5, 2.5], [0.5, 1.5], "every item differs by the same amount: no variance"),
        (over_items, [np.nan, 1], [0, np.nan], "no item has scores of both methods"),
        (over_items, [], [], "no item has scores of both methods"),
        (over_seeds, [0.8], [0.7], ONE_SEED),
        (over_seeds, [0.8, np.nan], [0.7, 0.7], ONE_SEED),
        (over_seeds, [0.8, 0.9], [0.7, 0.8],
         "every seed gives the same difference; test over items"),
        (over_seeds, [np.nan], [0.7], "no run has scores of both methods"),
    ],
)  # fmt: skip
def test_what_is_undefined(
    test: Callable[..., Difference], first: list[float], second: list[float], reason: str
) -> None:
    difference = test(np.array(first), np.array(second))
    assert difference.reason == reason
    assert np.isnan([difference.low, difference.high, difference.p]).all()


def test_runs_that_tie_and_runs_left_out_are_said() -> None:
    tied = over_seeds(np.array([0.8, 0.9]), np.array([0.8, 0.9]))
    assert (tied.p, tied.notes, tied.ties) == (1, ("identical scores in all 2 runs",), 2)
    difference = over_seeds(np.array([0.8, 0.9, np.nan]), np.array([0.7, 0.9, 0.8]))
    assert (difference.notes, difference.ties) == (
        ("1 of 3 runs left out: one method has no score",),
        1,
    )


# ---- over both ----


def components(apart: np.ndarray) -> tuple[float, float]:
    """What seeds and what items add to the variance of the mean, by two-way analysis."""
    n_runs, n_items = apart.shape
    of_runs, of_items = apart.mean(axis=1), apart.mean(axis=0)
    left = apart - of_runs[:, None] - of_items + apart.mean()
    noise = (left**2).sum() / ((n_runs - 1) * (n_items - 1))
    shared = n_runs * of_items.var(ddof=1) - noise
    return of_runs.var(ddof=1) / n_runs, shared / (n_runs * n_items)


def test_over_both_is_two_way_analysis_and_the_sum_of_two_t() -> None:
    """Behrens-Fisher: each component's error is a t variable of its own, drawn here."""
    first, second = scores(np.random.default_rng(2), 4, 60, better=0.5)
    of_seeds, of_items = components(first - second)
    generator = np.random.default_rng(0)
    drawn = np.sqrt(of_seeds) * generator.standard_t(3, 400_000)
    drawn += np.sqrt(of_items) * generator.standard_t(59, 400_000)
    difference = over_both(first, second)
    expected = (np.abs(drawn) >= abs(difference.effect)).mean()
    assert difference.p == pytest.approx(expected, abs=4 * np.sqrt(expected / 400_000))
    reach = np.quantile(np.abs(drawn), 0.95)
    assert difference.high - difference.effect == pytest.approx(reach, rel=0.01)
    assert difference.effect - difference.low == pytest.approx(difference.high - difference.effect)


@pytest.mark.parametrize("n_runs", [2, 3, 6])
def test_where_items_make_no_difference_it_is_the_test_over_seeds(n_runs: int) -> None:
    runs = np.random.default_rng(n_runs).normal(0.1, 0.1, n_runs)
    first = np.repeat(runs[:, None], 100, axis=1)
    both, seeds = over_both(first, np.zeros_like(first)), over_seeds(runs, np.zeros(n_runs))
    assert (both.p, both.low, both.high) == pytest.approx((seeds.p, seeds.low, seeds.high))


def test_seeds_that_change_nothing_leave_the_test_over_items() -> None:
    first, second = scores(np.random.default_rng(2), 1, 400, better=0.5)
    difference = over_both(np.repeat(first, 3, axis=0), np.repeat(second, 3, axis=0))
    assert difference.p == pytest.approx(stats.ttest_rel(first[0], second[0]).pvalue, abs=1e-6)
    assert difference.notes == ("seeds make no difference",)


def test_one_seed_cannot_be_tested_over_seeds_and_items() -> None:
    result = over_both(SMALL[0], SMALL[1])
    assert result.reason == ONE_SEED
    assert result.effect == pytest.approx(0.25) and np.isnan(result.p)


# ---- level ----


def test_levels_hold_where_nothing_differs_and_fail_where_half_is_left_out() -> None:
    """200 comparisons without a difference: 5 % false findings, within binomial error (4 sd)."""
    generator = np.random.default_rng(11)
    false = {"both": 0, "items": 0}
    for _ in range(200):
        first, second = scores(generator, 3, 600, seed_spread=0.2)
        false["both"] += over_both(first, second).p < 0.05
        false["items"] += over_items(first, second, resamples=299).p < 0.05
    assert false["both"] <= 200 * 0.05 + 4 * np.sqrt(200 * 0.05 * 0.95)
    assert false["items"] > 40  # other seeds are another question
