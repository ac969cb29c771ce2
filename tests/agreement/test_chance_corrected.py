"""Percent agreement, Fleiss' and Randolph's kappa and Gwet's AC, mean differences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from dissensus.agreement import (
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    mean_difference,
    percent_agreement,
    randolph_kappa,
)
from dissensus.annotations import Annotations
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale
from tests.agreement.tables import Table, abstractors, random_table


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


LEVELS = Ordinal(("1", "2", "3", "4", "5"))
FUNCTIONS: dict[str, Callable[..., float]] = {
    "fleiss": fleiss_kappa,
    "randolph": randolph_kappa,
    "gwet": gwet_ac,
}


@pytest.mark.parametrize("name", ["fleiss", "randolph"])
def test_equals_statsmodels_where_items_have_equally_many_answers(name: str) -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        n_items, n = generator.integers(2, 20), generator.integers(2, 9)
        answer = generator.integers(0, 5, n_items * n)
        votes = Annotations.from_arrays(np.repeat(np.arange(n_items), n), None, answer, LEVELS)
        expected = statsmodels_kappa(votes.counts(), method=name)
        assert FUNCTIONS[name](votes) == pytest.approx(expected)


def test_published_values_of_a_pair() -> None:
    pair = abstractors()
    assert percent_agreement(pair) == pytest.approx(0.89)
    assert gwet_ac(pair) == pytest.approx(0.8493305, abs=5e-8)
    assert randolph_kappa(pair) == pytest.approx(0.835)
    assert krippendorff_alpha(pair) == pytest.approx(0.7972585, abs=5e-8)
    levels = abstractors(Ordinal(("ectopic", "AIU", "NIU")))
    assert gwet_ac(levels, "linear") == pytest.approx(0.900, abs=5e-4)
    assert gwet_ac(levels, "quadratic") == pytest.approx(0.940, abs=5e-4)


def test_gwet_stays_high_where_kappa_is_a_paradox() -> None:
    """118 times yes-yes, 5 and 2 times apart, never no-no: agreement .944, kappa below 0."""
    pairs = [("yes", "yes")] * 118 + [("yes", "no")] * 5 + [("no", "yes")] * 2
    rows = [(f"t{i}", w, a) for i, p in enumerate(pairs) for w, a in zip("AB", p, strict=True)]
    table = Annotations.from_rows(rows)
    assert percent_agreement(table) == pytest.approx(118 / 125)
    assert fleiss_kappa(table) < 0
    assert gwet_ac(table) == pytest.approx(0.9408, abs=5e-5)


def by_pairs(columns: list[np.ndarray], agree: np.ndarray, name: str) -> float:
    """The definitions, answer by answer."""
    several = [c for c in columns if len(c) > 1]
    observed = np.mean([np.mean([agree[a, b] for a, b in combinations(c, 2)]) for c in several])
    shares = [np.bincount(c, minlength=5) / len(c) for c in columns if len(c)]
    share = np.mean(shares, axis=0)
    chance = {
        "fleiss": share @ agree @ share,
        "randolph": agree.sum() / 25,
        "gwet": agree.sum() / 20 * (share * (1 - share)).sum(),
    }[name]
    return float((observed - chance) / (1 - chance))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_equals_brute_force_with_any_number_of_answers(name: str, weights: Any) -> None:
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4
    apart = {None: (steps > 0).astype(float), "linear": steps, "quadratic": steps**2}[weights]
    for seed in range(30):
        table = random_table(np.random.default_rng(seed), LEVELS, np.arange(5))
        columns = [c[~np.isnan(c)].astype(int) for c in table.wide.T]
        if max(len(c) for c in columns) < 2:
            continue
        expected = by_pairs(columns, 1.0 - apart, name)
        assert FUNCTIONS[name](table.annotations, weights) == pytest.approx(expected)
