"""Tests for scores that are not means over items, such as macro-F1 or CCC."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation.resampling import Sums, draws
from dissensus.evaluation.significance.difference import NAN, Difference
from dissensus.evaluation.significance.means import (
    ONE_SEED,
    RESAMPLES,
    check_level,
    check_resamples,
    crossed,
    group_codes,
    percentiles,
    two_sided,
)


def statistic_over_items(
    first: Sums,
    second: Sums,
    *,
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """Paired bootstrap over items for any score, such as macro-F1 or CCC; the interval is from
    percentiles.

    Items are resampled, and both scores are computed on the same resample; runs are averaged. p is
    twice the smaller share of resamples on one side of 0. Resamples without a score are left out,
    with a note.

    Args:
        first: the score of the first method as a function of weights, e.g. from `resampling`.
        second: that of the other method on the same items.
        groups: as in `over_items`.

    Example:
        >>> from dissensus.evaluation.resampling import macro_f1
        >>> observed = np.array([0, 1, 0, 1, 1, 0, 1, 0] * 9)
        >>> better, worse = observed.copy(), observed.copy()
        >>> better[::9], worse[::3] = 1, 1
        >>> print(statistic_over_items(macro_f1(observed, better), macro_f1(observed, worse)))
        +0.116 [+0.045, +0.200], p < 0.001

    Reference: Efron and Tibshirani (1993), sections 13.3 and 15.4.
    """
    begun, drawn, _ = _compared("items", first, second, groups, resamples, seed, level)
    if drawn is None:
        return begun
    values = drawn.mean(axis=1)
    return begun.answered(*percentiles(values, level), two_sided(values))


def statistic_over_both(
    first: Sums,
    second: Sums,
    *,
    groups: np.ndarray | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """As `over_both` for any score; the covariance of runs is estimated by resampling items."""
    test = "seeds and items"
    begun, drawn, scores = _compared(test, first, second, groups, resamples, seed, level)
    if drawn is None:
        return begun
    if len(scores) == 1:
        return begun.undefined(ONE_SEED)
    if len(drawn) == 1:
        return begun.undefined("one resample has no variance; use more resamples")
    return crossed(begun, scores, np.cov(drawn, rowvar=False))


def _compared(
    test: str,
    first: Sums,
    second: Sums,
    groups: np.ndarray | None,
    resamples: int,
    seed: int,
    level: float,
) -> tuple[Difference, np.ndarray | None, np.ndarray]:
    """The Difference so far, the differences in each resample, (n_draws, n_runs), and on all items,
    (n_runs,).

    Resamples are None if no test is needed.
    """
    check_level(level)
    check_resamples(resamples)
    n = first.n_items
    if n != second.n_items:
        raise DataError(f"the first method has {n} items, the second {second.n_items}")
    codes = group_codes(groups, n)
    n_groups = int(codes.max(initial=-1)) + 1
    if not n:
        return Difference(test, NAN).undefined("no items to compare"), None, np.zeros(0)
    sides = [side if n_groups == n else side.grouped(codes, n_groups) for side in (first, second)]
    all_once = np.ones((1, n_groups))
    scores = (sides[0](all_once) - sides[1](all_once))[0]  # (n_runs,)
    begun = Difference(
        test, float(scores.mean()), level=level, n_items=n, n_groups=n_groups, n_runs=len(scores)
    )
    if np.isnan(scores).any():
        return begun.undefined("the score of a run is undefined on all items"), None, scores
    if n_groups == 1:
        what = "one item" if n == 1 else f"one group of {n} items"
        return begun.undefined(f"{what}: the variance is unknown"), None, scores
    drawn = np.concatenate([sides[0](w) - sides[1](w) for w in draws(n_groups, resamples, seed)])
    return *_defined(begun, drawn), scores


def _defined(begun: Difference, drawn: np.ndarray) -> tuple[Difference, np.ndarray | None]:
    """The resamples in which every run has a score; None if no test is needed."""
    defined = ~np.isnan(drawn).any(axis=1)
    if not defined.any():
        return begun.undefined("the score is undefined in every resample"), None
    if not defined.all():
        left = f"{int((~defined).sum())} of {len(drawn)} resamples left out: the score is undefined"
        begun = replace(begun, notes=(left,))
    if not (drawn[defined].any() or begun.effect):
        return begun.answered(0, 0, 1, "identical scores in every resample"), None
    return begun, drawn[defined]
