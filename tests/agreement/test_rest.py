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
from dissensus.agreement.rest import relation_to_rest, share_interval
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
def test_disagreement_is_a_mean_over_pairs(scale: Scale) -> None:
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
        for row in np.flatnonzero(annotator == code):
            others = annotations.item == annotations.item[row]
            others &= reference[annotator] & (same[annotator] != same[code])
            other_answers = annotations.answer[others]
            if other_answers.size:
                observed.append(np.mean([far(annotations.answer[row], b) for b in other_answers]))
        assert compared.items[code] == len(observed)
        assert compared.observed[code] == pytest.approx(np.mean(observed))


def test_correlations_with_one_of_the_others_are_means_over_pairs() -> None:
    """Of five annotators who rated all items: their own offsets do not count."""
    generator = np.random.default_rng(4)
    rating = generator.normal(0, 1, 30) + generator.normal(0, 0.7, (5, 30))
    rating += np.array([0, 2, -1, 0.5, 3])[:, None]
    annotator, item = np.divmod(np.arange(150), 30)
    related = relation_to_rest(
        Annotations.from_arrays(item, annotator, rating.ravel(), Interval(-20, 20))
    )
    covariance = np.cov(rating, bias=True)
    for code in range(5):
        others = [other for other in range(5) if other != code]
        variance = covariance[others, others].mean()
        own = covariance[code, others].mean() / np.sqrt(covariance[code, code] * variance)
        pairs = [covariance[a, b] for a in others for b in others if a != b]
        assert related.own[code] == pytest.approx(own)
        assert related.usual[code] == pytest.approx(np.mean(pairs) / variance)
        assert related.by_item.sum() == pytest.approx((related.items * related.own).sum())


@ALL
def test_the_interval_of_kappa_is_wilsons_with_the_jackknife_variance(scale: Scale) -> None:
    annotations = answers(scale, 2)
    compared, annotator = against_rest(annotations), annotations.annotator_codes("")
    without = []
    for row in np.flatnonzero(annotator == 0):
        if (annotations.item == annotations.item[row]).sum() > 1:
            kept = annotations.take(np.arange(len(annotator)) != row)
            without.append(against_rest(kept).kappa[0])
    n, change = len(without), np.array(without) - np.mean(without)
    ratings = isinstance(scale, Interval | Ordinal)
    step = 1 / n if ratings else 1 / (n * compared.expected[0])
    fourth = (change**4).sum() - (change**2).sum() ** 2 / n
    freedom = min(n - 1, 2 * (change**2).sum() ** 2 / fourth) if ratings else n - 1
    low, high = share_interval(
        (1 - compared.kappa[:1]) / 2,
        np.array([(n - 1) / n * (change**2).sum() / 4]),
        np.array([freedom]),
        np.array([step / 2]),
        2 if ratings else 1,
    )
    assert compared.kappa_low[0] == pytest.approx(1 - 2 * high[0])
    assert compared.kappa_high[0] == pytest.approx(1 - 2 * low[0])


@pytest.mark.parametrize("kind", ["rare", "lognormal"])
def test_intervals_of_20_items_hold_the_truth(kind: str) -> None:
    """The truth: the same annotators on very many items."""
    generator = np.random.default_rng(20)
    errors = np.array([0.6, 0.4, 0.8, 0.5])

    def crowd(n_items: int) -> Annotations:
        annotator, item = np.divmod(np.arange(4 * n_items), n_items)
        if kind == "rare":
            truth, noise = generator.random(n_items) < 0.1, generator.random((4, n_items))
            answer = np.where(truth, noise < 1 - errors[:, None] / 2, noise < errors[:, None] / 20)
            return Annotations.from_arrays(
                item, annotator, answer.astype(int).ravel(), Nominal(("a", "b"))
            )
        noise = generator.normal(0, errors[:, None], (4, n_items))
        rating = np.exp(generator.normal(0, 1, n_items) + noise).clip(0, 100)
        return Annotations.from_arrays(item, annotator, rating.ravel(), Interval(0, 100))

    def of_first(annotations: Annotations) -> list[tuple[float, float, float]]:
        against = against_rest(annotations)
        found = [(against.kappa[0], against.kappa_low[0], against.kappa_high[0])]
        if kind == "lognormal":
            ratings = ratings_against_rest(annotations, np.ones(4, dtype=bool))
            found.append(
                (ratings.correlation[0], ratings.correlation_low[0], ratings.correlation_high[0])
            )
        return found

    truth = [value for value, _, _ in of_first(crowd(50_000))]
    held = []
    for _ in range(200):
        found = of_first(crowd(20))
        if not np.isnan(found).any():  # else one always gives the same answer
            held.append(
                [low <= one <= high for (_, low, high), one in zip(found, truth, strict=True)]
            )
    assert len(held) > 100 and (np.mean(held, axis=0) > 0.86).all()


@ALL
def test_with_everybody_in_the_reference_it_is_what_the_older_measures_say(scale: Scale) -> None:
    annotations = answers(scale, 3)
    if not isinstance(scale, Interval):
        equal = against_rest(annotations, equal=True)
        np.testing.assert_allclose(1 - equal.observed, agreement_with_rest(annotations))
    if isinstance(scale, Interval | Ordinal):
        everybody = np.ones(7, dtype=bool)
        ratings = ratings_against_rest(annotations, everybody)
        np.testing.assert_allclose(ratings.correlation, correlation_with_rest(annotations))
        np.testing.assert_allclose(ratings.leniency, leniency(annotations), atol=1e-12)


def test_corrections_are_those_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p_values = np.random.default_rng(0).uniform(0, 1, 30) ** 3
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])
    np.testing.assert_allclose(
        false_discovery(p_values), multipletests(p_values, method="fdr_bh")[1]
    )
