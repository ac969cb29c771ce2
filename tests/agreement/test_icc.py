from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import icc, interval, why_undefined
from dissensus.agreement.ratings import Form
from dissensus.annotations import Annotations
from dissensus.scales import Interval, Ordinal

# Shrout and Fleiss (1979), Table 2: four judges rate six targets
JUDGES = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])  # fmt: skip # noqa: E501
PUBLISHED: dict[Form, float] = {
    "icc1": 0.17,
    "icc2": 0.29,
    "icc3": 0.71,
    "icc1k": 0.44,
    "icc2k": 0.62,
    "icc3k": 0.91,
}


def ratings(table: np.ndarray) -> Annotations:
    item, annotator = np.nonzero(~np.isnan(table))
    return Annotations.from_arrays(
        item, annotator, table[item, annotator].astype(float), Interval(0, 10)
    )


@pytest.mark.parametrize("form", PUBLISHED)
def test_published_values(form: Form) -> None:
    assert icc(ratings(JUDGES), form) == pytest.approx(PUBLISHED[form], abs=5e-3)
    levels = ratings(JUDGES).to(Ordinal(tuple(str(i) for i in range(11))))
    assert icc(levels, form) == pytest.approx(icc(ratings(JUDGES), form))


def from_anova(table: np.ndarray) -> dict[Form, float]:
    """The mean squares of statsmodels' analysis of variance, in Shrout and Fleiss' formulas."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    n, k = table.shape
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(n), k),
            "judge": np.tile(np.arange(k), n),
            "rating": table.ravel(),
        }
    )
    one = anova_lm(ols("rating ~ C(item)", frame).fit())["mean_sq"]
    two = anova_lm(ols("rating ~ C(item) + C(judge)", frame).fit())["mean_sq"]
    between, within = one["C(item)"], one["Residual"]
    judges, error = two["C(judge)"], two["Residual"]
    return {
        "icc1": (between - within) / (between + (k - 1) * within),
        "icc2": (between - error) / (between + (k - 1) * error + k * (judges - error) / n),
        "icc3": (between - error) / (between + (k - 1) * error),
        "icc1k": (between - within) / between,
        "icc2k": (between - error) / (between + (judges - error) / n),
        "icc3k": (between - error) / between,
    }


def test_equals_the_analysis_of_variance() -> None:
    generator = np.random.default_rng(0)
    for _ in range(10):
        n, k = generator.integers(3, 12), generator.integers(2, 6)
        table = generator.uniform(0, 10, (n, k))
        expected = from_anova(table)
        for form in expected:
            assert icc(ratings(table), form) == pytest.approx(expected[form])


def test_one_way_with_gaps_equals_the_analysis_of_variance() -> None:
    from scipy.stats import f_oneway

    generator = np.random.default_rng(1)
    table = generator.uniform(0, 10, (12, 5))
    table[generator.random(table.shape) < 0.4] = np.nan
    groups = [row[~np.isnan(row)] for row in table]
    groups = [group for group in groups if len(group)]
    sizes = np.array([len(group) for group in groups])
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (sizes.sum() - len(sizes))
    f = f_oneway(*groups).statistic
    k = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(sizes) - 1)
    expected = (f * within - within) / (f * within + (k - 1) * within)
    assert icc(ratings(table), "icc1") == pytest.approx(expected)
    votes = ratings(table)
    votes = Annotations.from_arrays(votes.item, None, votes.answer, votes.scale)
    assert icc(votes, "icc1") == pytest.approx(expected)


def test_a_constant_is_added_to_everything() -> None:
    far = Annotations.from_arrays(
        np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6), JUDGES.ravel() + 1e6, Interval(0, 2e6)
    )
    for form in PUBLISHED:
        expected = icc(ratings(JUDGES), form)
        assert icc(far, form) == pytest.approx(expected)


def test_equal_item_means_leave_the_k_forms_undefined() -> None:
    """Their formulas divide by the variance between items; rounding is no variance."""
    table = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1], [0.4, 0.0]])
    for offset in (0.0, 1.7, 7.3):
        equal = ratings(table + offset)
        assert icc(equal, "icc1") == pytest.approx(-1)
        for form in ("icc1k", "icc3k"):
            assert np.isnan(icc(equal, form)), (form, offset)
            assert np.isnan(interval(form, equal)).all()
            assert why_undefined(form, equal) == "all items have the same mean rating"
    shifted = ratings(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]))  # items do not differ at all
    assert why_undefined("icc3", shifted) == "all items have the same mean rating"


def test_one_high_judge_does_not_hide_the_others() -> None:
    high = JUDGES.astype(float)
    high[:, 1] += 1e7
    table = Annotations.from_arrays(
        np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6), high.ravel(), Interval(0, 2e7)
    )
    for form in ("icc3", "icc3k"):
        assert icc(table, form) == pytest.approx(icc(ratings(JUDGES), form), rel=1e-6)
