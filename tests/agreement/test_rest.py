"""Each annotator against the rest, beside scikit-learn and brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dissensus.agreement import (
    against_rest,
    agreement_with_rest,
    correlation_with_rest,
    false_discovery,
    holm,
    leniency,
    ratings_against_rest,
)
from dissensus.annotations import Annotations
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

SCALES: list[Scale] = [
    Nominal(("a", "b", "c")),
    Ordinal(("1", "2", "3", "4")),
    Interval(-9, 9),
    MultiLabel(("a", "b", "c")),
]
ALL = pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)


def answers(scale: Scale, seed: int = 0) -> Annotations:
    """Seven annotators who each answered some of 40 items, and agree a little."""
    generator = np.random.default_rng(seed)
    item, annotator = np.nonzero(generator.random((40, 7)) < 0.7)
    if isinstance(scale, Interval):
        answer = generator.normal(0, 1, 40)[item] + generator.normal(0, 1, len(item))
    else:
        most = 8 if isinstance(scale, MultiLabel) else scale.n_columns
        truth = generator.integers(0, most, 40)[item]
        answer = np.where(generator.random(len(item)) < 0.6, truth, generator.integers(0, most))
    return Annotations.from_arrays(item, annotator, answer, scale)


@pytest.mark.parametrize("scale", SCALES[:2], ids=lambda scale: scale.kind)
def test_kappa_is_that_of_scikit_learn_with_the_others_as_weighted_rows(scale: Scale) -> None:
    from sklearn.metrics import cohen_kappa_score

    annotations, weights = answers(scale), "quadratic" if scale.kind == "ordinal" else None
    compared = against_rest(annotations)
    for code in range(7):
        mine = annotations.take(annotations.annotator_codes("") == code)
        rows = annotations.take(annotations.annotator_codes("") != code)
        pairs = [
            (own, other, 1 / (rows.item == item).sum())
            for item, own in zip(mine.item, mine.answer, strict=True)
            for other in rows.answer[rows.item == item]
        ]
        first, second, weight = map(np.array, zip(*pairs, strict=True))
        expected = cohen_kappa_score(first, second, weights=weights, sample_weight=weight)
        assert compared.kappa[code] == pytest.approx(expected, abs=1e-12)


@ALL
def test_disagreement_and_what_is_usual_are_means_over_pairs(scale: Scale) -> None:
    """Also with some annotators outside the reference, and two who are not compared."""
    annotations = answers(scale, 1)

    def far(a: Any, b: Any) -> float:
        if scale.kind == "nominal":
            return float(a != b)
        return float(int(a ^ b).bit_count() if scale.kind == "multi-label" else (a - b) ** 2)

    reference = np.array([1, 1, 0, 1, 1, 0, 1], dtype=bool)
    same = np.array([0, 1, 2, 3, 4, 1, 5])
    compared = against_rest(annotations, reference, same)
    annotator = annotations.annotator_codes("")
    for code in range(7):
        observed: list[Any] = []
        usual: list[Any] = []
        for row in np.flatnonzero(annotator == code):
            others = annotations.item == annotations.item[row]
            others &= reference[annotator] & (same[annotator] != same[code])
            other_answers = annotations.answer[others]
            if other_answers.size:
                observed.append(np.mean([far(annotations.answer[row], b) for b in other_answers]))
                pairs = [
                    (a, b) for i, a in enumerate(other_answers) for b in other_answers[i + 1 :]
                ]
                usual.append(np.mean([far(a, b) for a, b in pairs]) if pairs else np.nan)
        assert compared.items[code] == len(observed)
        assert compared.observed[code] == pytest.approx(np.mean(observed))
        if not np.isnan(usual).any():
            assert compared.excess[code] == pytest.approx(np.mean(observed) - np.mean(usual))


@ALL
def test_the_error_of_kappa_is_near_a_jackknife(scale: Scale) -> None:
    annotations = answers(scale, 2)
    compared, annotator = against_rest(annotations), annotations.annotator_codes("")
    without = []
    for row in np.flatnonzero(annotator == 0):
        if (annotations.item == annotations.item[row]).sum() > 1:
            kept = annotations.take(np.arange(len(annotator)) != row)
            without.append(against_rest(kept).kappa[0])
    n, spread = len(without), np.var(without)
    assert compared.kappa_error[0] == pytest.approx(np.sqrt((n - 1) * spread), rel=0.1)


@ALL
def test_with_everybody_in_the_reference_it_is_what_the_older_measures_say(scale: Scale) -> None:
    annotations = answers(scale, 3)
    if not isinstance(scale, Interval):
        equal = against_rest(annotations, equal=True)
        np.testing.assert_allclose(1 - equal.observed, agreement_with_rest(annotations))
    if isinstance(scale, Interval | Ordinal):
        everybody = np.ones(7, dtype=bool)
        correlation, higher = ratings_against_rest(annotations, everybody)
        np.testing.assert_allclose(correlation, correlation_with_rest(annotations))
        np.testing.assert_allclose(higher, leniency(annotations), atol=1e-12)


def test_corrections_are_those_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p_values = np.random.default_rng(0).uniform(0, 1, 30) ** 3
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])
    np.testing.assert_allclose(
        false_discovery(p_values), multipletests(p_values, method="fdr_bh")[1]
    )
