"""Standard errors, intervals and p-values by formula, against irrCAC, pingouin and statsmodels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from dissensus.agreement import MEASURES, conger_kappa, cronbach_alpha
from dissensus.agreement.estimates import Formula
from dissensus.agreement.ratings import Form
from dissensus.annotations import Annotations
from dissensus.scales import MultiLabel, Ordinal
from tests.agreement.tables import abstractors
from tests.agreement.test_icc import JUDGES, ratings
from tests.agreement.test_krippendorff import published

LEVELS = Ordinal(("1", "2", "3", "4", "5"))
IN_IRRCAC = ("fleiss-kappa", "randolph-kappa", "gwet-ac1", "conger-kappa", "krippendorff-alpha")
# irrCAC 0.4.4 on the table of `published`: value, standard error and lower end, by weights
IRRCAC = {
    "identity": [
        (0.76116928, 0.1530192, 0.42437628),
        (0.77272727, 0.14471662, 0.45420814),
        (0.77544407, 0.14294995, 0.46081335),
        (0.76206689, 0.1501088, 0.43167966),
        (0.74342105, 0.14557389, 0.41906222),
    ],
    "linear": [
        (0.81794477, 0.14850436, 0.49108888),
        (0.84848485, 0.12335612, 0.57697985),
        (0.85873914, 0.11732902, 0.6004997),
        (0.81313703, 0.1458682, 0.4920833),
        (0.80038388, 0.13547774, 0.49852065),
    ],
    "quadratic": [
        (0.86493506, 0.14603361, 0.54351725),
        (0.90151515, 0.11089437, 0.65743828),
        (0.91400072, 0.10396224, 0.68518137),
        (0.85716822, 0.14436079, 0.53943226),
        (0.84910714, 0.12912997, 0.56138765),
    ],
    "ordinal": [
        (0.85020619, 0.14703569, 0.52658281),
        (0.88636364, 0.1139059, 0.63565843),
        (0.89893977, 0.10690352, 0.6636467),
        (0.8430825, 0.14482254, 0.52433024),
        (0.83363803, 0.13107343, 0.54158822),
    ],
    "radical": [
        (0.78992409, 0.15003646, 0.45969608),
        (0.81262708, 0.13277937, 0.52038165),
        (0.8198117, 0.12835552, 0.5373031),
        (0.78764615, 0.14722435, 0.46360754),
        (0.77198131, 0.1396121, 0.46090617),
    ],
    "ratio": [
        (0.82133834, 0.15238604, 0.48593893),
        (0.84023669, 0.13220883, 0.54924702),
        (0.85736756, 0.12207133, 0.58869037),
        (0.81100909, 0.14961167, 0.48171603),
        (0.79740277, 0.14048105, 0.48439148),
    ],
    "circular": [
        (0.80719977, 0.14894406, 0.47937611),
        (0.823547, 0.13695564, 0.52210967),
        (0.83019514, 0.13265138, 0.53823143),
        (0.80473835, 0.14813689, 0.47869126),
        (0.78998027, 0.14101236, 0.47578514),
    ],
    "bipolar": [
        (0.85307255, 0.14463219, 0.53473925),
        (0.88814917, 0.11245617, 0.64063482),
        (0.90037302, 0.10581571, 0.66747422),
        (0.84424144, 0.14293155, 0.52965123),
        (0.83499052, 0.12813372, 0.5494908),
    ],
}


def formula(name: str, table: Annotations, **options: Any) -> Formula:
    formula_of = MEASURES[name].formula
    assert formula_of is not None
    return formula_of(table, **options)


@pytest.mark.parametrize("weights", IRRCAC)
def test_equal_irrcac(weights: Any) -> None:
    table = published(LEVELS)
    for name, (value, error, low) in zip(IN_IRRCAC, IRRCAC[weights], strict=True):
        assert MEASURES[name].function(table, weights=weights) == pytest.approx(value, abs=1e-8)
        assert formula(name, table, weights=weights)[:3] == pytest.approx(
            (error, low, 1.0), abs=1e-8
        )


def test_p_equals_irrcac() -> None:
    """irrCAC halves p of the Brennan-Prediger coefficient; p is two-sided here for all."""
    expected = [0.000419173, 2 * 0.00011878043, 0.00020872098, 0.00035678428, 0.0004594257]
    table = published(LEVELS)
    for name, p in zip(IN_IRRCAC, expected, strict=True):
        assert formula(name, table, weights="identity").p == pytest.approx(p, rel=1e-6)
    assert formula("fleiss-kappa", table).test == "t(11) = 4.974"


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_two_annotators_equal_statsmodels(weights: Any) -> None:
    levels = abstractors(Ordinal(("ectopic", "AIU", "NIU")))
    names = {None: None, "linear": "linear", "quadratic": "quadratic"}
    table = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    expected = cohens_kappa(table, wt=names[weights])
    kappa = formula("cohen-kappa", levels, weights=weights)
    assert kappa.error == pytest.approx(expected.std_kappa)
    assert kappa.p == pytest.approx(expected.pvalue_two_sided)
    assert (kappa.low, kappa.high) == pytest.approx((expected.kappa_low, expected.kappa_upp))


# pingouin 0.6.1 on JUDGES: F, df, p and the rounded interval
PINGOUIN: dict[Form, tuple[str, float, tuple[float, float]]] = {
    "icc1": ("F(5, 18) = 1.795", 0.1647688083446397, (-0.13, 0.72)),
    "icc2": ("F(5, 15) = 11.03", 0.00013456651648433476, (0.02, 0.76)),
    "icc3": ("F(5, 15) = 11.03", 0.00013456651648433476, (0.34, 0.95)),
    "icc1k": ("F(5, 18) = 1.795", 0.1647688083446397, (-0.88, 0.91)),
    "icc2k": ("F(5, 15) = 11.03", 0.00013456651648433476, (0.07, 0.93)),
    "icc3k": ("F(5, 15) = 11.03", 0.00013456651648433476, (0.68, 0.99)),
}


@pytest.mark.parametrize("form", PINGOUIN)
def test_icc_equals_pingouin(form: Form) -> None:
    test, p, ends = PINGOUIN[form]
    icc = formula(form, ratings(JUDGES))
    assert icc.test == test
    assert icc.p == pytest.approx(p)
    assert (icc.low, icc.high) == pytest.approx(ends, abs=0.0051)


def test_cronbachs_alpha_equals_pingouin() -> None:
    assert cronbach_alpha(ratings(JUDGES)) == pytest.approx(0.9093155423770694)
    alpha = formula("cronbach-alpha", ratings(JUDGES))
    assert alpha[1:3] == pytest.approx((0.676, 0.986), abs=5.1e-4)


def test_icc_of_different_numbers_of_ratings_has_f_but_no_interval() -> None:
    from scipy.stats import f_oneway

    gaps = JUDGES.astype(float)
    gaps[0, 0] = np.nan
    icc = formula("icc1", ratings(gaps))
    expected = f_oneway(*(row[~np.isnan(row)] for row in gaps))
    assert icc.p == pytest.approx(expected.pvalue)
    assert math.isnan(icc.low)
    assert formula("icc2", ratings(gaps)).test == ""


@pytest.mark.parametrize("weights", [None, "linear"])
def test_conger_of_two_annotators_is_cohens_kappa(weights: Any) -> None:
    levels = abstractors(Ordinal(("ectopic", "AIU", "NIU")))
    expected = MEASURES["cohen-kappa"].function
    assert conger_kappa(levels, weights) == pytest.approx(expected(levels, weights=weights))


def test_poor_tables_have_no_formula_and_no_warning() -> None:
    crowd = published(LEVELS)
    poor = [
        crowd.take(np.zeros(0, dtype=int)),
        crowd.take(crowd.item == 0),
        crowd.take(crowd.annotator_codes("") == 0),
        crowd.take(crowd.answer == 0),
    ]
    for name, measure in MEASURES.items():
        if measure.formula is not None and "ordinal" in measure.scales:
            for table in poor:
                assert isinstance(measure.formula(table), Formula), name


def test_what_has_no_formula_is_nan() -> None:
    assert math.isnan(
        formula("krippendorff-alpha", published(LEVELS)).error
    )  # ranks depend on all answers
    sets = Annotations.from_rows(
        [("t1", "ann", "a"), ("t1", "bob", "a, b"), ("t2", "ann", ""), ("t2", "bob", "")],
        MultiLabel(("a", "b")),
    )
    assert math.isnan(formula("krippendorff-alpha", sets).error)
    assert formula("percent", sets).error == pytest.approx(0.5)
