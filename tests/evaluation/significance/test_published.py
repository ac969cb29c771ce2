"""The test of Fornaciari et al.: against their procedure written out, and what it does."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.evaluation.resampling import macro_f1, mean
from dissensus.evaluation.significance.paired_tests import published
from tests.evaluation.crowds import scores


def accuracy(truth: np.ndarray, output: np.ndarray) -> float:
    return float((truth == output).mean())


def f1(truth: np.ndarray, output: np.ndarray) -> float:
    each = [2 * ((truth == v) & (output == v)).sum() / ((truth == v).sum() + (output == v).sum())
            for v in np.union1d(truth, output)]  # fmt: skip
    return float(np.mean(each))


def written_out(
    truth: np.ndarray, first: np.ndarray, second: np.ndarray, resamples: int
) -> tuple[float, float]:
    """p of accuracy and macro-F1: percent rounded to two digits, a third of the rows, twice."""
    generator = np.random.default_rng(0)

    def leads(rows: np.ndarray) -> list[float]:
        results = []
        for score in (accuracy, f1):
            both = [round(score(truth[rows], side[rows]) * 100, 2) for side in (first, second)]
            results.append(round(both[0] - both[1], 2))
        return results

    total = leads(np.arange(len(truth)))
    drawn = [
        leads(generator.choice(len(truth), int(len(truth) * 0.33), replace=True))
        for _ in range(resamples)
    ]
    above = (np.array(drawn) > 2 * np.array(total)).mean(axis=0)
    return float(above[0]), float(above[1])


def test_p_is_that_of_the_procedure_written_out() -> None:
    generator = np.random.default_rng(3)
    truth = generator.integers(3, size=300)
    first, second = (
        np.where(generator.random(300) < share, truth, generator.integers(3, size=300))
        for share in (0.7, 0.6)
    )
    of_accuracy, of_f1 = written_out(truth, first, second, 500)
    error = 4 * np.sqrt(0.25 / 500)
    right = [(side == truth).astype(float) for side in (first, second)]
    result = published(right[0], right[1], resamples=5000)
    assert result.p == pytest.approx(of_accuracy, abs=error)
    assert result.effect == pytest.approx(right[0].mean() - right[1].mean(), abs=1e-4)
    result = published(macro_f1(truth, first), macro_f1(truth, second), resamples=5000)
    assert result.p == pytest.approx(of_f1, abs=error)


def test_runs_are_pooled() -> None:
    first, second = scores(np.random.default_rng(0), 3, 50, better=0.4)
    pooled = published(first, second)
    assert pooled == published(first.ravel(), second.ravel())
    assert pooled.p == published(mean(first.ravel()), mean(second.ravel())).p
    assert (pooled.n_items, pooled.test) == (150, "pooled, as published")
    assert np.isnan([pooled.low, pooled.high]).all()


def test_rows_without_a_score_are_left_out_and_said() -> None:
    first, second = np.array([1.0, 0, 1, np.nan]), np.array([0.0, 0, 1, 1])
    assert published(first, second).notes == ("1 of 4 rows left out: one method has no score",)


def test_too_few_rows() -> None:
    result = published(np.ones(2), np.zeros(2))
    assert (result.effect, result.reason) == (1, "a share of 0.33 of 2 rows is less than one row")
