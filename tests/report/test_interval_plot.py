"""The picture of intervals: everything is where it should be."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from dissensus.evaluation.comparison_table import Cell, ComparisonTable, Row
from dissensus.evaluation.result_tables import table
from dissensus.report.interval_plot import HEAD, LINE, PAGE, PANEL, TITLE, Axis, intervals
from tests.evaluation.comparisons import comparison

SVG = "{http://www.w3.org/2000/svg}"


def drawn(table: ComparisonTable) -> ElementTree.Element:
    return ElementTree.fromstring(intervals(table, "Scores"))


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in picture.iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def comparison_table() -> ComparisonTable:
    return table(comparison(n_seeds=5), reference="single", resamples=200)


def test_it_names_everything(comparison_table: ComparisonTable) -> None:
    shown = texts(drawn(comparison_table))
    wanted = ["made-up: hate", "single", "soft_label", "prior", "perfect prediction", "noise floor"]
    assert [text for text in (*wanted, *comparison_table.metrics) if text not in shown] == []


def test_dots_lie_within_their_interval_at_their_method(comparison_table: ComparisonTable) -> None:
    dots = list(drawn(comparison_table).iter(f"{SVG}circle"))
    assert len(dots) == 8  # two methods, four metrics
    ys = [TITLE + HEAD + LINE * (at + 0.5) for at in (0, 1)]
    assert [float(dot.get("cy", "")) for dot in dots[:6]] == ys * 3  # then comes a row of panels
    solid = [dot for dot in dots if dot.get("fill") != PAGE]
    assert len(solid) == 4  # one best for each metric
    bars = [
        line
        for line in drawn(comparison_table).iter(f"{SVG}line")
        if line.get("y1") == line.get("y2") and float(line.get("y1", "")) in ys
    ]
    assert len(bars) == 6  # DIC, the last metric, has no interval
    for dot, bar in zip(dots[:6], bars, strict=True):
        assert float(bar.get("x1", "")) < float(dot.get("cx", "")) < float(bar.get("x2", ""))


def test_a_method_without_a_score_and_strange_names() -> None:
    rows = (
        Row("<a & b>\x00", {"TVD": Cell(0.5)}),
        Row("none", {}),
        Row("nan", {"TVD": Cell(float("nan"))}, floor=True),
    )
    shown = texts(drawn(ComparisonTable("c", "q", ("TVD", "KL"), rows, None, 0, (), "x")))
    assert "<a & b>\ufffd" in shown and "no score" in shown and "KL" not in shown


@pytest.mark.parametrize(
    "values", [[0.0, 1.0], [0.8123, 0.8125], [-3.0, 2000.0], [0.5], [0.0], [float("nan")]]
)
def test_an_axis_has_a_few_round_ticks_inside(values: list[float]) -> None:
    axis = Axis.over(values, 100)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 7
    assert all(axis.low <= tick <= axis.high for tick in ticks)
    assert axis.at(axis.low) == pytest.approx(100)
    assert axis.at(axis.high) == pytest.approx(100 + PANEL)
