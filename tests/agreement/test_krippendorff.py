from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np
import pytest

from dissensus.agreement import krippendorff_alpha, masi_distance
from dissensus.annotations import Annotations
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


def test_levels_may_be_read_as_values_or_numbers() -> None:
    rows = published(Ordinal(("1", "2", "3", "4", "5")))
    assert krippendorff_alpha(rows, weights="identity") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(rows, weights="quadratic") == pytest.approx(0.849, abs=5e-4)


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
