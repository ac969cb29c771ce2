from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import (
    agreement_with_consensus,
    agreement_with_rest,
    confusion,
    correlation_with_rest,
    leniency,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal
from tests.agreement.tables import random_table


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


def test_sets_are_compared_whole() -> None:
    rows = [("t1", "ann", "joy, fear"), ("t1", "bob", "joy"), ("t1", "cleo", "joy")]
    sets = Annotations.from_rows(rows, MultiLabel(("joy", "fear")))
    assert agreement_with_rest(sets).tolist() == [0, 0.5, 0.5]
    assert agreement_with_consensus(sets).tolist() == [0, 1, 1]


def test_who_is_alone_is_nan() -> None:
    rows = [("t1", "ann", 1), ("t1", "bob", 2), ("t2", "cleo", 3)]
    ratings = Annotations.from_rows(rows, Interval(0, 3))
    assert np.isnan(leniency(ratings)).tolist() == [False, False, True]
    assert np.isnan(correlation_with_rest(ratings)).all()
    words = Annotations.from_rows(rows, Nominal(("1", "2", "3")))
    assert np.isnan(agreement_with_rest(words)).tolist() == [False, False, True]


def test_refuses_what_it_cannot_measure() -> None:
    ratings = Annotations.from_rows([("t1", "ann", 1)], Interval(0, 3))
    expected = {
        agreement_with_rest: "ratings are hardly ever equal; they correlate with the rest",
        agreement_with_consensus: (
            "ratings are hardly ever equal to their mean; they have a leniency"
        ),
        confusion: "a confusion needs nominal or ordinal answers, not interval",
    }
    for function, message in expected.items():
        with pytest.raises(DataError) as error:
            function(ratings)
        assert str(error.value) == message
    words = Annotations.from_rows([("t1", "ann", "a"), ("t1", "bob", "b")])
    with pytest.raises(DataError) as scale_error:
        leniency(words)
    assert str(scale_error.value) == "leniency needs ratings or levels, not nominal answers"
    elsewhere = Annotations.from_rows([("t9", "gold", "a")], words.scale)
    with pytest.raises(DataError) as items_error:
        confusion(words, elsewhere)
    assert str(items_error.value) == "the consensus must be about the same items, on the same scale"
    votes = Annotations.from_arrays(np.zeros(2, int), None, np.array([0, 1]), words.scale)
    with pytest.raises(DataError) as people_error:
        agreement_with_rest(votes)
    assert str(people_error.value) == (
        "agreement with the rest needs known annotators; these answers are anonymous"
    )


def test_a_confusion_beyond_memory_is_refused() -> None:
    values = Nominal(tuple(str(i) for i in range(1000)))
    table = Annotations.from_arrays(
        np.zeros(1, int), np.zeros(1, int), np.zeros(1, int), values, annotators=Names.range(2000)
    )
    with pytest.raises(DataError) as error:
        confusion(table)
    assert str(error.value) == (
        "the confusion of 2,000 annotators over 1,000 values takes 15 GiB, more than 4; "
        "select fewer annotators"
    )
