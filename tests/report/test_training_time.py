"""On how many items methods can be trained within a time."""

from __future__ import annotations

import pytest

from dissensus import Corpus, simulate
from dissensus.report.encoding_time import EncodingPlan
from dissensus.report.training_time import trained_within, training_time


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=4000, seed=0)


def test_fewer_items_if_the_fastest_method_takes_too_long_on_all(corpus: Corpus) -> None:
    needed = training_time(corpus, "single", 4000, None)
    everything = EncodingPlan(4000, None)
    assert needed == pytest.approx(6 * 4000 * 10 * 60e-6)  # 4 of 5 folds in 5 fits, and 2 again
    assert trained_within(corpus, everything, 3.01 * needed, 60) == everything
    plan = trained_within(corpus, everything, 0.76 * needed, 60)
    assert (plan.n_items, plan.encoder) == (1000, None)
    assert plan.reason == (
        "training single on all 4,000 items would take about 14 s; methods are compared on 1,000 "
        "of them, drawn at random (for all, give --budget 3m or more)"
    )
    more_seeds = trained_within(corpus, everything, 0.76 * needed, 60, seeds=3)
    assert more_seeds.n_items < 500


def test_time_for_encoding_is_not_for_training(corpus: Corpus) -> None:
    needed = training_time(corpus, "single", 4000, None)
    half = EncodingPlan(2000, "mine", "because", seconds=10.0)
    assert trained_within(corpus, half, 10 + 1.51 * needed, 60) is half
    plan = trained_within(corpus, half, 10 + 0.76 * needed, 60)
    assert (plan.n_items, plan.encoder, plan.seconds) == (1000, "mine", 5.0)


def test_floors_and_nothing_stay_as_they_are(corpus: Corpus) -> None:
    everything, nothing = EncodingPlan(4000, None), EncodingPlan(0, None, "because")
    assert trained_within(corpus, everything, 0.0, 60, ("prior",)) is everything
    assert trained_within(corpus, nothing, 0.0, 60) is nothing
    assert trained_within(corpus, everything, 0.0, 60).n_items == 30
