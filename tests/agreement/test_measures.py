"""What is promised of every measure."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import (
    MEASURES,
    PER_ANNOTATOR,
    PER_ITEM,
    PER_PAIR,
    PER_VALUE,
    Measure,
    at_a_glance,
    measured,
    why_undefined,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
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
    result: Measure = request.param
    return result


def test_order_of_rows_does_not_matter(measure: Measure, crowd: Annotations) -> None:
    if crowd.scale.kind in measure.scales:
        shuffled = crowd.take(np.random.default_rng(1).permutation(crowd.n_rows))
        assert measure.function(shuffled) == pytest.approx(measure.function(crowd))


def fits(measure: Measure, crowd: Annotations) -> bool:
    return crowd.scale.kind in measure.scales


def test_names_do_not_matter(measure: Measure, crowd: Annotations) -> None:
    if fits(measure, crowd):
        renamed = Annotations.from_arrays(
            19 - crowd.item,
            2 - crowd.annotator_codes(""),
            crowd.answer,
            crowd.scale,
            items=Names([f"t{i}" for i in range(20)]),
            annotators=Names(["cleo", "bob", "ann"]),
        )
        assert measure.function(renamed) == pytest.approx(measure.function(crowd))


def test_votes_without_annotators_give_the_same(measure: Measure, crowd: Annotations) -> None:
    if not fits(measure, crowd):
        return
    votes = Annotations.from_arrays(crowd.item, None, crowd.answer, crowd.scale)
    if measure.needs_ids:
        with pytest.raises(DataError, match="needs known annotators"):
            measure.function(votes)
    else:
        assert measure.function(votes) == pytest.approx(measure.function(crowd))


def test_perfect_agreement(measure: Measure, crowd: Annotations) -> None:
    if fits(measure, crowd):
        answer = np.repeat(np.arange(20) % 3, 3).astype(crowd.scale.dtype)
        same = Annotations.from_arrays(crowd.item, crowd.annotator, answer, crowd.scale)
        best = 0.0 if measure is MEASURES["mean-difference"] else 1.0
        assert measure.function(same) == pytest.approx(best)


def test_what_is_undefined_has_a_reason(measure: Measure, crowd: Annotations) -> None:
    """Tables of every poor kind: a measure is a number, or has a reason why not."""
    name = next(name for name, entry in MEASURES.items() if entry is measure)
    first = crowd.item == 0
    poor = {
        "nothing": crowd.take(np.zeros(0, dtype=int)),
        "one answer each": crowd.take(crowd.annotator_codes("") == 0),
        "one item": crowd.take(first),
        "two annotators, one item": crowd.take(first & (crowd.annotator_codes("") < 2)),
        "all the same": crowd.take(crowd.answer == 0),
        "gaps": crowd.take(np.random.default_rng(3).random(60) < 0.5),
        "all": crowd,
    }
    for table in poor.values():
        reason = why_undefined(name, table)
        if not fits(measure, table):
            assert reason is not None and reason.startswith("it is for ")
        else:
            assert (reason is None) == bool(np.isfinite(measure.function(table)))
            assert reason != "the formula divides by zero"


def test_measured_holds_every_measure_of_the_scale(crowd: Annotations) -> None:
    fitting = [name for name, measure in MEASURES.items() if fits(measure, crowd)]
    assert list(measured(crowd)) == fitting
    votes = Annotations.from_arrays(crowd.item, None, crowd.answer, crowd.scale)
    without = [name for name in fitting if not MEASURES[name].needs_ids]
    assert list(measured(votes)) == without


def test_every_breakdown_has_its_shape(crowd: Annotations) -> None:
    values = (len(getattr(crowd.scale, "values", ())),)
    shapes = (
        (PER_ITEM, (20,)), (PER_ANNOTATOR, (3,)), (PER_PAIR, (3, 3)), (PER_VALUE, values),
    )  # fmt: skip
    for entries, shape in shapes:
        for entry in entries.values():
            if crowd.scale.kind in entry.scales:
                result = entry.function(crowd)
                assert result.shape == shape and np.isfinite(result).all()
                shuffled = crowd.take(np.random.default_rng(1).permutation(crowd.n_rows))
                np.testing.assert_allclose(entry.function(shuffled), result)
            else:
                with pytest.raises(DataError):
                    entry.function(crowd)


def test_breakdowns_of_no_items_are_empty(crowd: Annotations) -> None:
    nothing = Annotations.from_arrays(
        crowd.item[:0], crowd.annotator_codes("")[:0], crowd.answer[:0], crowd.scale,
        items=Names.range(0), annotators=Names.range(3),
    )  # fmt: skip
    for entries, shape in ((PER_ITEM, (0,)), (PER_ANNOTATOR, (3,)), (PER_PAIR, (3, 3))):
        for name, entry in entries.items():
            if crowd.scale.kind in entry.scales:
                values = entry.function(nothing)
                assert values.shape == shape, name
                if entries is PER_PAIR:
                    assert np.isnan(values[~np.eye(3, dtype=bool)]).all()
                    assert (np.diag(values) == 1).all()
                else:
                    assert np.isnan(values).all()


def test_reasons_in_words() -> None:
    alone = Annotations.from_rows([("t1", "ann", "yes"), ("t2", "bob", "no")])
    assert why_undefined("cohen-kappa", alone) == "no two annotators answered the same item"
    assert why_undefined("percent", alone) == "no item has two answers"
    assert why_undefined("icc2", alone) == "it is for ordinal and interval answers, not nominal"
    same = Annotations.from_rows([("t1", "ann", "a"), ("t1", "bob", "a")], Nominal(("a", "b")))
    assert why_undefined("percent", same) is None
    assert why_undefined("fleiss-kappa", same) == "all answers are the same"
    assert why_undefined("cohen-kappa", same) == (
        "every two annotators gave one and the same answer to all items they share"
    )
    votes = Annotations.from_arrays(np.zeros(2, int), None, np.array([0, 1]), Nominal(("a", "b")))
    assert why_undefined("cohen-kappa", votes) == (
        "it needs known annotators; these answers are anonymous"
    )
    rows = [("t1", "ann", 1), ("t1", "bob", 2), ("t2", "ann", 3)]
    gaps = Annotations.from_rows(rows, Interval(0, 9))
    assert why_undefined("icc2", gaps) == "not every annotator rated every item once"
    assert why_undefined("icc1k", gaps) == "items have different numbers of ratings"
    twice = Annotations.from_rows([*rows, ("t2", "ann", 4)], Interval(0, 9), repeats="keep")
    assert why_undefined("icc2", twice) == (
        "not every annotator rated every item once; read one with --repeats first, last or mean"
    )
    with pytest.raises(DataError) as error:
        why_undefined("kappa", gaps)
    assert str(error.value).startswith("no measure 'kappa'; there are 'percent', 'krippendorff-")


def test_at_a_glance_holds_what_applies(crowd: Annotations) -> None:
    expected = {
        "nominal": ["percent", "krippendorff-alpha"],
        "ordinal": ["percent", "krippendorff-alpha"],
        "interval": ["krippendorff-alpha", "mean-difference"],
        "multi-label": ["percent", "krippendorff-alpha"],
    }
    assert list(at_a_glance(crowd)) == expected[crowd.scale.kind]
