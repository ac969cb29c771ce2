"""Scores that are no means over items: against our own metrics, sklearn and scipy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from dissensus.evaluation.resampling import (
    Sums,
    concordance,
    correlation,
    draws,
    macro_f1,
    mean,
    ratio,
)
from dissensus.evaluation.significance.paired_tests import (
    over_both,
    statistic_over_both,
    statistic_over_items,
)
from dissensus.metrics import concordance as lin
from tests.evaluation.crowds import scores

GENERATOR = np.random.default_rng(0)
PEOPLE = GENERATOR.integers(3, size=60)
PREDICTED = np.where(GENERATOR.random((2, 60)) < 0.6, PEOPLE, GENERATOR.integers(3, size=(2, 60)))
RATINGS = GENERATOR.normal(5, 2, 60)
RATED = RATINGS + GENERATOR.normal(0.5, 1, (2, 60))


def f1(people: np.ndarray, predicted: np.ndarray) -> float:
    return float(f1_score(people, predicted, average="macro"))


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1])


@pytest.mark.parametrize(
    ("tested", "reference", "truth", "guess"),
    [
        (macro_f1(PEOPLE, PREDICTED), f1, PEOPLE, PREDICTED),
        (concordance(RATINGS, RATED), lin, RATINGS, RATED),
        (correlation(RATINGS, RATED), pearson, RATINGS, RATED),
        (mean(RATED), lambda _, y: float(y.mean()), RATINGS, RATED),
    ],
    ids=["macro-F1", "CCC", "correlation", "mean"],
)
def test_a_score_on_drawn_items_is_that_of_the_items_written_out(
    tested: Sums,
    reference: Callable[[np.ndarray, np.ndarray], float],
    truth: np.ndarray,
    guess: np.ndarray,
) -> None:
    weights = np.concatenate([np.ones((1, 60)), next(draws(60, 20, seed=3))])
    result = tested(weights)
    for row, weight in enumerate(weights.astype(int)):
        items = np.repeat(np.arange(60), weight)
        expected = [reference(truth[items], run[items]) for run in guess]
        np.testing.assert_allclose(result[row], expected, atol=1e-12)


@pytest.mark.parametrize("tested", [macro_f1(PEOPLE, PREDICTED), mean(RATED)])
def test_weights_of_groups_are_weights_of_their_items(tested: Sums) -> None:
    groups = np.arange(60) // 4
    weights = next(draws(15, 10, seed=0))
    np.testing.assert_allclose(tested.grouped(groups, 15)(weights), tested(weights[:, groups]))


def test_a_value_that_is_not_drawn_does_not_count_in_f1() -> None:
    built = macro_f1(np.array([0, 1, 2]), np.array([[0, 1, 1]]))
    assert built(np.array([[1.0, 1, 0], [1, 0, 0], [0, 0, 1]])).ravel().tolist() == [1, 1, 0]


def test_undefined_is_nan() -> None:
    nothing = np.array([[3.0, 0, 0]])
    assert np.isnan(concordance(np.array([1.0, 2, 3]), np.array([[2.0, 2, 3]]))(nothing)).all()
    assert np.isnan(correlation(np.array([1.0, 2, 3]), np.array([[2.0, 2, 3]]))(nothing)).all()
    assert np.isnan(ratio(np.array([[0.0, 1, 1]]), np.array([[0.0, 1, 1]]))(nothing)).all()


def test_the_interval_of_a_statistic_is_that_of_scipy() -> None:
    def difference(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
        return lin(x, y) - lin(x, z)

    noisy = RATINGS + np.random.default_rng(5).normal(0, 2, 60)
    result = statistic_over_items(concordance(RATINGS, RATED[:1]), concordance(RATINGS, noisy))
    theirs = stats.bootstrap(
        (RATINGS, RATED[0], noisy),
        difference,
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=3000,
        rng=1,
    )
    ends = theirs.confidence_interval
    width = ends.high - ends.low
    assert result.effect == pytest.approx(difference(RATINGS, RATED[0], noisy))
    assert result.low == pytest.approx(ends.low, abs=0.07 * width)
    assert result.high == pytest.approx(ends.high, abs=0.07 * width)
    assert result.p == pytest.approx(2 * (theirs.bootstrap_distribution <= 0).mean(), abs=0.02)


def test_over_both_of_a_mean_is_that_of_the_formula() -> None:
    first, second = scores(np.random.default_rng(1), 4, 300, better=0.3)
    groups = np.arange(300) // 3
    for codes in (None, groups):
        exact = over_both(first, second, groups=codes)
        difference = statistic_over_both(mean(first), mean(second), groups=codes, resamples=20_000)
        assert difference.effect == pytest.approx(exact.effect)
        assert (difference.low, difference.high) == pytest.approx((exact.low, exact.high), abs=2e-3)
        assert difference.p == pytest.approx(exact.p, abs=0.01)
        assert (difference.n_groups, difference.n_runs) == (exact.n_groups, exact.n_runs)


def test_draws_without_a_score_are_left_out_and_said() -> None:
    constant_but_one = np.array([1.0, 1, 1, 1, 1, 1, 5, 5])
    difference = statistic_over_items(
        correlation(constant_but_one, RATED[:1, :8]),
        correlation(constant_but_one, RATED[1:, :8]),
        resamples=2000,
    )
    (note,) = difference.notes
    left = int(note.split(" of ")[0])
    share = (6 / 8) ** 8 + (2 / 8) ** 8  # all drawn from one side
    assert note.endswith(" of 2000 resamples left out: the score is undefined")
    assert left == pytest.approx(2000 * share, abs=4 * np.sqrt(2000 * share))


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (mean(np.zeros((1, 0))), "no items to compare"),
        (mean(np.ones((1, 1))), "one item: the variance is unknown"),
        (correlation(np.ones(4), np.ones((1, 4))), "the score of a run is undefined on all items"),
    ],
)
def test_what_is_undefined(first: Sums, reason: str) -> None:
    difference = statistic_over_items(first, first, resamples=10)
    assert difference.reason == reason and np.isnan(difference.p)
