"""Tests of differences between two models, over runs and items, and their correction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dissensus.evaluation import (
    Difference,
    corrected,
    over_both,
    over_items,
    statistic_over_both,
    statistic_over_items,
)
from dissensus.evaluation.significance.resampling import macro_f1

RESAMPLES = 1000  # of macro-F1 over the items of a single run


def over(first: np.ndarray, second: np.ndarray, groups: np.ndarray) -> Difference:
    """Of scores (n_runs, n_items), over runs and items; of a single run, over items alone."""
    return (over_both if len(first) > 1 else over_items)(first, second, groups=groups)


def accuracy_and_f1(
    label: np.ndarray, first: np.ndarray, second: np.ndarray, groups: np.ndarray
) -> dict[str, Difference]:
    """Of answers (n_runs, n_items), accuracy and macro-F1; of a single run, over items alone."""
    right = (first == label).astype(float), (second == label).astype(float)
    scored = macro_f1(label, first), macro_f1(label, second)
    if len(first) > 1:
        f1 = statistic_over_both(*scored, groups=groups)
    else:
        f1 = statistic_over_items(*scored, groups=groups, resamples=RESAMPLES)
    return {"accuracy": over(*right, groups), "f1": f1}


def correct(tests: Iterable[dict[str, Any]]) -> None:
    """Holm's correction over the differences of all these dictionaries, as tables show them."""
    places = [(tests_of, name) for tests_of in tests for name in tests_of]
    differences = corrected([tests_of[name] for tests_of, name in places])
    for (tests_of, name), difference in zip(places, differences, strict=True):
        tests_of[name] = short(difference)


def short(difference: Difference) -> dict[str, Any]:
    """What tables say of a difference; the reason only if it has no interval."""
    names = ("test", "effect", "low", "high", "p", "adjusted", "n_runs")
    reason = {"reason": difference.reason} if difference.reason else {}
    return {name: getattr(difference, name) for name in names} | reason
