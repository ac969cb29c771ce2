from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import pearsonr

from dissensus.agreement import (
    concordance_matrix,
    correlation_matrix,
    correlation_with_rest,
    mean_concordance,
    mean_correlation,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, Ordinal
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
        for function, values in zip((mean_correlation, mean_concordance), defined, strict=True):
            mean = np.mean(values) if values else np.nan
            assert function(table.annotations) == pytest.approx(mean, abs=1e-7, nan_ok=True)


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


def test_matrices_are_symmetric_with_ones() -> None:
    table = random_table(np.random.default_rng(3), Interval(1e5, 1e5 + 10), ANSWERS).annotations
    for function in (correlation_matrix, concordance_matrix):
        result = function(table)
        np.testing.assert_array_equal(result, result.T)
        assert (np.diag(result) == 1).all()


def test_levels_are_read_at_their_positions() -> None:
    rows = [("t1", "ann", "-3"), ("t1", "bob", "-1"), ("t2", "ann", "1"), ("t2", "bob", "4")]
    rows += [("t3", "ann", "-1"), ("t3", "bob", "1")]
    matrix = correlation_matrix(Annotations.from_rows(rows, Ordinal(("-3", "-1", "1", "4"))))
    assert matrix[0, 1] == pytest.approx(np.corrcoef([-3, 1, -1], [-1, 4, 1])[0, 1])


def test_refuses_values_without_an_order() -> None:
    with pytest.raises(DataError) as error:
        correlation_matrix(Annotations.from_rows([("t1", "ann", "a")]))
    assert str(error.value) == "a correlation needs ratings or levels, not nominal answers"
