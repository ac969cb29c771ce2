"""Attention against marked spans: brute force, sklearn, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dissensus.metrics import attention_auroc, chance_f1, heaviest, overlap_f1


def test_auroc_is_that_of_sklearn() -> None:
    generator = np.random.default_rng(0)
    weight = generator.integers(0, 6, (40, 12)).astype(float)  # with ties
    marked = generator.random((40, 12)) < 0.3
    weight[:, 10:][generator.random((40, 2)) < 0.5] = np.nan
    for row, mark, result in zip(weight, marked, attention_auroc(weight, marked), strict=True):
        there = ~np.isnan(row)
        if mark[there].all() or not mark[there].any():
            assert np.isnan(result)
        else:
            assert result == pytest.approx(roc_auc_score(mark[there], row[there]))


def test_chance_is_the_mean_over_all_turns_of_a_set() -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        first, second = generator.random((2, 9)) < 0.4
        turned = np.stack([np.roll(second, shift) for shift in range(9)])
        expected = overlap_f1(np.broadcast_to(first, turned.shape), turned).mean()
        result = chance_f1(first.sum(), second.sum(), np.array(9))
        np.testing.assert_allclose(result, expected)


def test_overlap_of_sets() -> None:
    first, second = np.array([[1, 1, 0], [0, 0, 0]], bool), np.array([[0, 1, 1], [0, 0, 0]], bool)
    np.testing.assert_allclose(overlap_f1(first, second), [0.5, np.nan])
    assert np.isnan(chance_f1(np.array(0), np.array(0), np.array(3)))


def test_heaviest_has_as_many_as_asked_and_there_are() -> None:
    weight = np.array([[0.1, 0.5, 0.5, np.nan], [-1.0, -3.0, -2.0, np.nan]])
    np.testing.assert_array_equal(
        heaviest(weight, np.array([1, 9])), [[False, True, False, False], [True, True, True, False]]
    )
