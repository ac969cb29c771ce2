"""The plain hierarchical bootstrap, which resamples both seeds and items."""

from __future__ import annotations

import numpy as np

from dissensus.evaluation.significance.difference import Difference
from dissensus.evaluation.significance.means import ONE_SEED, RESAMPLES, percentiles, two_sided
from dissensus.evaluation.significance.paired_scores import (
    PairedScores,
    check_level,
    check_resamples,
)
from dissensus.evaluation.significance.resampling import draws


def hierarchical(
    first: np.ndarray,
    second: np.ndarray,
    *,
    nested: bool = False,
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """Resample seeds and items; intervals are percentiles.

    Prefer `over_both`. A few seeds that are resampled vary less than new seeds would, so that with
    many items p is too small (docs/comparison.md). If most of the variance is due to items, the
    test keeps its level, because the noise of single scores counts more than once, and has more
    power.

    Args:
        first: scores, (n_runs, n_items).
        nested: resample items separately for each run, which is right only if runs were tested on
            different items; otherwise all runs share the resampled items.

    Reference: Davison and Hinkley (1997), section 3.8; Owen (2007), doi:10.1214/07-AOAS122, on
    resampling both rows and columns of a table.
    """
    check_level(level)
    check_resamples(resamples)
    pairs = PairedScores.of(first, second, groups)
    begun = pairs.begun("seeds and items, bootstrap", level)
    if (settled := pairs.settled(begun)) is not None:
        return settled
    if pairs.n_runs == 1:
        return begun.undefined(ONE_SEED)
    sums, sizes = pairs.sums(), pairs.sizes()
    if nested:
        alone = [sums[:, [run]] for run in range(pairs.n_runs)]
        drawn = [_means(one, sizes, resamples, seed, 1 + run) for run, one in enumerate(alone)]
        of_runs = np.concatenate(drawn, axis=1)  # (resamples, n_runs)
    else:
        of_runs = _means(sums, sizes, resamples, seed, 0)
    chosen = np.concatenate(list(draws(pairs.n_runs, resamples, seed, key=-1)))
    values = (of_runs * chosen).sum(axis=1) / pairs.n_runs
    return begun.answered(*percentiles(values, level), two_sided(values))


def _means(sums: np.ndarray, sizes: np.ndarray, resamples: int, seed: int, key: int) -> np.ndarray:
    """The mean of each column in each resample of groups, (resamples, n_columns)."""
    columns = np.column_stack([sums, sizes])
    drawn = np.concatenate([w @ columns for w in draws(len(sizes), resamples, seed, key=key)])
    return drawn[:, :-1] / drawn[:, -1:]
