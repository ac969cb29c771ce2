"""Is one method better than another? Tests over items, seeds, or both.

Each answers its own question. `over_items`: would these fits differ on other items? `over_seeds`:
would fits with other seeds differ on these items? `over_both`: would fits with other seeds differ
on other items? The last is the meaning of "method A is better than method B". The tests of
statistics are for scores that are not means over items, such as macro-F1 or CCC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaincinv, ndtr, stdtr, stdtrit

from dissensus.errors import DataError
from dissensus.evaluation.resampling import Sums, draws, mean
from dissensus.evaluation.significance.difference import NAN, Difference
from dissensus.metrics.statistics import sums_by_group

RESAMPLES = 10_000
ONE_SEED = "one seed: the variance over seeds is unknown; test over items"


def over_items(
    first: np.ndarray,
    second: np.ndarray,
    *,
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """Paired bootstrap over items, for the difference of two mean scores.

    Items are resampled with the scores of both methods, and the difference is divided by its
    standard error in every resample (the symmetric bootstrap-t). This keeps the level if few items
    differ, where plain percentiles do not. Nothing follows for other seeds: runs are averaged.

    Args:
        first: scores, (n_items,) or (n_runs, n_items); items with nan are left out, with a note.
        second: scores of the other method on the same runs and items.
        groups: a code per item; items of one group (a conversation, a text) are resampled together.

    Example:
        >>> right = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1])
        >>> other = np.array([1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1])
        >>> print(over_items(right, other))
        +0.333 [-0.093, +0.760], p = 0.073

    Reference: Efron and Tibshirani (1993), An Introduction to the Bootstrap, sections 12.5 and
    16.4; Hall (1988), On symmetric bootstrap confidence intervals; p as in Davison and Hinkley
    (1997), Bootstrap Methods and their Application, section 4.2.
    """
    _check_resamples(resamples)
    pairs = PairedScores.of("items", first, second, groups, level)
    begun, sizes = pairs.begun, pairs.sizes
    if pairs.settled:
        return begun
    centred = pairs.sums.mean(axis=1) - begun.effect * sizes
    columns = np.stack([centred, sizes, centred**2, centred * sizes, sizes**2], axis=1)
    error = float(_moved(np.ones((1, len(sizes))), columns)[1][0])
    if not error:
        return begun.undefined("every item differs by the same amount: no variance")
    blocks = [_moved(weights, columns) for weights in draws(len(sizes), resamples, seed)]
    moved, errors = (np.concatenate(part) for part in zip(*blocks, strict=True))
    extreme = np.abs(moved) / np.where(errors > 0, errors, 1)
    extreme[(errors == 0) & (moved != 0)] = np.inf
    beyond = int((extreme >= abs(begun.effect) / error * (1 - 1e-12)).sum())
    p = (1 + beyond) / (1 + resamples)
    # the order statistic for which the interval excludes 0 exactly if p is below 1 - level
    at = min(math.ceil(level * (len(extreme) + 1)), len(extreme)) - 1
    reach = float(np.partition(extreme, at)[at]) * error
    if math.isfinite(reach):
        return begun.answered(begun.effect - reach, begun.effect + reach, p)
    low, high = percentiles(begun.effect + moved, level)
    few = f"only {begun.n_items - begun.ties} items differ: the interval is from percentiles"
    return begun.answered(low, high, p, few)


def over_seeds(first: np.ndarray, second: np.ndarray, *, level: float = 0.95) -> Difference:
    """Student's paired t test over runs: would other seeds differ on these items?

    The score of a run is a mean over many items, so differences are close to normal. A permutation
    test would assume less, but with 5 seeds its smallest p is 2/32 = 0.063. Nothing follows for
    other items.

    Args:
        first: a score for each run, (n_runs,); runs with nan are left out, with a note.
        second: scores of the other method in the same runs.

    Example:
        >>> print(over_seeds(np.array([0.80, 0.82, 0.81]), np.array([0.78, 0.79, 0.80])))
        +0.020 [-0.005, +0.045], p = 0.074

    Reference: Student (1908), doi:10.2307/2331554.
    """
    a, b = (np.asarray(side, dtype=float).reshape(-1, 1) for side in (first, second))
    pairs = PairedScores.of("seeds", a, b, None, level)
    runs = pairs.difference.ravel()
    n = len(runs)
    ties = int((runs == 0).sum())
    begun = Difference(
        "seeds", pairs.begun.effect, level=level, n_runs=n, ties=ties, notes=pairs.notes
    )
    if not n:
        return begun.undefined("no run has scores of both methods")
    if ties == n:
        return begun.answered(0, 0, 1, f"identical scores in all {n} runs")
    if n == 1:
        return begun.undefined(ONE_SEED)
    if np.ptp(runs) <= 1e-12 * np.abs(runs).max():
        return begun.undefined("every seed gives the same difference; test over items")
    error = math.sqrt(float(runs.var(ddof=1)) * (1 / n))
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * error
    p = float(2 * stdtr(n - 1, -abs(begun.effect) / error))
    return begun.answered(begun.effect - reach, begun.effect + reach, p)


def over_both(
    first: np.ndarray, second: np.ndarray, *, groups: np.ndarray | None = None, level: float = 0.95
) -> Difference:
    """Seeds and items crossed: would other seeds differ on other items?

    The variance over seeds is estimated from the runs, the variance over items from the covariance
    of runs on the same items. Radiology analyses several readers of the same cases in this way. The
    first estimate is from few runs. Together they give the Behrens-Fisher distribution, which keeps
    its level with two or three seeds; resampling seeds (`hierarchical`) or a single number of
    degrees of freedom (Satterthwaite) does not. In cross-validation the training parts are taken
    as fixed.

    Args:
        first: scores, (n_runs, n_items), one row for each seed.
        second: scores of the other method on the same runs and items.
        groups: a code per item; items of one group are treated as correlated.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> hard = generator.normal(size=200)
        >>> print(over_both(*(hard + generator.normal(mean, 1, (3, 200)) for mean in (0.4, 0))))
        +0.368 [+0.182, +0.554], p = 0.013

    Reference: Obuchowski and Rockette (1995), doi:10.1080/03610919508813243, and Hillis (2007),
    doi:10.1002/sim.2532, on readers and cases; Fisher (1935), The fiducial argument in statistical
    inference; Tsui and Weerahandi (1989), doi:10.1080/01621459.1989.10478810.
    """
    pairs = PairedScores.of("seeds and items", first, second, groups, level)
    sizes = pairs.sizes
    if pairs.settled:
        return pairs.begun
    scores = pairs.difference.mean(axis=1)  # (n_runs,)
    left = pairs.sums - sizes[:, None] * scores  # (n_groups, n_runs)
    n = len(sizes)
    covariance = left.T @ left / sizes.sum() ** 2 * n / (n - 1)  # (n_runs, n_runs)
    return crossed(pairs.begun, scores, covariance)


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
    begun, drawn, _ = _resampled("items", first, second, groups, resamples, seed, level)
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
    begun, drawn, scores = _resampled(test, first, second, groups, resamples, seed, level)
    if drawn is None:
        return begun
    if len(scores) == 1:
        return begun.undefined(ONE_SEED)
    if len(drawn) == 1:
        return begun.undefined("one resample has no variance; use more resamples")
    return crossed(begun, scores, np.cov(drawn, rowvar=False))


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
        first: scores, (n_items,) or (n_runs, n_items), which are pooled, or Sums of rows
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
    _check_resamples(resamples)
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
        _check_alike(np.atleast_2d(first).shape, np.atleast_2d(second).shape)
        kept = np.isfinite(first) & np.isfinite(second)
        gone = int((~kept).sum())
        notes = (f"{gone} of {kept.size} rows left out: one method has no score",) if gone else ()
        return (mean(first[kept]), mean(second[kept])), notes
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        raise DataError("pass scores for both methods, or Sums for both")
    return (first, second), ()


def _lead(both: tuple[Sums, Sums], weights: np.ndarray, digits: int | None) -> np.ndarray:
    scores = [method(weights)[:, 0] for method in both]
    if digits is None:
        return scores[0] - scores[1]
    rounded = [score.round(digits) for score in scores]
    return (rounded[0] - rounded[1]).round(digits)


# ---- from scores to p ----


def crossed(begun: Difference, scores: np.ndarray, covariance: np.ndarray) -> Difference:
    """The test of `over_both`, from the difference in each run and their covariance over items."""
    n_runs = len(scores)
    if n_runs == 1:
        return begun.undefined(ONE_SEED)
    shared = (covariance.sum() - np.trace(covariance)) / (n_runs * (n_runs - 1))
    of_seeds, of_items = float(scores.var(ddof=1)) / n_runs, max(float(shared), 0.0)
    variance = of_seeds + of_items
    if variance <= 1e-24 * float(np.abs(scores).max()) ** 2:
        return begun.undefined("every item and seed differs by the same amount: no variance")
    same = ("seeds make no difference",) if of_seeds <= 1e-24 * variance else ()
    errors = _errors(of_seeds, n_runs - 1, of_items, begun.n_groups - 1)
    p = _beyond(abs(begun.effect), errors)
    reach = _reach(begun.level, errors)
    begun = replace(begun, of_seeds=of_seeds, of_items=of_items)
    return begun.answered(begun.effect - reach, begun.effect + reach, p, *same)


def least_p(difference: Difference, largest: float, n_runs: int) -> float:
    """p of the largest possible effect in a test over seeds and items, with this number of runs;
    0 of any other test, whose p has no such limit, and 1 where all scores are identical.

    Example:
        >>> scores = np.array([[0.7, 0.8, 0.9, 0.8], [0.7, 0.9, 0.8, 0.7]])
        >>> tested = over_both(scores, scores[::-1] - 0.1)
        >>> round(least_p(tested, 1.0, 2), 3), round(least_p(tested, 1.0, 4), 3)
        (0.016, 0.0)
    """
    if math.isnan(difference.of_seeds):
        return 0.0 if difference.p < 1 else 1.0
    of_seeds = difference.of_seeds * difference.n_runs / n_runs
    errors = _errors(of_seeds, n_runs - 1, difference.of_items, difference.n_groups - 1)
    return _beyond(largest, errors)


def percentiles(values: np.ndarray, level: float) -> tuple[float, float]:
    """The ends of the interval that contains the middle `level` of the values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def two_sided(values: np.ndarray) -> float:
    """Twice the smaller share of resamples on one side of 0; 0 itself counts on both."""
    below, above = int((values <= 0).sum()), int((values >= 0).sum())
    return min(1.0, 2 * (1 + min(below, above)) / (1 + len(values)))


_Errors = tuple[np.ndarray, np.ndarray]  # possible standard errors, and their probabilities


def _errors(first: float, first_free: float, second: float, second_free: float) -> _Errors:
    """Possible standard errors, given two estimated variances with their degrees of freedom.

    A variance estimated as v with f degrees of freedom is distributed as f v / chi squared. Points
    are evenly spaced on a normal axis, where the sum of a smooth function approximates its integral
    to many digits.
    """
    variances, shares = [], []
    for variance, free, step in ((first, first_free, 0.1), (second, second_free, 0.5)):
        place = np.arange(-7, 7 + step / 2, step)
        chi_squared = 2 * gammaincinv(free / 2, ndtr(place))
        variances.append(variance * free / chi_squared)
        shares.append(np.exp(-(place**2) / 2) / np.exp(-(place**2) / 2).sum())
    return np.sqrt(np.add.outer(*variances)).ravel(), np.multiply.outer(*shares).ravel()


def _beyond(effect: float, errors: _Errors) -> float:
    """The probability of an effect at least as large, on either side."""
    return float(2 * ndtr(-effect / errors[0]) @ errors[1])


def _reach(level: float, errors: _Errors) -> float:
    """The effect that is exceeded with probability 1 - level.

    That probability falls ever more slowly, so that Newton's steps from 0 never overshoot.
    """
    reach = 0.0
    for _ in range(100):  # mostly about 10
        place = reach / errors[0]
        slope = 2 * float(np.exp(-(place**2) / 2) / errors[0] @ errors[1]) / math.sqrt(2 * math.pi)
        step = (_beyond(reach, errors) - (1 - level)) / slope
        reach += max(step, 0.0)
        if step <= 1e-15 * reach:
            break
    return reach


def _moved(weights: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far the mean moves in each resample, and its standard error, (n_draws,) each."""
    total, size, squares, products, sizes = (weights @ columns).T
    moved = total / size
    n = len(columns)
    spread = squares - 2 * moved * products + moved**2 * sizes
    spread[spread <= 1e-12 * columns[:, 2].sum()] = 0  # rounding
    return moved, np.sqrt(spread * n / (n - 1)) / size


def _resampled(
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
    _check_level(level)
    _check_resamples(resamples)
    n = first.n_items
    if n != second.n_items:
        raise DataError(f"the first method has {n} items, the second {second.n_items}")
    codes = _group_codes(groups, n)
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
        return begun.undefined(_one_group(n)), None, scores
    drawn = np.concatenate([sides[0](w) - sides[1](w) for w in draws(n_groups, resamples, seed)])
    defined = ~np.isnan(drawn).any(axis=1)
    if not defined.any():
        return begun.undefined("the score is undefined in every resample"), None, scores
    if not defined.all():
        left = f"{int((~defined).sum())} of {len(drawn)} resamples left out: the score is undefined"
        begun = replace(begun, notes=(left,))
    if not (drawn[defined].any() or begun.effect):
        begun = begun.answered(0, 0, 1, "identical scores in every resample")
        return begun, None, scores
    return begun, drawn[defined], scores


# ---- pairs of scores ----


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Differences between the scores of two methods, for runs and items where both are defined."""

    difference: np.ndarray  # (n_runs, n_items)
    sums: np.ndarray  # (n_groups, n_runs) of the differences in each group
    sizes: np.ndarray  # (n_groups,) items in each group
    notes: tuple[str, ...]
    begun: Difference  # with the effect and the counts, and an interval and p only if it is
    settled: bool  # because no test is needed: no pairs, all scores equal, or a single group

    @classmethod
    def of(
        cls,
        test: str,
        first: np.ndarray,
        second: np.ndarray,
        groups: np.ndarray | None,
        level: float,
    ) -> PairedScores:
        """Pair the scores, (n_items,) or (n_runs, n_items).

        A run without any score (a fit that failed or diverged) is left out of both methods, then
        an item without a score in some run; notes say how many.
        """
        _check_level(level)
        a, b = (np.atleast_2d(np.asarray(side, dtype=float)) for side in (first, second))
        _check_alike(a.shape, b.shape)
        codes = _group_codes(groups, a.shape[1])
        apart = np.where(np.isfinite(a) & np.isfinite(b), a, np.nan) - b
        ran = ~np.isnan(apart).all(axis=1) if apart.size else np.ones(len(apart), bool)
        defined = ~np.isnan(apart[ran]).any(axis=0)
        notes = (*left_out(~ran, "run"), *(left_out(~defined, "item") if ran.any() else ()))
        apart, codes = apart[ran][:, defined], _group_codes(codes[defined], int(defined.sum()))
        sizes = np.bincount(codes).astype(float)
        n_runs, n_items = apart.shape
        plain = Difference(
            test,
            effect=float(apart.mean()) if apart.size else NAN,
            level=level,
            n_items=n_items,
            n_groups=len(sizes),
            n_runs=n_runs,
            ties=int((apart == 0).all(axis=0).sum()) if n_runs else 0,
            notes=notes,
        )
        begun = plain
        if not apart.size:
            begun = plain.undefined("no item has scores of both methods")
        elif not apart.any():
            begun = plain.answered(0, 0, 1, f"identical scores on all {n_items} items")
        elif len(sizes) == 1:
            begun = plain.undefined(_one_group(n_items))
        sums = sums_by_group(apart.T, codes, len(sizes))
        return cls(apart, sums, sizes, notes, begun, begun is not plain)


def _one_group(n_items: int) -> str:
    what = "one item" if n_items == 1 else f"one group of {n_items} items"
    return f"{what}: the variance is unknown"


def _check_alike(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Refuse scores of different runs or items."""
    if first != second:
        shown = [f"{shape[0]} runs x {shape[1]} items" for shape in (first, second)]
        raise DataError(
            f"scores are compared on the same runs and items; the first method has {shown[0]}, "
            f"the second {shown[1]}"
        )


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise DataError(f"level must be between 0 and 1, found {level:g}")


def _check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise DataError(f"resamples must be at least 1, found {resamples}")


def _group_codes(groups: np.ndarray | None, n_items: int) -> np.ndarray:
    """Codes of groups without gaps; without groups, each item is its own."""
    if groups is None:
        return np.arange(n_items)
    codes = np.asarray(groups)
    if codes.shape != (n_items,):
        raise DataError(f"{n_items} items have {codes.size} groups; give one group per item")
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def left_out(gone: np.ndarray, what: str) -> tuple[str, ...]:
    """A note on how many are left out, if any."""
    if not gone.any():
        return ()
    return (f"{int(gone.sum())} of {len(gone)} {what}s left out: one method has no score",)
