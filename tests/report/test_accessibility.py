"""What can be read: contrast of colours (WCAG 2 AA), texts of pictures, bars of annotators."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dissensus.report
from dissensus import Annotations, Corpus, Interval, MultiLabel
from dissensus.drawing.svg import SOFT
from dissensus.report import Report, make_report
from dissensus.report.figures import contrast, shade
from tests.evaluation.comparisons import comparison

READABLE = 4.5  # the least contrast of text on its background
CSS = Path(dissensus.report.__file__).with_name("page.css").read_text(encoding="utf-8")


def schemes() -> dict[str, dict[str, str]]:
    """The colours of the page by name, light and dark."""
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", part))
        for part in re.findall(r":root \{([^}]*)\}", CSS)
    )
    return {"light": light, "dark": light | dark}


def blended(colour: str, below: str, opacity: float) -> str:
    pairs = [(int(colour[at : at + 2], 16), int(below[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in pairs)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # WebAIM's checker


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(scheme: str) -> None:
    of = schemes()[scheme]
    for background in ("page", "panel", "pick"):
        assert contrast(of["ink"], of[background]) >= READABLE
    for background in ("page", "panel"):
        assert contrast(of["soft"], of[background]) >= READABLE
        assert contrast(of["accent"], of[background]) >= READABLE
    assert contrast(blended(of["ink"], of["page"], SOFT), of["page"]) >= READABLE
    strongest = dict(zip(("light", "dark"), re.findall(r"--look: (\d+)%", CSS), strict=True))
    mark = blended("#e69f00", of["page"], int(strongest[scheme]) / 100)
    assert contrast(of["ink"], mark) >= READABLE  # a word that an annotator looks at


def test_numbers_in_a_matrix_can_be_read() -> None:
    for value in np.linspace(-1, 1, 201):
        fill, ink = shade(float(value))
        assert contrast(fill, ink) >= READABLE


def test_figures_have_no_fixed_grey_text() -> None:
    rows = [
        (f"t{i}", who, answer) for i in range(12) for who, answer in zip("abc", "xyx", strict=True)
    ]
    answers = Annotations.from_rows(rows)
    report = make_report(Corpus.build("c", answers.items, {"q": answers}), comparison(n_seeds=2))
    inks = set(re.findall(r'<text [^>]*?fill="([^"]+)"', report.to_html()))
    assert inks <= {"currentColor", "#ffffff", "#000000"}  # the last two are on cells


# ---- answers of annotators ----


def of_annotators(report: Report) -> dict[str, list[Any]]:
    """The columns of the table of all annotators."""
    section = next(section for section in report.sections if section.key == "annotators")
    table = section.to_dict()["blocks"][-1]
    return {name: [row[at] for row in table["rows"]] for at, name in enumerate(table["columns"])}


def test_ratings_and_sets_have_a_bar() -> None:
    ratings = Annotations.from_rows(
        [(f"t{i}", who, value) for i in range(4) for who, value in (("a", 0.0), ("b", 1.0))],
        Interval(0, 1),
    )
    columns = of_annotators(make_report(Corpus.build("c", ratings.items, {"q": ratings})))
    given = dict(zip(columns["annotator"], columns["answers given"], strict=True))
    assert list(given["a"].values()) == [1] + [0] * 4
    assert list(given["b"].values()) == [0] * 4 + [1]
    sets = Annotations.from_rows(
        [("t1", "a", ("x", "y")), ("t2", "a", ("y",)), ("t1", "b", ())], MultiLabel(("x", "y"))
    )
    columns = of_annotators(make_report(Corpus.build("c", sets.items, {"q": sets})))
    given = dict(zip(columns["annotator"], columns["answers given"], strict=True))
    assert given == {"a": {"x": 0.333333, "y": 0.666667}, "b": {"x": 0.0, "y": 0.0}}
