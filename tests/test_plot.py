"""Figures for notebooks: their data, the files they are saved to, and what cannot be plotted."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import dissensus as ds
from dissensus.agreement import kappa_matrix
from dissensus.errors import DataError
from dissensus.methods import method
from dissensus.plot import Figure
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from tests.evaluation.comparisons import comparison


@pytest.fixture(scope="module")
def corpus() -> ds.Corpus:
    return ds.simulate.text(n_items=60, n_annotators=5, labels_per_item=4, seed=0)


@pytest.fixture(scope="module")
def predicted(corpus: ds.Corpus) -> tuple[Predictions, ds.Corpus]:
    train, tested = corpus.split(0.5, seed=0)
    return method("annotator-majority")().fit(train).predict(tested), tested


@pytest.fixture(scope="module")
def figures(corpus: ds.Corpus, predicted: tuple[Predictions, ds.Corpus]) -> dict[str, Figure]:
    rated = ds.simulate.ratings(n_items=40, seed=0)
    return {
        "agreement": ds.plot.agreement(corpus),
        "answers": ds.plot.answers(corpus),
        "calibration": ds.plot.calibration(*predicted),
        "confusion": ds.plot.confusion(corpus["emotion"]),
        "item": ds.plot.item(corpus, "3"),
        "ratings": ds.plot.ratings(rated),
        "scores": ds.plot.scores(comparison(n_seeds=2)),
    }


def test_every_figure_is_plotted_here(figures: dict[str, Figure]) -> None:
    assert sorted(figures) == sorted(set(ds.plot.__all__) - {"Figure", "GREY"})


@pytest.mark.parametrize("name", sorted(set(ds.plot.__all__) - {"Figure", "GREY"}))
def test_a_figure_is_saved_and_shown(figures: dict[str, Figure], name: str, tmp_path: Path) -> None:
    figure = figures[name]
    root = ElementTree.fromstring(figure.save(tmp_path / "figure.svg").read_text(encoding="utf-8"))
    assert root.attrib["role"] == "img" and root.attrib["aria-label"] == figure.alt
    assert ElementTree.fromstring(figure._repr_svg_()).attrib == root.attrib
    pixels = np.asarray(Image.open(figure.save(tmp_path / "figure.png")).convert("L"))
    assert pixels.min() < 130 and 0.01 < (pixels < 200).mean() < 0.7
    frame = pd.read_csv(figure.save(tmp_path / "figure.csv"), keep_default_na=False)
    assert list(frame.columns) == figure.data.column_names and len(frame) == len(figure.rows) > 0
    page = figure._repr_html_()
    assert figure.title in page and "vscode" in page and 'color="#222"' not in page


def test_figures_are_drawn_on_axes(
    corpus: ds.Corpus, predicted: tuple[Predictions, ds.Corpus]
) -> None:
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot as plt

    with plt.rc_context(ds.plot.GREY):
        _, every = plt.subplots(2, 3)
    share, kappa, confusion, calibration, ratings, scores = every.ravel()
    assert ds.plot.answers(corpus, ax=share) is share
    bars = ds.plot.answers(corpus).to_pandas()
    assert [bar.get_width() for bar in share.patches] == pytest.approx(
        list(bars["share"]), rel=1e-5
    )
    assert [label.get_text() for label in share.get_yticklabels()] == list(bars["value"])
    ds.plot.agreement(corpus, ax=kappa)
    cells = kappa.images[0].get_array()
    assert {len(cells), *cells.shape} == {
        5
    } and kappa.get_title() == "Who agrees with whom, emotion"
    ds.plot.confusion(corpus, ax=confusion)
    ds.plot.calibration(*predicted, ax=calibration)
    points = calibration.collections[0].get_offsets()
    shown = ds.plot.calibration(*predicted).to_pandas()[["predicted", "observed"]]
    np.testing.assert_allclose(points, shown, atol=1e-6)
    ds.plot.ratings(ds.simulate.ratings(n_items=40, seed=0), ax=ratings)
    assert ratings.get_xlabel() == "valence" and ratings.get_ylabel() == "activation"
    results = comparison(n_seeds=2)
    ds.plot.scores(results, ax=scores, metric="accuracy")
    assert scores.get_xlabel() == "accuracy"
    with pytest.raises(DataError, match="no metric 'beauty'; choose from"):
        ds.plot.scores(results, ax=scores, metric="beauty")
    with pytest.raises(DataError, match="ax must be Axes of matplotlib, found str"):
        ds.plot.answers(corpus, ax="left")
    plt.close("all")


def test_the_code_of_the_gallery_draws_it() -> None:
    pytest.importorskip("matplotlib")
    figure = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "update_gallery.py"))[
        "drawn"
    ]()
    assert len(figure.axes) == 6 and all(axes.get_title() for axes in figure.axes)


def test_data_are_the_numbers_of_other_functions(corpus: ds.Corpus) -> None:
    frame = ds.plot.agreement(corpus).to_pandas().set_index("annotator")
    names = list(corpus.annotators)
    expected = kappa_matrix(corpus["emotion"])
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(frame.loc[names, names].astype(float), expected, atol=1e-6)


def test_texts_of_a_corpus_are_escaped() -> None:
    evil = '"><script>alert(1)</script>'
    given = {"a": evil, "b": "b", "c": evil}
    rows = [(f"{evil}{i}", evil + who, given[who]) for i in range(6) for who in given]
    answers = ds.Annotations.from_rows(rows)
    for figure in (
        ds.plot.agreement(answers, evil),
        ds.plot.answers(answers, evil),
        ds.plot.confusion(answers, evil),
    ):
        assert "<script" not in figure._repr_html_() and "<script" not in figure._repr_svg_()


def test_many_values_are_cut_to_the_most_frequent() -> None:
    rows = [(f"t{i}", who, f"v{i:02}") for i in range(40) for who in "ab"]
    rows += [(f"u{i}", who, value) for i in range(9) for who, value in (("a", "v39"), ("b", "v38"))]
    answers = ds.Annotations.from_rows(rows)
    figure = ds.plot.answers(answers)
    assert len(figure.rows) == 30 and [row[0] for row in figure.rows[:2]] == ["v38", "v39"]
    assert "The 30 most frequent of 40 values." in figure.alt


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "multi-label"])
def test_each_figure_shows_every_scale_or_says_why_not(scale: str) -> None:
    kinds: dict[str, ds.scales.Scale] = {
        "nominal": ds.Nominal(("x", "y", "z")),
        "ordinal": ds.Ordinal(("x", "y", "z")),
        "interval": ds.Interval(0, 2),
        "multi-label": ds.MultiLabel(("x", "y", "z")),
    }
    generator = np.random.default_rng(0)
    item, annotator = (part.ravel() for part in np.indices((30, 4)))
    code = np.where(generator.random(120) < 0.6, item % 3, generator.integers(3, size=120))
    answer = code.astype(float) if scale == "interval" else 1 << code
    answers = ds.Annotations.from_arrays(
        item, annotator, answer if scale in ("interval", "multi-label") else code, kinds[scale],
        items=ds.Names([f"t{i}" for i in range(30)]), annotators=ds.Names(["a", "b", "c", "d"]),
    )  # fmt: skip
    mass = answers.distribution()
    pairs = ByAnnotator(answers.item, annotator, answers.annotators, answers.answer)
    consensus = answers.consensus().answer
    own = Prediction(answers.scale, answers.items, mass, consensus, pairs)
    predictions = Predictions({"q": own}, "perfect", "c")
    corpus = ds.Corpus.build("c", answers.items, {"q": answers})
    for plot in (ds.plot.answers, ds.plot.agreement):
        assert plot(corpus).rows
    assert ds.plot.item(corpus, "t0").rows and ds.plot.calibration(predictions, corpus).rows
    if scale in ("interval", "multi-label"):
        with pytest.raises(DataError, match="on a nominal or ordinal scale"):
            ds.plot.confusion(corpus)
    else:
        assert ds.plot.confusion(corpus).rows
