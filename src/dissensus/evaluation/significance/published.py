"""The test of Fornaciari et al. (2021), exactly as published."""

from __future__ import annotations

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation.resampling import Sums, draws, mean
from dissensus.evaluation.significance.difference import NAN, Difference
from dissensus.evaluation.significance.means import check_alike, check_resamples


def published(
    first: np.ndarray | Sums,
    second: np.ndarray | Sums,
    *,
    resamples: int = 1000,
    share: float = 0.33,
    digits: int | None = 4,
    seed: int = 0,
) -> Difference:
    """The test of Fornaciari et al. (2021), for comparison with their tables.

    The predictions of all runs and folds are pooled, a third of them is drawn with replacement, and
    p is the share of draws in which the first method leads by more than twice its lead on all rows:
    one-sided, without an interval. Two errors work in opposite directions. Drawing a third of the
    rows makes p larger. Counting several runs on one item as independent makes p smaller, the more
    so the more runs there are. Prefer `over_both`.

    Args:
        first: scores, (n_items,) or (n_runs, n_items), which are pooled, or a Sums of rows
            that are already pooled.
        resamples: 1,000 for part-of-speech tags, 10,000 for stems.
        digits: scores are rounded to this many digits, as in their code (per cent with two
            digits); None does not round.

    Example:
        >>> right = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1])
        >>> other = np.array([1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1])
        >>> published(right, other).p
        0.252

    Reference: Fornaciari et al. (2021), doi:10.18653/v1/2021.naacl-main.204, and their code;
    after Berg-Kirkpatrick et al. (2012), https://aclanthology.org/D12-1091, who draw all.
    """
    check_resamples(resamples)
    if not 0 < share <= 1:
        raise DataError(f"share must be above 0 and at most 1, found {share:g}")
    both, notes = _pooled(first, second)
    n = both[0].n_items
    size = int(n * share)
    lead = float(_lead(both, np.ones((1, n)), digits)[0]) if n else NAN
    begun = Difference("pooled, as published", lead, n_items=n, n_groups=n, notes=notes)
    if size < 1:
        return begun.undefined(f"a share of {share:g} of {n} rows is less than one row")
    drawn = np.concatenate([_lead(both, w, digits) for w in draws(n, resamples, seed, size)])
    p = float((drawn > 2 * lead + 1e-12).mean())  # equal after rounding is not more
    return begun.answered(NAN, NAN, p)


def _pooled(
    first: np.ndarray | Sums, second: np.ndarray | Sums
) -> tuple[tuple[Sums, Sums], tuple[str, ...]]:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        check_alike(np.atleast_2d(first).shape, np.atleast_2d(second).shape)
        kept = np.isfinite(first) & np.isfinite(second)
        gone = int((~kept).sum())
        notes = (f"{gone} of {kept.size} rows left out: one method has no score",) if gone else ()
        return (mean(first[kept]), mean(second[kept])), notes
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        raise DataError("pass scores for both methods, or a Sums for both")
    return (first, second), ()


def _lead(both: tuple[Sums, Sums], weights: np.ndarray, digits: int | None) -> np.ndarray:
    scores = [method(weights)[:, 0] for method in both]
    if digits is None:
        return scores[0] - scores[1]
    rounded = [score.round(digits) for score in scores]
    return (rounded[0] - rounded[1]).round(digits)
