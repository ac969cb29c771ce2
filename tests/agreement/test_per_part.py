"""By item, annotator and value."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import entropy

from dissensus.agreement import (
    agreement_with_consensus,
    agreement_with_rest,
    alpha_of_values,
    confusion,
    correlation_with_rest,
    item_entropy,
    item_variance,
    krippendorff_alpha,
    leniency,
    majority_share,
    negative_agreement,
    positive_agreement,
)
from dissensus.annotations import Annotations
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal
from tests.agreement.tables import random_table


def test_entropy_equals_scipy() -> None:
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), Nominal(("a", "b", "c")), np.arange(3))
        counts = table.annotations.counts()
        expected = [entropy(row) if row.any() else np.nan for row in counts]
        np.testing.assert_allclose(item_entropy(table.annotations), expected, atol=1e-12)
        shares = [row.max() / row.sum() if row.any() else np.nan for row in counts]
        np.testing.assert_allclose(majority_share(table.annotations), shares)


def test_variance_is_that_of_each_column() -> None:
    for seed in range(20):
        answers = np.array([0, 0.5, 3, 10])
        table = random_table(np.random.default_rng(seed), Interval(0, 10), answers)
        n_items = table.annotations.n_items
        columns = [c[~np.isnan(c)] for c in table.wide.T[:n_items]]
        expected = [c.var() if c.size else np.nan for c in columns]
        np.testing.assert_allclose(item_variance(table.annotations), expected, atol=1e-12)
    levels = Annotations.from_rows([("t1", "ann", "1"), ("t1", "bob", "5")], Ordinal(("1", "5")))
    assert item_variance(levels).tolist() == [4.0]


def test_items_without_answers_are_nan() -> None:
    one = Annotations.from_arrays(
        np.array([1]), None, np.array([0]), Ordinal(("1", "2")), items=Names.range(3)
    )
    for function in (item_entropy, item_variance, majority_share):
        assert np.isnan(function(one)).tolist() == [True, False, True]


def test_agreement_with_the_rest_by_brute_force() -> None:
    for seed in range(30):
        table = random_table(np.random.default_rng(seed), Nominal(("a", "b", "c")), np.arange(3))
        wide = table.wide[: table.annotations.n_annotators]
        expected = []
        for who, own in enumerate(wide):
            others = np.delete(wide, who, axis=0)
            shared = ~np.isnan(own) & ~np.isnan(others).all(axis=0)
            alike = [np.mean(o[~np.isnan(o)] == a) for a, o in zip(own, others.T, strict=True)
                     if not np.isnan(a) and not np.isnan(o).all()]  # fmt: skip
            assert len(alike) == shared.sum()
            expected.append(np.mean(alike) if alike else np.nan)
        np.testing.assert_allclose(agreement_with_rest(table.annotations), expected)


def test_leniency_and_correlation_by_brute_force() -> None:
    for seed in range(30):
        answers = np.array([0, 0.5, 3, 10])
        table = random_table(np.random.default_rng(seed), Interval(0, 10), answers)
        n = table.annotations.n_annotators
        lenient, alike = leniency(table.annotations), correlation_with_rest(table.annotations)
        for who in range(n):
            others = np.delete(table.wide[:n], who, axis=0)
            shared = ~np.isnan(table.wide[who]) & ~np.isnan(others).all(axis=0)
            own, rest = table.wide[who, shared], np.nanmean(others[:, shared], axis=0)
            mean = (own - rest).mean() if own.size else np.nan
            assert lenient[who] == pytest.approx(mean, nan_ok=True)
            varied = len(own) > 1 and np.ptp(own) > 1e-9 and np.ptp(rest) > 1e-9
            r = np.corrcoef(own, rest)[0, 1] if varied else np.nan
            assert alike[who] == pytest.approx(r, nan_ok=True)


def test_confusion_against_the_consensus() -> None:
    rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t1", "cleo", "b"), ("t2", "ann", "b")]
    rows += [("t2", "bob", "b"), ("t2", "cleo", "b"), ("t3", "ann", "a"), ("t3", "bob", "b")]
    table = Annotations.from_rows(rows, Nominal(("a", "b")))
    result = confusion(table)  # t3 ties
    assert result.tolist() == [[[1, 0], [0, 1]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    assert agreement_with_consensus(table).tolist() == [1, 1, 0.5]
    gold = Annotations.from_arrays(
        np.array([2]), None, np.array([1]), table.scale, items=table.items
    )
    assert confusion(table, gold).tolist() == [[[0, 0], [1, 0]], [[0, 0], [0, 1]], [[0, 0], [0, 0]]]
    assert agreement_with_consensus(table, gold).tolist() == pytest.approx(
        [0, 1, np.nan], nan_ok=True
    )


SCALE = Nominal(("a", "b", "c"))


def test_equals_brute_force_and_alpha_of_each_value() -> None:
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), SCALE, np.arange(3))
        columns = [column[~np.isnan(column)] for column in table.wide.T]
        pairs = np.array([pair for c in columns for pair in permutations(c, 2)]).reshape(-1, 2)
        for value in range(3):
            for given, measure in ((True, positive_agreement), (False, negative_agreement)):
                first = (pairs[:, 0] == value) == given
                both = first & ((pairs[:, 1] == value) == given)
                expected = both.sum() / first.sum() if first.any() else np.nan
                assert measure(table.annotations)[value] == pytest.approx(expected, nan_ok=True)
            one = Annotations.from_arrays(
                table.annotations.item,
                table.annotations.annotator,
                (table.annotations.answer == value).astype(np.int32),
                Nominal(("no", "yes")),
            )
            assert alpha_of_values(table.annotations)[value] == pytest.approx(
                krippendorff_alpha(one), nan_ok=True
            )


def test_sets_have_each_value_by_itself() -> None:
    rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear")]
    sets = Annotations.from_rows([*rows, ("t2", "bob", "fear")], MultiLabel(("joy", "fear")))
    assert positive_agreement(sets) == pytest.approx([1, 2 / 3])
    assert negative_agreement(sets) == pytest.approx([1, 0])
