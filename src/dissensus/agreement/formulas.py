"""Standard errors, intervals and p-values by formula: over items, of kappas, alpha and ICC."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dissensus.agreement.beyond_chance import counted
from dissensus.agreement.conger import Conger, prepare_conger_kappa, shares
from dissensus.agreement.icc import Form, MeanSquares, icc, mean_squares
from dissensus.agreement.measure import Formula
from dissensus.agreement.percent import equal_pairs
from dissensus.agreement.row_pairs import own_by_values
from dissensus.agreement.weights import Weights, differing, disagreement
from dissensus.annotations import Annotations
from dissensus.scales import Nominal

Chance = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of shares and agreement, by item
UNKNOWN = Formula(math.nan, math.nan, math.nan, "", math.nan)


def percent_formula(annotations: Annotations, level: float = 0.95) -> Formula:
    """Of percent agreement: the mean over items has a standard error."""
    equal, several = equal_pairs(annotations)
    error, low, high, _, _ = _linearised(equal[several > 0], level)
    return Formula(error, max(low, 0.0), high, "", math.nan)


def fleiss_formula(
    annotations: Annotations, weights: Weights = None, level: float = 0.95
) -> Formula:
    """Of Fleiss' kappa; Gwet (2014), as in irrCAC."""

    def chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
        return np.asarray(share @ (agree @ share.mean(axis=0)))

    return _beyond_chance(annotations, weights, chance, level)


def gwet_formula(annotations: Annotations, weights: Weights = None, level: float = 0.95) -> Formula:
    """Of Gwet's AC1 and AC2."""

    def chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
        n = max(len(agree), 2)
        return np.asarray(agree.sum() / (n * (n - 1)) * (share @ (1 - share.mean(axis=0))))

    return _beyond_chance(annotations, weights, chance, level)


def randolph_formula(
    annotations: Annotations, weights: Weights = None, level: float = 0.95
) -> Formula:
    """Of Randolph's kappa (Brennan-Prediger)."""

    def chance(share: np.ndarray, agree: np.ndarray) -> np.ndarray:
        return np.full(len(share), agree.mean())

    return _beyond_chance(annotations, weights, chance, level)


def conger_formula(
    annotations: Annotations, weights: Weights = None, level: float = 0.95
) -> Formula:
    """Of Conger's kappa."""
    estimate = prepare_conger_kappa(annotations, weights)
    if not isinstance(estimate, Conger) or not math.isfinite(estimate.value()):
        return UNKNOWN
    answered = np.flatnonzero(annotations.per_item())
    return _from_chance(
        estimate.counts.agreeing[answered],
        estimate.counts.several[answered],
        _conger_chance(estimate)[answered],
        level,
    )


def krippendorff_formula(
    annotations: Annotations, weights: Weights = None, level: float = 0.95
) -> Formula:
    """Of Krippendorff's alpha of nominal answers, or with weights.

    Otherwise distances depend on all answers, or lie between ratings or sets: nan.
    """
    if weights is None:
        if not isinstance(annotations.scale, Nominal):
            return UNKNOWN
        weights = annotations.scale.distance
    agree = 1.0 - disagreement(weights, annotations.scale, "Krippendorff's alpha")
    n = annotations.voters().astype(float)
    several = n >= 2
    counts, own = annotations.counts()[several], own_by_values(annotations, 1.0 - agree)[several]
    n = n[several]
    if not len(n):
        return UNKNOWN
    relative = (n - n.mean()) / n.mean()
    agreeing = 1.0 - (differing(counts, 1.0 - agree) - own) / (n * (n - 1))
    weighed = agreeing * n / n.mean()
    share = counts / n.mean()
    mean = share.mean(axis=0)
    chance, observed = mean @ agree @ mean + own.sum() / n.sum() ** 2, weighed.mean()
    if not 1.0 - chance > 1e-12:
        return UNKNOWN
    corrected = observed + (1.0 - observed) / n.sum()  # for few answers
    prime = (observed - chance) / (1.0 - chance)
    by_chance = share @ (agree @ mean) - chance * relative
    each = (weighed - corrected * relative - chance) / (1.0 - chance)
    each = each - 2 * (1.0 - prime) * (by_chance - chance) / (1.0 - chance)
    value = (corrected - chance) / (1.0 - chance)
    return _linearised(each, level, value)


def cohen_formula(
    annotations: Annotations, weights: Weights = None, level: float = 0.95
) -> Formula:
    """Of Cohen's kappa, if there are only two annotators; p is exact to the null hypothesis.

    Reference: Fleiss, Cohen and Everitt (1969), doi:10.1037/h0028106.
    """
    table = _two_annotators(annotations)
    if table is None:
        return UNKNOWN
    agree = 1.0 - disagreement(weights, annotations.scale, "Cohen's kappa")
    n = table.sum()
    share = table / n
    own, other = share.sum(axis=1), share.sum(axis=0)
    product = own[:, None] * other
    observed, chance = (share * agree).sum(), (product * agree).sum()
    if not 1.0 - chance > 1e-12:
        return UNKNOWN
    kappa = (observed - chance) / (1.0 - chance)
    margin = (agree @ other)[:, None] + own @ agree
    spread = (share * (agree - margin * (1 - kappa)) ** 2).sum()
    error = math.sqrt(
        max(spread - (kappa - chance * (1 - kappa)) ** 2, 0.0) / n / (1 - chance) ** 2
    )
    null = ((product * (agree - margin) ** 2).sum() - chance**2) / n / (1 - chance) ** 2
    return _normal(kappa, error, math.sqrt(max(null, 0.0)), level)


def icc_formula(annotations: Annotations, form: Form, level: float = 0.95) -> Formula:
    """The F test of ICC and its interval; that of "icc1" needs equally many ratings per item.

    Reference: Shrout and Fleiss (1979), doi:10.1037/0033-2909.86.2.420; McGraw and Wong (1996),
    doi:10.1037/1082-989X.1.1.30.
    """
    squares = mean_squares(annotations, form)
    value = icc(annotations, form)
    if squares is None or not math.isfinite(value) or not squares.error > 0:
        return UNKNOWN
    from scipy.special import fdtrc, fdtri

    f = squares.between / squares.error
    n, k = squares.n_items, squares.k
    df1, df2 = n - 1, squares.df_error
    test, p = f"F({df1:g}, {df2:g}) = {f:.4g}", float(fdtrc(df1, df2, f))
    tail = (1 + level) / 2
    if not squares.balanced:
        return Formula(math.nan, math.nan, math.nan, test, p)
    if form.startswith("icc2"):
        low, high = _interval_of_icc2(annotations, squares, tail)
    else:
        ends = f / fdtri(df1, df2, tail), f * fdtri(df2, df1, tail)
        low, high = ((end - 1) / (end + k - 1) for end in ends)
    if form.endswith("k"):
        low, high = (end * k / (1 + end * (k - 1)) for end in (low, high))
    return Formula(math.nan, float(low), float(high), test, p)


def _interval_of_icc2(
    annotations: Annotations, squares: MeanSquares, tail: float
) -> tuple[float, float]:
    from scipy.special import fdtri

    between, judges, error = squares.between, squares.annotators, squares.error
    n, k = squares.n_items, squares.k
    value = icc(annotations, "icc2")
    ratio_of_judges = judges / error
    rest = n * (1 + (k - 1) * value) - k * value
    above = (k - 1) * (n - 1) * (k * value * ratio_of_judges + rest) ** 2
    df = above / ((n - 1) * (k * value * ratio_of_judges) ** 2 + rest**2)
    upper, lower = fdtri(n - 1, df, tail), fdtri(df, n - 1, tail)
    others = k * judges + (k * n - k - n) * error
    low = n * (between - upper * error) / (upper * others + n * between)
    high = n * (lower * between - error) / (others + n * lower * between)
    return low, high


def _beyond_chance(
    annotations: Annotations, weights: Weights, chance: Chance, level: float
) -> Formula:
    apart = disagreement(weights, annotations.scale, "a kappa")
    counts = counted(annotations, apart)
    answered = counts.answered > 0
    if not counts.several.any():
        return UNKNOWN
    by_chance = chance(counts.share[answered], 1.0 - apart)
    return _from_chance(counts.agreeing[answered], counts.several[answered], by_chance, level)


def _from_chance(
    agreeing: np.ndarray, several: np.ndarray, by_chance: np.ndarray, level: float
) -> Formula:
    """From each item's agreement, whether it has pairs, and its part in what chance gives."""
    n, chance = len(agreeing), by_chance.mean()
    observed = agreeing.sum() / several.sum()
    if not 1.0 - chance > 1e-12:
        return UNKNOWN
    value = (observed - chance) / (1.0 - chance)
    each = n / several.sum() * (agreeing - chance * several) / (1.0 - chance)
    each = each - 2 * (1.0 - value) * (by_chance - chance) / (1.0 - chance)
    return _linearised(each, level, value)


def _conger_chance(estimate: Conger) -> np.ndarray:
    """Each item's part in the agreement that chance gives, (n_items,); the mean is that."""
    annotations, counts = estimate.annotations, estimate.totals()[2]
    share, size = shares(counts), counts.sum(axis=1)
    r, n_items = np.count_nonzero(size), np.count_nonzero(annotations.per_item())
    others = share.sum(axis=0) - share  # (n_annotators, n_values)
    toward = others @ estimate.agree  # (n_annotators, n_values)
    base = (toward * share).sum(axis=1)  # (n_annotators,)
    g = estimate.annotators
    moved = estimate.votes * n_items / size[g] * (toward[g, annotations.answer] - base[g])
    each = np.bincount(annotations.item, moved, minlength=annotations.n_items)
    return np.asarray((base.sum() + each) / (r * (r - 1)))


def _linearised(each: np.ndarray, level: float, value: float | None = None) -> Formula:
    """From the linearised value of each item, whose mean is the measure (Student's t)."""
    n = len(each)
    if n < 2:
        return UNKNOWN
    from scipy.special import stdtr, stdtrit

    value = float(each.mean()) if value is None else float(value)
    error = float(np.sqrt(((each - each.mean()) ** 2).sum() / (n * (n - 1))))
    if not error > 0:
        return Formula(error, value, value, "", math.nan)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    t = value / error
    p = 2 * float(stdtr(n - 1, -abs(t)))
    return Formula(error, value - half, min(value + half, 1.0), f"t({n - 1}) = {t:.4g}", p)


def _normal(value: float, error: float, null_error: float, level: float) -> Formula:
    from scipy.special import ndtr, ndtri

    half = float(ndtri((1 + level) / 2)) * error
    if not null_error > 0:
        return Formula(error, value - half, min(value + half, 1.0), "", math.nan)
    z = value / null_error
    p = 2 * float(ndtr(-abs(z)))
    return Formula(error, value - half, min(value + half, 1.0), f"z = {z:.4g}", p)


def _two_annotators(annotations: Annotations) -> np.ndarray | None:
    """How often two annotators gave each two values; None if there are more, or repeats."""
    codes = annotations.annotator_codes("Cohen's kappa")
    answering = np.unique(codes)
    if len(answering) != 2 or annotations.repeated is not None:
        return None
    n_values = annotations.scale.n_columns
    answer = np.full((2, annotations.n_items), -1)
    for side, annotator in enumerate(answering):
        mine = codes == annotator
        answer[side, annotations.item[mine]] = annotations.answer[mine]
    both = (answer >= 0).all(axis=0)
    if not both.any():
        return None
    at = answer[0, both] * n_values + answer[1, both]
    return np.bincount(at, minlength=n_values**2).reshape(n_values, n_values).astype(float)
