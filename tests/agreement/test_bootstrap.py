from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import MEASURES, interval, krippendorff_alpha, percent_agreement
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal, Ordinal

LEVELS = Ordinal(("1", "2", "3"))


def crowd(n_items: int = 100, seed: int = 0) -> Annotations:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3, n_items)
    item = np.repeat(np.arange(n_items), 4)
    answer = np.where(generator.random(len(item)) < 0.7, truth[item], generator.integers(0, 3, len(item)))  # fmt: skip # noqa: E501
    return Annotations.from_arrays(item, np.tile(np.arange(4), n_items), answer, LEVELS)


@pytest.mark.parametrize("name", [n for n, m in MEASURES.items() if "ordinal" in m.scales])
def test_holds_the_value_and_repeats_itself(name: str) -> None:
    annotations = crowd()
    low, high, undefined = interval(name, annotations, resamples=100)
    assert low < MEASURES[name].function(annotations) < high
    assert undefined == 0
    assert interval(name, annotations, resamples=100) == (low, high, 0)
    assert interval(name, annotations, resamples=100, seed=1) != (low, high, 0)


def test_weights_and_rows_give_nearly_the_same() -> None:
    annotations = crowd()
    by_weights = interval("krippendorff-alpha", annotations)
    by_rows = interval(krippendorff_alpha, annotations, resamples=400)
    assert by_weights[:2] == pytest.approx(by_rows[:2], abs=0.015)


def test_is_the_normal_interval_of_a_mean() -> None:
    """Percent agreement is a mean over items, whose standard error is known."""
    annotations = crowd(400)
    per_item = [percent_agreement(annotations.take(annotations.item == i)) for i in range(400)]
    half = 1.96 * np.std(per_item) / np.sqrt(400)
    low, high, _ = interval("percent", annotations, resamples=4000)
    assert (low, high) == pytest.approx((np.mean(per_item) - half, np.mean(per_item) + half), abs=4e-3)  # fmt: skip # noqa: E501
    narrow = interval("percent", annotations, resamples=4000, level=0.5)
    assert narrow.high - narrow.low == pytest.approx(0.6745 / 1.96 * (high - low), rel=0.1)


def test_items_without_answers_are_not_drawn() -> None:
    annotations = crowd()
    more = Annotations.from_arrays(
        annotations.item, annotations.annotator, annotations.answer, LEVELS, items=Names.range(999)
    )
    assert interval("percent", more, 50) == interval("percent", annotations, 50)
    assert interval(percent_agreement, more, 9) == interval(percent_agreement, annotations, 9)


def test_undefined_resamples_are_counted() -> None:
    rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"), ("t2", "bob", "a")]
    two = Annotations.from_rows(rows, Nominal(("a", "b")))
    found = interval("fleiss-kappa", two, resamples=200)
    assert 25 < found.undefined < 75  # only t1, a quarter of the time
    nothing = interval("percent", two.take(np.zeros(0, int)), resamples=7)
    assert np.isnan(nothing.low) and np.isnan(nothing.high) and nothing.undefined == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "a level lies between 0 and 1, found 95"),
        ({"resamples": 0}, "an interval needs resamples, found 0"),
    ],
)
def test_refuses_strange_settings(options: dict[str, float], message: str) -> None:
    with pytest.raises(DataError) as error:
        interval("percent", crowd(), **options)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_refuses_measures_that_are_not_for_these_answers() -> None:
    with pytest.raises(DataError) as error:
        interval("mean-difference", crowd())
    assert str(error.value) == "mean-difference: it is for interval answers, not ordinal"
