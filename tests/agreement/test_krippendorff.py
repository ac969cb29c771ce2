from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np
import pytest

from dissensus.agreement import krippendorff_alpha, masi_distance
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale
from tests.agreement.tables import Table, random_table

PUBLISHED = [  # Krippendorff (2011), example C: four observers, twelve units
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
SCALES: dict[str, tuple[Scale, np.ndarray]] = {
    "nominal": (Nominal(("a", "b", "c", "d")), np.arange(4)),
    "ordinal": (Ordinal(("-3", "-1", "1", "4")), np.arange(4)),
    "interval": (Interval(1000, 1010), 1000 + np.array([0, 0.1, 2.5, 7, 10])),
}


def published(scale: Scale) -> Annotations:
    rows = [
        (f"unit {unit}", f"observer {who}", answer)
        for who, answers in enumerate(PUBLISHED)
        for unit, answer in enumerate(answers)
        if answer is not None
    ]
    return Annotations.from_rows(rows, scale)


@pytest.mark.parametrize(
    ("scale", "alpha"),
    [
        (Nominal(("1", "2", "3", "4", "5")), 0.743),
        (Ordinal(("1", "2", "3", "4", "5")), 0.815),
        (Interval(1, 5), 0.849),
    ],
    ids=["nominal", "ordinal", "interval"],
)
def test_published_values(scale: Scale, alpha: float) -> None:
    assert krippendorff_alpha(published(scale)) == pytest.approx(alpha, abs=5e-4)


def reference(table: Table, level: Any) -> float:
    """What the krippendorff package says; nan where it has nothing to say."""
    paired = table.wide[:, (~np.isnan(table.wide)).sum(axis=0) >= 2]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        return float("nan")
    domain = None if level == "interval" else SCALES[level][1].tolist()
    return float(krippendorff.alpha(table.wide, level_of_measurement=level, value_domain=domain))


@pytest.mark.parametrize("level", SCALES)
def test_equals_the_krippendorff_package_on_random_tables(level: str) -> None:
    generator = np.random.default_rng(3)
    undefined = 0
    for _ in range(200):
        table = random_table(generator, *SCALES[level])
        expected = reference(table, level)
        undefined += int(np.isnan(expected))
        assert krippendorff_alpha(table.annotations) == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )
    assert undefined < 20


@pytest.mark.parametrize("level", SCALES)
def test_counts_without_annotators_give_the_same(level: str) -> None:
    scale, answers = SCALES[level]
    generator = np.random.default_rng(4)
    item, answer = np.repeat(np.arange(20), 5), generator.choice(answers, 100)
    named = Annotations.from_arrays(
        item, np.tile(np.arange(5), 20), answer.astype(scale.dtype), scale
    )
    rows, count = np.unique(np.stack([item, answer], axis=1), axis=0, return_counts=True)
    anonymous = Annotations.from_arrays(
        rows[:, 0].astype(int), None, rows[:, 1].astype(scale.dtype), scale, count=count
    )
    assert anonymous.n_rows < named.n_rows
    assert krippendorff_alpha(anonymous) == pytest.approx(krippendorff_alpha(named))


@pytest.mark.parametrize("level", SCALES)
def test_order_of_rows_and_names_do_not_matter(level: str) -> None:
    annotations = random_table(np.random.default_rng(5), *SCALES[level]).annotations
    shuffled = annotations.take(np.random.default_rng(6).permutation(annotations.n_rows))
    assert krippendorff_alpha(shuffled) == pytest.approx(krippendorff_alpha(annotations))


def test_names_of_nominal_values_do_not_matter() -> None:
    table = random_table(np.random.default_rng(7), *SCALES["nominal"]).annotations
    renamed = Annotations.from_arrays(
        table.item, table.annotator, 3 - table.answer, Nominal(("x", "y", "z", "w"))
    )
    assert krippendorff_alpha(renamed) == pytest.approx(krippendorff_alpha(table))


def brute_force(table: Table, distance: np.ndarray) -> float:
    """Krippendorff's definition, pair by pair."""
    columns = [column[~np.isnan(column)].astype(int) for column in table.wide.T]
    columns = [column for column in columns if len(column) >= 2]
    if not columns:
        return float("nan")
    observed = sum(distance[a, b] / (len(c) - 1) for c in columns for a in c for b in c)
    every = np.concatenate(columns)
    expected = sum(distance[a, b] for a in every for b in every) / (len(every) - 1)
    return float(1 - observed / expected) if expected else float("nan")


def test_a_distance_between_values_of_the_scale_or_of_the_caller() -> None:
    circle = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    scale = Nominal(("joy", "anger", "sadness", "calm"), circle)
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), scale, np.arange(4))
        expected = brute_force(table, circle)
        plain = Annotations.from_arrays(
            table.annotations.item,
            table.annotations.annotator,
            table.annotations.answer,
            Nominal(scale.values),
        )
        assert krippendorff_alpha(table.annotations) == pytest.approx(expected)
        assert krippendorff_alpha(plain, circle) == pytest.approx(expected)
        assert krippendorff_alpha(plain, circle**2) == pytest.approx(brute_force(table, circle**2))


@pytest.mark.parametrize(
    "rows",
    [
        [("t1", "ann", "2"), ("t2", "bob", "5")],
        [("t1", "ann", "2"), ("t1", "bob", "2"), ("t2", "ann", "5")],
    ],
    ids=["no item has two answers", "all paired answers are the same"],
)
@pytest.mark.parametrize(
    "scale", [Nominal(("2", "5")), Ordinal(("2", "5")), Interval(0, 10)], ids=lambda s: s.kind
)
def test_undefined_is_nan(rows: list[tuple[str, str, str]], scale: Scale) -> None:
    assert np.isnan(krippendorff_alpha(Annotations.from_rows(rows, scale)))


def test_refuses_what_it_cannot_measure() -> None:
    sets = Annotations.from_rows([("t1", "ann", "joy,fear")], MultiLabel(("joy", "fear")))
    with pytest.raises(DataError) as sets_error:
        krippendorff_alpha(sets, np.eye(2))
    assert str(sets_error.value) == (
        "a matrix of distances is between values; sets need a function of two sets"
    )
    with pytest.raises(DataError) as level_error:
        krippendorff_alpha(sets, level="interval")
    assert str(level_error.value) == "multi-label answers cannot be compared on interval level"
    ratings = Annotations.from_rows([("t1", "ann", 1)], Interval(0, 1))
    with pytest.raises(DataError) as ratings_error:
        krippendorff_alpha(ratings, np.eye(2))
    assert str(ratings_error.value) == (
        "a matrix of distances is between values; ratings have differences"
    )
    with pytest.raises(DataError) as shape_error:
        krippendorff_alpha(Annotations.from_rows([("t1", "ann", "a")]), np.ones((2, 2)))
    assert str(shape_error.value) == (
        "the distance between 1 values is 1 x 1 and 0 from a value to itself; found (2, 2)"
    )
    with pytest.raises(DataError) as name_error:
        krippendorff_alpha(ratings, level="cardinal")  # type: ignore[arg-type]
    assert str(name_error.value) == (
        "no level 'cardinal'; there are nominal, ordinal, interval, ratio, masi"
    )
    with pytest.raises(DataError) as both_error:
        krippendorff_alpha(ratings, np.eye(2), level="ratio")
    assert str(both_error.value) == (
        "a distance, a level or weights: each takes the place of the others"
    )


def test_too_many_different_ratings_are_refused() -> None:
    number = np.linspace(1, 2, 20_002)
    ratings = Annotations.from_arrays(
        np.repeat(np.arange(10_001), 2), np.tile(np.arange(2), 10_001), number, Interval(0, 3)
    )
    assert np.isfinite(krippendorff_alpha(ratings))
    with pytest.raises(DataError) as error:
        krippendorff_alpha(ratings, level="ratio")
    assert str(error.value) == (
        "20,002 different answers have too many distances to compare all with all "
        "(at most 20,000); round the ratings"
    )


@pytest.mark.parametrize("kind", ["interval", "ordinal"])
def test_ratio_level_equals_the_krippendorff_package(kind: str) -> None:
    answers = np.array([1.0, 1.5, 4, 9])
    ordinal = Ordinal(("1", "1.5", "4", "9"))
    generator = np.random.default_rng(8)
    for _ in range(100):
        table = random_table(generator, Interval(0, 10), answers)
        annotations = table.annotations.to(ordinal) if kind == "ordinal" else table.annotations
        paired = table.wide[:, (~np.isnan(table.wide)).sum(axis=0) >= 2]
        expected = float("nan")
        if len(np.unique(paired[~np.isnan(paired)])) > 1:
            expected = float(krippendorff.alpha(table.wide, level_of_measurement="ratio"))
        agreement = krippendorff_alpha(annotations, level="ratio")
        assert agreement == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_levels_may_be_read_as_values_or_numbers() -> None:
    rows = published(Ordinal(("1", "2", "3", "4", "5")))
    assert krippendorff_alpha(rows, level="nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(rows, level="interval") == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha(rows, level="ratio") == pytest.approx(0.797, abs=5e-4)


def masi(a: set[str], b: set[str]) -> float:
    """Passonneau's words, for two sets."""
    if a == b:
        return 0.0
    monotone = 2 / 3 if a <= b or b <= a else 1 / 3 if a & b else 0.0
    return 1 - len(a & b) / len(a | b) * monotone


def test_masi_of_sets() -> None:
    scale = MultiLabel(("joy", "fear", "anger"))
    masks = np.arange(8)
    sets = [set(chosen) for chosen in scale.decode(masks)]
    expected = [[masi(a, b) for b in sets] for a in sets]
    np.testing.assert_allclose(masi_distance(masks[:, None], masks[None]), expected)
    distance = np.array(expected)
    for seed in range(50):
        table = random_table(np.random.default_rng(seed), scale, masks)
        agreement = krippendorff_alpha(table.annotations)
        assert agreement == pytest.approx(brute_force(table, distance), nan_ok=True)


def test_a_function_may_be_the_distance() -> None:
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), Interval(0, 3), np.arange(4.0))
        expected = brute_force(table, np.abs(np.subtract.outer(np.arange(4), np.arange(4))))
        agreement = krippendorff_alpha(table.annotations, lambda a, b: np.abs(a - b))
        assert agreement == pytest.approx(expected)
