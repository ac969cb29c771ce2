"""The picture of intervals: everything is where it should be."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from dissensus.drawing.picture_files import PIXELS, to_pdf, to_png
from dissensus.errors import DataError
from dissensus.evaluation.comparison_table import Cell, ComparisonTable, Row
from dissensus.evaluation.interval_plot import (
    HEAD,
    LINE,
    PANEL,
    TITLE,
    Axis,
    intervals,
    save_intervals,
)
from dissensus.evaluation.result_tables import table
from tests.evaluation.comparisons import comparison

SVG = "{http://www.w3.org/2000/svg}"


def drawn(table: ComparisonTable) -> ElementTree.Element:
    return ElementTree.fromstring(intervals(table))


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in picture.iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def comparison_table() -> ComparisonTable:
    return table(comparison(n_seeds=5), reference="single", resamples=200)


def test_it_is_a_picture_on_white_that_names_everything(comparison_table: ComparisonTable) -> None:
    picture = drawn(comparison_table)
    shown = texts(picture)
    wanted = ["made-up: hate", "single", "soft_label", "prior", "perfect prediction", "noise floor"]
    assert [text for text in (*wanted, *comparison_table.metrics) if text not in shown] == []
    assert picture.find(f"{SVG}rect").get("fill") == "#ffffff"  # type: ignore[union-attr]
    assert "http" not in intervals(comparison_table).replace("http://www.w3.org/2000/svg", "")


def test_dots_lie_within_their_interval_at_their_method(comparison_table: ComparisonTable) -> None:
    dots = list(drawn(comparison_table).iter(f"{SVG}circle"))
    assert len(dots) == 8  # two methods, four metrics
    ys = [TITLE + HEAD + LINE * (at + 0.5) for at in (0, 1)]
    assert [float(dot.get("cy", "")) for dot in dots] == ys * 4
    solid = [dot for dot in dots if dot.get("fill") != "#ffffff"]
    assert len(solid) == 4  # one best for each metric
    bars = [
        line
        for line in drawn(comparison_table).iter(f"{SVG}line")
        if line.get("y1") == line.get("y2") and float(line.get("y1", "")) in ys
    ]
    assert len(bars) == 6  # DIC, the last metric, has no interval
    for dot, bar in zip(dots[:6], bars, strict=True):
        assert float(bar.get("x1", "")) < float(dot.get("cx", "")) < float(bar.get("x2", ""))


def test_floors_are_dashed_lines_at_their_value(comparison_table: ComparisonTable) -> None:
    dashed = [n for n in drawn(comparison_table).iter(f"{SVG}line") if n.get("stroke-dasharray")]
    upright = [line for line in dashed if line.get("x1") == line.get("x2")]
    assert len(upright) == 6  # the prior on four metrics, one figure on two
    assert len(dashed) - len(upright) == 3  # the legend


def test_nothing_leaves_the_picture(comparison_table: ComparisonTable) -> None:
    picture = drawn(comparison_table)
    width, height = (float(picture.get(side, "")) for side in ("width", "height"))
    for node in picture.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(node.get(name, "0")) <= width
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(node.get(name, "0")) <= height


def test_panels_wrap() -> None:
    cells = {name: Cell(0.5, 0.1, 0.4, 0.6) for name in
             ("TVD", "JSD", "KL", "CCC", "accuracy", "cosine")}  # fmt: skip
    wide = ComparisonTable("c", "q", tuple(cells), (Row("a", cells),), None, 0, (), "x")
    narrow = replace(wide, metrics=("TVD", "JSD", "KL", "CCC"))
    sizes = [
        {side: float(drawn(t).get(side, "")) for side in ("width", "height")}
        for t in (narrow, wide)
    ]
    assert sizes[0]["width"] == sizes[1]["width"] and sizes[0]["height"] < sizes[1]["height"]


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


def test_a_png_has_every_dot_where_the_svg_has_it(comparison_table: ComparisonTable) -> None:
    svg = intervals(comparison_table)
    root = ElementTree.fromstring(svg)
    pixels = np.asarray(Image.open(io.BytesIO(to_png(svg))).convert("RGB"))
    size = [round(float(root.attrib[side]) * PIXELS) for side in ("height", "width")]
    assert pixels.shape == (*size, 3)
    circles = list(root.iter(f"{SVG}circle"))
    assert circles
    for circle in circles:
        x, y = (round(float(circle.attrib[name]) * PIXELS) for name in ("cx", "cy"))
        assert f"#{bytes(pixels[y, x]).hex()}" == circle.attrib["fill"]


def test_a_pdf_is_one_page_of_the_size_of_the_plot(comparison_table: ComparisonTable) -> None:
    svg = intervals(replace(comparison_table, question="Zorn (ärger) \N{GREEK SMALL LETTER PI}"))
    root, file = ElementTree.fromstring(svg), to_pdf(svg)
    (box,) = re.findall(rb"/MediaBox ?\[([^]]*)\]", file)
    sides = [float(root.attrib[side]) for side in ("width", "height")]
    shape = [float(number) for number in box.split()][2:]
    assert shape[0] / shape[1] == pytest.approx(sides[0] / sides[1], rel=0.01)
    assert b"/Subtype/Image" not in file.replace(b" ", b"")  # vectors, no pixels


def test_plots_of_several_questions_have_names_that_files_can_have(
    comparison_table: ComparisonTable, tmp_path: Path
) -> None:
    other = replace(comparison_table, question="love/hate?")
    paths = save_intervals([comparison_table, other], tmp_path / "x.PDF")
    assert [path.name for path in paths] == ["x-hate.PDF", "x-love-hate-.PDF"]
    assert all(path.read_bytes().startswith(b"%PDF") for path in paths)
    with pytest.raises(DataError, match=r"x.gif: pictures are saved as .svg, .png or .pdf"):
        save_intervals([other], tmp_path / "x.gif")
    with pytest.raises(DataError, match="there is no folder"):
        save_intervals([other], tmp_path / "no" / "x.svg")
