"""Tables in and out: pandas frames, their names and index, and HTML for notebooks."""

from __future__ import annotations

import inspect
import io
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dissensus as ds
from dissensus.errors import DataError, InstallError
from dissensus.progress import progress
from tests.error_texts import refusal

LONG = pd.DataFrame(
    {
        "comment_id": ["c1", "c1", "c2", "c2", "c3"],
        "comment": ["so good", "so good", "<b>bad</b>", "<b>bad</b>", "fine"],
        "worker": ["ann", "bob", "ann", "bob", "ann"],
        "label": ["ok", "ok", "toxic", "ok", "ok"],
        "rating": [1, 2, 5, 4, 3],
        "source": ["forum", "forum", "news", "news", "news"],
        "gender": ["f", "m", "f", "m", "f"],
    }
)


def test_agreement_and_a_comparison_take_a_frame(tmp_path: Path) -> None:
    frame = LONG[["comment_id", "worker", "label"]]
    assert ds.agreement.sentence(frame) == ds.agreement.sentence(ds.read(frame)["label"])
    with pytest.raises(DataError, match="has the questions 'label', 'rating'; choose one"):
        ds.agreement.sentence(ds.read(LONG, answer=["label", "rating"]))
    results = ds.evaluation.compare(
        frame, ["prior"], folds=3, seeds=1, processes=1, out=tmp_path / "out"
    )
    assert [fit.fold for fit in results.fits] == ["fold 1", "fold 2", "fold 3"]
    scores = results.to_pandas()
    assert sorted(set(scores["fold"])) == ["fold 1", "fold 2", "fold 3"]
    first = scores.iloc[0]
    assert first["score"] == results.fits[0].score(first["question"], first["metric"])


def test_a_corpus_comes_back_as_the_table_that_was_read() -> None:
    corpus = ds.read(LONG, answer=["label", "rating"])
    frame = corpus.to_pandas()
    pd.testing.assert_frame_equal(frame[LONG.columns], LONG)
    again = ds.read(frame[LONG.columns], answer=["label", "rating"])
    assert again.equals(corpus)


def test_the_names_of_columns_survive_a_folder(tmp_path: Path) -> None:
    corpus = ds.read(LONG)
    corpus.save(tmp_path / "corpus")
    assert ds.read(tmp_path / "corpus").columns == {
        "item": "comment_id",
        "annotator": "worker",
        "text": "comment",
    }


def test_answers_of_anonymous_annotators_have_a_row_each() -> None:
    corpus = ds.read(LONG.drop(columns=["worker", "gender"]), answer=["label", "rating"])
    frame = corpus.to_pandas()
    assert len(frame) == 10
    assert frame["question"].tolist() == ["label"] * 5 + ["rating"] * 5
    assert frame["answer"].tolist() == [*LONG["label"], *map(str, LONG["rating"])]


def test_an_item_named_by_its_text_has_no_second_column() -> None:
    frame = ds.read(LONG[["comment", "worker", "label"]]).to_pandas()
    assert frame.columns.tolist() == ["comment", "worker", "label"]


def test_annotations_have_names() -> None:
    frame = ds.read(LONG, answer=["label", "rating"])["rating"].to_pandas()
    assert frame.columns.tolist() == ["item", "annotator", "answer"]
    assert frame.iloc[1].tolist() == ["c1", "bob", 2]


@pytest.mark.parametrize("name", ["majority", "dawid-skene"])
def test_aggregators_take_a_frame_and_give_one(name: str) -> None:
    aggregator = ds.aggregation.AGGREGATORS[name]()
    frame = aggregator.fit_predict(LONG).to_pandas()
    assert frame["item"].tolist() == ["c1", "c2", "c3"]
    kind = {"majority": "share", "dawid-skene": "probability"}[name]
    assert frame.columns.tolist() == [
        "item", "answer", "confidence", f"{kind}.ok", f"{kind}.toxic",
    ]  # fmt: skip
    assert frame["confidence"].between(0.5, 1).all()
    with pytest.raises(DataError, match="has the questions 'label', 'rating'; choose one"):
        aggregator.fit(ds.read(LONG, answer=["label", "rating"]))


def test_a_predicted_frame_keeps_ids_and_index() -> None:
    model = ds.methods.AnnotatorMajority().fit(ds.read(LONG))
    new = pd.DataFrame(
        {"comment": ["so good", "fine", "so good"], "nr": [7, 8, 9]}, index=["x", "y", "z"]
    )
    by_index = model.predict(new)["label"].to_pandas()
    assert by_index["item"].tolist() == by_index.index.tolist() == ["x", "y", "z"]
    assert new.join(by_index)["answer"].tolist() == ["ok"] * 3
    by_id = model.predict(new.rename(columns={"nr": "id"}))["label"].to_pandas()
    assert by_id["item"].tolist() == ["7", "8", "9"]
    assert by_id.index.tolist() == ["x", "y", "z"]
    twice = new.set_axis(["x", "x", "y"])
    assert model.predict(twice)["label"].to_pandas().index.tolist() == ["x", "x", "y"]
    with pytest.raises(DataError, match="reads 'text', but the table has no column 'text'"):
        model.predict(new[["nr"]])


def test_html_is_escaped_and_short() -> None:
    corpus = ds.read(LONG)
    for shown in (corpus, corpus["label"]):
        page = shown._repr_html_()
        assert "<b>bad</b>" not in page and page.count("<table>") == 1
    assert "&lt;b&gt;bad&lt;/b&gt;" in corpus._repr_html_()
    many = ds.simulate.text(n_items=300, n_annotators=4, labels_per_item=3)
    assert "890 more rows" in many["emotion"]._repr_html_()
    predicted = ds.methods.Prior().fit(many).predict(many)
    assert "290 more rows" in predicted._repr_html_()
    assert predicted._repr_html_().count("<tr>") == 12
    empty = many["emotion"].take(np.arange(0))
    assert empty._repr_html_().count("<tr>") == 1


def test_without_pandas_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = ds.read(LONG)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert refusal(InstallError, corpus.to_pandas) == (
        "to_pandas() needs pandas, which is not installed: pip install pandas; or use the Arrow "
        "table of to_table() (of a figure: data)"
    )


def test_read_explains_each_of_its_options() -> None:
    for name in inspect.signature(ds.read).parameters:
        assert f"        {name}: " in str(ds.read.__doc__)


def test_a_bar_in_a_notebook_is_one_output_that_is_empty_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    states: list[str] = []  # of the one output of the cell, as IPython's handle would show them

    class Handle:
        def update(self, content: dict[str, str], raw: bool) -> None:
            states.append(content["text/plain"])

    ipython = types.ModuleType("IPython.display")
    ipython.display = lambda content, raw, display_id: Handle()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    monkeypatch.setattr(sys, "stderr", OutStream())
    with progress("training", 4) as advance, progress("inner", 2) as inner:
        inner(2)
        advance(2, "loss 0.5")
        advance(2)
    assert states == [
        f"training [{'#' * 15}{'.' * 15}] 2/4 loss 0.5", f"training [{'#' * 30}] 4/4 loss 0.5", "",
    ]  # fmt: skip


def test_scores_and_measures_are_tables_in_a_notebook() -> None:
    corpus = ds.read(LONG)
    floor = ds.methods.AnnotatorMajority().fit(corpus).predict(corpus)
    assert "<td" in ds.evaluate(floor, corpus)._repr_html_()
    scores = ds.evaluate(floor, corpus).to_pandas()
    assert scores.columns[:4].tolist() == ["question", "part", "method", "metric"]
    annotators = ds.describe(corpus).to_pandas()
    assert sorted(annotators["annotator"]) == ["ann", "bob"]
    assert annotators["answers"].sum() == len(LONG)
    described = ds.describe(corpus)._repr_html_()
    assert "krippendorff-alpha" in described and described.count("<table>") == 3
    agreement = ds.agreement.summarise(LONG)
    assert "krippendorff-alpha" in agreement._repr_html_()
    assert agreement.to_pandas()["measure"].iloc[0] == "percent"
