"""What is promised of every measure."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import MEASURES, Measure, at_a_glance
from dissensus.annotations import Annotations
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

SCALES: tuple[Scale, ...] = (
    Nominal(("a", "b", "c")),
    Ordinal(("1", "2", "3")),
    Interval(0, 2),
    MultiLabel(("a", "b")),
)


@pytest.fixture(params=SCALES, ids=lambda scale: scale.kind)
def crowd(request: pytest.FixtureRequest) -> Annotations:
    scale: Scale = request.param
    answer = np.random.default_rng(0).integers(0, 3, 60).astype(scale.dtype)
    return Annotations.from_arrays(
        np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20), answer, scale
    )


@pytest.fixture(params=MEASURES.values(), ids=list(MEASURES))
def measure(request: pytest.FixtureRequest) -> Measure:
    found: Measure = request.param
    return found


def test_a_measure_of_this_scale_is_a_number(measure: Measure, crowd: Annotations) -> None:
    if crowd.scale.kind in measure.scales:
        assert np.isfinite(measure.function(crowd))


def test_order_of_rows_does_not_matter(measure: Measure, crowd: Annotations) -> None:
    if crowd.scale.kind in measure.scales:
        shuffled = crowd.take(np.random.default_rng(1).permutation(crowd.n_rows))
        assert measure.function(shuffled) == pytest.approx(measure.function(crowd))


def test_no_answers_are_nan(measure: Measure, crowd: Annotations) -> None:
    if crowd.scale.kind in measure.scales:
        assert np.isnan(measure.function(crowd.take(np.zeros(0, dtype=int))))


def test_at_a_glance_holds_what_applies(crowd: Annotations) -> None:
    expected = {
        "nominal": ["percent", "krippendorff-alpha"],
        "ordinal": ["percent", "krippendorff-alpha"],
        "interval": ["krippendorff-alpha", "mean-difference"],
        "multi-label": ["percent"],
    }
    assert list(at_a_glance(crowd)) == expected[crowd.scale.kind]
