from __future__ import annotations

import math

import numpy as np
import pytest

from dissensus.agreement import MEASURES, interval, krippendorff_alpha, percent_agreement, why_unfit
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

LEVELS = Ordinal(("1", "2", "3"))
SCALES: dict[str, Scale] = {
    "nominal": Nominal(("a", "b", "c")),
    "ordinal": Ordinal(("1", "2", "3", "4")),
    "interval": Interval(0, 10),
    "multi-label": MultiLabel(("x", "y", "z")),
}


def crowd(n_items: int = 100, seed: int = 0) -> Annotations:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3, n_items)
    item = np.repeat(np.arange(n_items), 4)
    guess = generator.integers(0, 3, len(item))
    answer = np.where(generator.random(len(item)) < 0.7, truth[item], guess)
    return Annotations.from_arrays(item, np.tile(np.arange(4), n_items), answer, LEVELS)


def random_answers(kind: str, answered: np.ndarray, generator: np.random.Generator) -> Annotations:
    """Answers that lean to one of each item's own; some twice where not everybody answered."""
    item, annotator = np.nonzero(answered)
    repeated = not answered.all() and generator.random() < 0.3 and len(item) > 0
    if repeated:
        again = generator.integers(0, len(item), 3)
        item, annotator = np.r_[item, item[again]], np.r_[annotator, annotator[again]]
    highest = {"nominal": 3, "ordinal": 4, "interval": 21, "multi-label": 8}[kind]
    truth = generator.integers(0, highest, len(answered))[item]
    guess = generator.integers(0, highest, len(item))
    answer = np.where(generator.random(len(item)) < 0.5, truth, guess)
    scale = SCALES[kind]
    return Annotations.from_arrays(
        item,
        annotator,
        (answer / 2 if kind == "interval" else answer).astype(scale.dtype),
        scale,
        items=Names.range(answered.shape[0]),
        annotators=Names.range(answered.shape[1]),
        repeats="keep" if repeated else "error",
    )


def sparse_answers(kind: str, generator: np.random.Generator) -> Annotations:
    """Three of up to forty annotators for each item: most pairs share an item or two."""
    n_items, n_annotators = int(generator.integers(20, 120)), int(generator.integers(8, 41))
    answered = np.zeros((n_items, n_annotators), dtype=bool)
    for row in answered:
        row[generator.permutation(n_annotators)[:3]] = True
    return random_answers(kind, answered, generator)


@pytest.mark.parametrize("kind", SCALES)
def test_leaving_an_item_out_is_measuring_the_others(kind: str) -> None:
    generator = np.random.default_rng(0)
    for n in range(40):
        shape = generator.integers((3, 2), (12, 6))
        share = 1.0 if n % 2 else generator.uniform(0.3, 1)
        annotations = random_answers(kind, generator.random(shape) < share, generator)
        for name, measure in MEASURES.items():
            if why_unfit(measure, annotations) or math.isnan(measure.function(annotations)):
                continue
            each = range(annotations.n_items)
            expected = [measure.function(annotations.take(annotations.item != i)) for i in each]
            without = measure.prepare(annotations).without_each()
            np.testing.assert_allclose(without, expected, rtol=1e-8, atol=1e-10, err_msg=name)


def test_threads_leave_out_what_one_thread_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations = sparse_answers("ordinal", np.random.default_rng(5))
    for name in ("cohen-kappa-linear", "scott-pi", "correlation"):
        one = MEASURES[name].prepare(annotations).without_each()
        monkeypatch.setattr("dissensus.agreement.pairs.FEW", 0)
        monkeypatch.setattr("dissensus.agreement.pairs.n_threads", lambda: 3)
        three = MEASURES[name].prepare(annotations).without_each()
        monkeypatch.undo()
        np.testing.assert_allclose(three, one, atol=1e-12)


@pytest.mark.parametrize("name", [n for n, m in MEASURES.items() if "ordinal" in m.scales])
def test_holds_the_value_and_repeats_itself(name: str) -> None:
    annotations = crowd()
    low, high = interval(name, annotations)
    assert low < MEASURES[name].function(annotations) < high
    assert interval(name, annotations) == (low, high)
    narrow = interval(name, annotations, level=0.5)
    assert low < narrow.low < narrow.high < high


@pytest.mark.parametrize("kind", SCALES)
def test_no_interval_excludes_its_estimate(kind: str) -> None:
    for seed in range(25):
        annotations = sparse_answers(kind, np.random.default_rng(seed))
        for name, measure in MEASURES.items():
            if why_unfit(measure, annotations):
                continue
            value, (low, high) = measure.function(annotations), interval(name, annotations)
            assert math.isnan(low) or low <= value <= high, (name, seed, low, value, high)
            assert math.isnan(low) == math.isnan(value) or measure.needs_ids, (name, seed)


def test_cohen_and_scott_on_sparse_tables_hold_what_they_expect() -> None:
    """A quick version of benchmarks/check_intervals.py: percentiles of resamples held none."""
    values: dict[str, list[float]] = {"cohen-kappa": [], "scott-pi": [], "correlation": []}
    intervals: dict[str, list[tuple[float, float]]] = {name: [] for name in values}
    answered = np.zeros((120, 30), dtype=bool)
    for row in answered:
        row[np.random.default_rng(0).permutation(30)[:3]] = True
    for seed in range(100):
        generator = np.random.default_rng([seed, 1])
        table = np.array([generator.permutation(row) for row in answered])
        annotations = random_answers("ordinal", table, generator)
        for name in values:
            values[name].append(MEASURES[name].function(annotations))
            intervals[name].append(interval(name, annotations))
    for name, measured in values.items():
        low, high = np.array(intervals[name]).T
        covered = (low <= np.mean(measured)) & (np.mean(measured) <= high)
        assert covered.mean() >= 0.9, (name, covered.mean())
        assert (high - low).mean() < 6 * np.std(measured), name  # nor is it wide for nothing


def test_a_function_gets_nearly_the_same() -> None:
    annotations = crowd(400)
    by_name, by_calls = interval("percent", annotations), interval(percent_agreement, annotations)
    assert by_name == pytest.approx(by_calls, abs=0.002)


def test_a_function_of_many_items_is_called_for_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dissensus.agreement.confidence.MOST_GROUPS", 100)
    annotations = crowd(400)
    calls = []

    def counted(annotations: Annotations) -> float:
        calls.append(annotations.n_rows)
        return krippendorff_alpha(annotations)

    low, high = interval(counted, annotations)
    assert calls == [1600, *[1584] * 100]
    assert (low, high) == pytest.approx(interval("krippendorff-alpha", annotations), abs=0.02)


def test_is_the_normal_interval_of_a_mean() -> None:
    """Percent agreement is a mean over items, whose standard error is known."""
    annotations = crowd(400)
    per_item = [percent_agreement(annotations.take(annotations.item == i)) for i in range(400)]
    half = 1.966 * np.std(per_item, ddof=1) / np.sqrt(400)
    expected = np.mean(per_item) - half, np.mean(per_item) + half
    assert interval(percent_agreement, annotations) == pytest.approx(expected, abs=1e-5)
    assert interval("percent", annotations) == pytest.approx(expected, abs=2e-3)


def test_items_without_answers_do_not_count() -> None:
    annotations = crowd()
    more = Annotations.from_arrays(
        annotations.item, annotations.annotator, annotations.answer, LEVELS, items=Names.range(999)
    )
    for measure in ("percent", "cohen-kappa", "icc3", "krippendorff-alpha", percent_agreement):
        assert interval(measure, more) == pytest.approx(interval(measure, annotations), rel=1e-9)


def test_no_interval_where_one_item_decides() -> None:
    rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"), ("t2", "bob", "a")]
    two = Annotations.from_rows(rows, Nominal(("a", "b")))
    assert np.isnan(interval("fleiss-kappa", two)).all()  # without t2 all answers are the same
    assert not np.isnan(interval("percent", two)).any()
    assert np.isnan(interval("percent", two.take(np.zeros(0, int)))).all()
    assert np.isnan(interval(percent_agreement, two.take(np.zeros(0, int)))).all()


def test_full_agreement_is_a_point() -> None:
    annotations = crowd()
    equal = Annotations.from_arrays(
        annotations.item, annotations.annotator, annotations.item % 3, LEVELS
    )
    for name in ("percent", "krippendorff-alpha", "cohen-kappa", "icc2"):
        assert interval(name, equal) == pytest.approx((1, 1)), name


def test_a_level_is_a_share() -> None:
    with pytest.raises(DataError) as error:
        interval("percent", crowd(), level=95)
    assert str(error.value) == "a level lies between 0 and 1, found 95"


def test_refuses_measures_that_are_not_for_these_answers() -> None:
    with pytest.raises(DataError) as error:
        interval("mean-difference", crowd())
    assert str(error.value) == "mean-difference: it is for interval answers, not ordinal"
