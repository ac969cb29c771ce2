from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dissensus.agreement import (
    BENCHMARKS,
    alpha_of_values,
    benchmark_word,
    krippendorff_alpha,
    negative_agreement,
    positive_agreement,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal
from tests.agreement.tables import random_table

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


def test_ratings_have_no_values() -> None:
    rated = Annotations.from_rows([("t1", "ann", 1), ("t1", "bob", 2)], Interval(0, 3))
    with pytest.raises(DataError) as error:
        positive_agreement(rated)
    assert str(error.value) == ("agreement by value needs nominal, ordinal or multi-label answers")


def test_words_at_the_ends_of_ranges() -> None:
    values = [-0.01, 0.0, 0.2, 0.21, 0.4, 0.6, 0.75, 0.8, 0.81, 1.0]
    assert [benchmark_word(value, "landis-koch") for value in values] == [
        "poor", "slight", "slight", "fair", "fair", "moderate", "substantial", "substantial",
        "almost perfect", "almost perfect",
    ]  # fmt: skip
    assert [benchmark_word(value, "fleiss") for value in (0.39, 0.4, 0.75, 0.76)] == [
        "poor", "fair to good", "fair to good", "excellent",
    ]  # fmt: skip
    assert [benchmark_word(value, "altman") for value in (-1, 0.2, 0.5, 0.9)] == [
        "poor", "poor", "moderate", "very good",
    ]  # fmt: skip
    assert benchmark_word(float("nan")) is None
    assert all(benchmark.words[-1][0] == 1 for benchmark in BENCHMARKS.values())
