from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from dissensus.agreement import MEASURES, interval, krippendorff_alpha, percent_agreement, why_unfit
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale
from tests.error_texts import error_text

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
            able = measure.leaves_out and why_unfit(measure, annotations) is None
            if not able or math.isnan(measure.function(annotations)):
                continue
            each = range(annotations.n_items)
            expected = [measure.function(annotations.take(annotations.item != i)) for i in each]
            without = measure.prepare(annotations).without_each()
            np.testing.assert_allclose(without, expected, rtol=1e-8, atol=1e-10, err_msg=name)


def test_threads_leave_out_what_one_thread_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations = sparse_answers("ordinal", np.random.default_rng(5))
    for name in ("cohen-kappa-linear", "scott-pi", "correlation"):
        one = MEASURES[name].prepare(annotations).without_each()
        monkeypatch.setattr("dissensus.agreement.pair_measures.FEW", 0)
        monkeypatch.setattr("dissensus.agreement.pair_measures.n_threads", lambda: 3)
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
    for seed in range(8):
        annotations = sparse_answers(kind, np.random.default_rng(seed))
        for name, measure in MEASURES.items():
            if why_unfit(measure, annotations):
                continue
            value, (low, high) = measure.function(annotations), interval(name, annotations)
            assert math.isnan(low) or low <= value <= high, (name, seed, low, value, high)
            assert math.isnan(low) == math.isnan(value) or measure.needs_ids, (name, seed)


def two_annotators(counts: tuple[int, int, int, int]) -> Annotations:
    """Items by what two annotators said: a a, a b, b a, b b."""
    pairs = np.repeat([(0, 0), (0, 1), (1, 0), (1, 1)], counts, axis=0)
    item = np.repeat(np.arange(len(pairs)), 2)
    return Annotations.from_arrays(
        item, np.tile([0, 1], len(pairs)), pairs.ravel(), Nominal(("a", "b"))
    )


def nominal_table(
    generator: np.random.Generator, n_items: int, rare: float, accuracies: np.ndarray
) -> Annotations:
    """Two values, one of them rare; each annotator is right with their own probability."""
    truth = generator.random(n_items) < rare
    right = generator.random((n_items, len(accuracies))) < accuracies
    answer = np.where(right, truth[:, None], ~truth[:, None]).astype(int)
    item, annotator = np.indices(answer.shape)
    return Annotations.from_arrays(
        item.ravel(), annotator.ravel(), answer.ravel(), Nominal(("a", "b"))
    )


def holds(intervals: Sequence[tuple[float, float]], value: float) -> float:
    low, high = np.array(intervals).T
    return float(((low <= value) & (value <= high)).mean())


@pytest.mark.parametrize("disagreeing", (0, 1, 3, 10, 19, 20))
def test_agreement_of_two_has_wilsons_interval(disagreeing: int) -> None:
    n, t = 20, 2.093  # Student's t with 19 degrees of freedom
    share, w = 1 - disagreeing / n, t**2 / (n - 1)  # the variance is estimated with n - 1
    middle = (share + w / 2) / (1 + w)
    half = math.sqrt(w * share * (1 - share) + w**2 / 4) / (1 + w)
    annotations = two_annotators((n - disagreeing, disagreeing, 0, 0))
    expected = max(middle - half, 0), min(middle + half, 1)
    assert interval("percent", annotations) == pytest.approx(expected, abs=0.03)  # of 200 items


@pytest.mark.parametrize("rare, accuracy", ((0.1, 0.97), (0.03, 0.97), (0.03, 0.88)))
def test_holds_alpha_of_rare_values(rare: float, accuracy: float) -> None:
    """Jackknife intervals alone hold it in 75 to 95 % of these tables."""
    accuracies = np.array([accuracy - 0.02, accuracy + 0.02])
    whole = nominal_table(np.random.default_rng(0), 400_000, rare, accuracies)
    expected = krippendorff_alpha(whole)
    generator, intervals = np.random.default_rng(1), []
    for _ in range(80):
        table = nominal_table(generator, 50, rare, accuracies)
        if not math.isnan(krippendorff_alpha(table)):
            intervals.append(interval("krippendorff-alpha", table))
    assert holds(intervals, expected) >= 0.9
    low, high = np.array(intervals).T
    assert (high - low).mean() < 1  # nor is it wide for nothing


@pytest.mark.slow
def test_pair_means_of_sparse_tables_hold_what_dense_ones_have() -> None:
    """Two annotators share 2 items: their kappa is far too low, on average 0.13 and -0.25."""
    intervals: dict[str, list[tuple[float, float]]] = {"cohen-kappa": [], "scott-pi": []}
    generator = np.random.default_rng(0)
    for _ in range(30):
        annotators = generator.random((100, 24)).argsort(axis=1)[:, :4].ravel()
        item = np.repeat(np.arange(100), 4)
        truth, guess = generator.integers(0, 3, 100)[item], generator.integers(0, 3, 400)
        answer = np.where(generator.random(400) < 0.5, truth, guess)
        annotations = Annotations.from_arrays(item, annotators, answer, SCALES["nominal"])
        for name in intervals:
            intervals[name].append(interval(name, annotations))
    for name, of_tables in intervals.items():
        assert holds(of_tables, 0.25) >= 0.9, name  # half of the answers are the item's own


def test_over_raters_it_holds_what_other_raters_have() -> None:
    """Skills of 0.6 to 0.95: two of them agree beyond chance as (2 * 0.775 - 1)^2."""
    generator, over_items, over_raters = np.random.default_rng(0), [], []
    for _ in range(60):
        table = nominal_table(generator, 100, 0.5, generator.uniform(0.6, 0.95, 5))
        over_items.append(interval("krippendorff-alpha", table))
        over_raters.append(interval("krippendorff-alpha", table, over="raters"))
    assert holds(over_items, 0.3025) < 0.75
    assert holds(over_raters, 0.3025) >= 0.9
    for inner, outer in zip(over_items, over_raters, strict=True):
        assert outer[0] <= inner[0] and inner[1] <= outer[1]


def test_over_raters_needs_three_known_annotators() -> None:
    assert np.isnan(interval("percent", two_annotators((5, 5, 5, 5)), over="raters")).all()
    given = np.array([0, 0, 1]), None, np.array([0, 1, 1])
    votes = Annotations.from_arrays(*given, LEVELS, count=np.array([2, 3, 4]))
    assert error_text(interval, "percent", votes, over="raters") == (
        "an interval over annotators needs known annotators; these answers are anonymous"
    )
    with pytest.raises(DataError) as error:
        interval("percent", votes, over="people")  # type: ignore[arg-type]
    assert str(error.value) == "an interval is over items or raters, found people"


def test_over_raters_many_are_left_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations = sparse_answers("nominal", np.random.default_rng(3))
    each = interval("krippendorff-alpha", annotations, over="raters")
    monkeypatch.setattr("dissensus.agreement.intervals.MOST_ANNOTATORS", 6)
    groups = interval("krippendorff-alpha", annotations, over="raters")
    assert groups != each and groups == pytest.approx(each, abs=0.15)


def test_a_function_of_many_items_is_called_for_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dissensus.agreement.intervals.MOST_GROUPS", 100)
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


def test_two_items_tell_nothing() -> None:
    rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"), ("t2", "bob", "a")]
    two = Annotations.from_rows(rows, Nominal(("a", "b")))
    assert interval("fleiss-kappa", two) == (-1, 1)
    low, high = interval("percent", two)
    assert low < 0.1 and high > 0.9
    assert np.isnan(interval("percent", two.take(np.array([0, 1])))).all()
    assert np.isnan(interval("percent", two.take(np.zeros(0, int)))).all()
    assert np.isnan(interval(percent_agreement, two.take(np.zeros(0, int)))).all()


def test_full_agreement_is_no_point() -> None:
    """Up to 3.6 % of items that would be answered by chance may be missing from 100."""
    annotations = crowd()
    equal = Annotations.from_arrays(
        annotations.item, annotations.annotator, annotations.item % 3, LEVELS
    )
    for name in ("percent", "krippendorff-alpha", "cohen-kappa", "icc2", "spearman"):
        low, high = interval(name, equal)
        assert 0.9 < low < 0.98 and high == pytest.approx(1), name
    assert interval("spearman", equal).low == pytest.approx(0.025 ** (1 / 100))
    assert np.isnan(interval(percent_agreement, equal)).all()  # its bounds are unknown
