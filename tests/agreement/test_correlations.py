"""Correlations of pairs of annotators, against scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from dissensus.agreement import (
    MEASURES,
    concordance_matrix,
    correlation_matrix,
    correlation_with_rest,
    spearman_matrix,
)
from dissensus.annotations import Annotations
from dissensus.scales import Interval
from tests.agreement.tables import random_table

ANSWERS = 1e5 + np.array([0, 0.1, 2.5, 7, 10])


def lin(a: np.ndarray, b: np.ndarray) -> float:
    return float(2 * np.cov(a, b, bias=True)[0, 1] / (a.var() + b.var() + (a.mean() - b.mean()) ** 2))  # fmt: skip # noqa: E501


def test_equals_scipy_and_lins_formula() -> None:
    for seed in range(60):
        table = random_table(np.random.default_rng(seed), Interval(1e5, 1e5 + 10), ANSWERS)
        correlation = correlation_matrix(table.annotations)
        concordance = concordance_matrix(table.annotations)
        defined: tuple[list[float], list[float]] = ([], [])
        for k, m in combinations(range(len(correlation)), 2):
            common = ~np.isnan(table.wide[[k, m]]).any(axis=0)
            a, b = table.wide[k, common], table.wide[m, common]
            varied = len(a) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0
            expected = pearsonr(a, b).statistic if varied else np.nan
            assert correlation[k, m] == pytest.approx(expected, abs=1e-7, nan_ok=True)
            either = len(a) > 1 and (np.ptp(a) > 0 or np.ptp(b) > 0)
            together = lin(a, b) if either else np.nan
            assert concordance[k, m] == pytest.approx(together, abs=1e-7, nan_ok=True)
            defined[0].extend([expected] if varied else [])
            defined[1].extend([together] if either else [])
        for name, values in zip(("correlation", "concordance"), defined, strict=True):
            mean = np.mean(values) if values else np.nan
            value = MEASURES[name].function(table.annotations)
            assert value == pytest.approx(mean, abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("offset", [1e7, -3e8])
def test_an_annotator_far_above_the_others_correlates(offset: float) -> None:
    generator = np.random.default_rng(0)
    wide = generator.normal(5, 1, 30) + generator.normal(0, 1, (4, 30))
    wide[2] += offset
    item, annotator = np.tile(np.arange(30), 4), np.repeat(np.arange(4), 30)
    table = Annotations.from_arrays(item, annotator, wide.ravel(), Interval(-1e9, 1e9))
    np.testing.assert_allclose(correlation_matrix(table), np.corrcoef(wide), atol=1e-6)
    concordance = concordance_matrix(table)
    for k, m in combinations(range(4), 2):
        assert concordance[k, m] == pytest.approx(lin(wide[k], wide[m]), rel=1e-6)
    rest = (wide.sum(axis=0) - wide) / 3
    expected = [np.corrcoef(wide[k], rest[k])[0, 1] for k in range(4)]
    np.testing.assert_allclose(correlation_with_rest(table), expected, atol=1e-6)
    constant = Annotations.from_arrays(
        item, annotator, np.where(annotator == 2, offset + 0.1, wide.ravel()), Interval(-1e9, 1e9)
    )
    assert np.isnan(correlation_matrix(constant)[2, [0, 1, 3]]).all()
    assert np.isnan(correlation_with_rest(constant)[2])


TIED = np.array([0, 1, 1.5, 4, 9, 10])


@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_ranks_equal_scipy() -> None:
    for seed in range(40):
        table = random_table(np.random.default_rng(seed), Interval(0, 10), TIED)
        values = spearman_matrix(table.annotations)
        for k, m in combinations(range(len(values)), 2):
            common = ~np.isnan(table.wide[[k, m]]).any(axis=0)
            a, b = table.wide[k, common], table.wide[m, common]
            expected = spearmanr(a, b).statistic if len(a) > 1 else np.nan
            np.testing.assert_allclose(values[k, m], expected, atol=1e-12)
