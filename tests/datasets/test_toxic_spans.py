"""Answers with the spans that annotators marked for them, and the task's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.datasets import toxic_spans
from dissensus.errors import DataError
from tests.datasets.crowd_folders import COMMENTS, OFFICIAL, SPANS, TOXIC_ANSWERS
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def marked(corpus: Corpus) -> list[tuple[str, str, str, str]]:
    """(item, annotator, the marked characters, kind) of every rationale."""
    spans = corpus.rationales
    assert spans is not None
    assert set(spans.question.to_pylist()) == {"toxic"} and set(spans.role.to_pylist()) == {"text"}
    rows = zip(
        spans.item,
        spans.annotator,
        spans.start[:, 0].astype(int),
        spans.stop[:, 0].astype(int),
        spans.kind.to_pylist(),
        strict=True,
    )
    return [
        (
            corpus.items[item],
            corpus.annotators[who] if who >= 0 else "",
            corpus.text_of(item)[start:stop],
            kind,
        )
        for item, who, start, stop, kind in rows
    ]


def refusal(folder: Path, name: str, text: str) -> str:
    write(folder, name, text)
    with pytest.raises(DataError) as caught:
        toxic_spans.load(folder)
    return str(caught.value)


def test_an_answer_is_what_not_toxic_says(sample_folder: SampleFolder) -> None:
    corpus = toxic_spans.load(sample_folder("toxic_spans"))
    answers = corpus["toxic"]
    assert list(corpus.items) == ["7", "8", "9", "10"]
    assert list(corpus.annotators) == ["3", "20"]
    assert answers.item.tolist() == [0, 0, 1, 2, 3, 3]
    assert answers.answers() == ["1", "0", "0", "1", "0", "0"]  # "all toxic" beside it says nothing
    assert answers.repeats and answers.n_rows == 6
    assert answers.extra["all toxic"].to_pylist() == [False, True, False, True, False, False]
    assert corpus.annotator_attributes["country"].to_pylist() == ["USA", None]  # 20 has two


def test_spans_are_the_rationales_of_those_who_marked_them(sample_folder: SampleFolder) -> None:
    corpus = toxic_spans.load(sample_folder("toxic_spans"))
    assert marked(corpus) == [
        ("7", "20", "Bad", "Insult"),
        ("7", "20", "Grüße!", "Insult"),  # cut at the end of the text, its kind completed
        ("7", "3", "bad", ""),
        ("7", "", "Bad", "gold"),
        ("7", "", "Gr", "gold"),
        ("8", "", "tea", "gold"),
        ("9", "", "tea", "gold"),
    ]


def test_what_was_done_to_spans_is_said(sample_folder: SampleFolder) -> None:
    assert toxic_spans.load(sample_folder("toxic_spans")).notes == (
        "1 spans belong to no row of annotations.csv and are dropped",
        "1 spans have a kind that was cut off in the source, and is completed",
        "1 answers are 'not toxic' and have spans; both are kept",
        "1 answers are toxic and have no span",
        "1 spans reach past the end of their text and are cut there",
        "1 spans lie wholly outside their text and are dropped",
        "1 texts are in two official parts and are kept in the first",
    )


def test_the_official_parts_are_found_by_text(sample_folder: SampleFolder) -> None:
    corpus = toxic_spans.load(sample_folder("toxic_spans"))
    assert corpus.splits["official"].to_pylist() == ["train", "test", "test", "trial"]
    assert corpus.units().tolist()[1] == corpus.units().tolist()[2]  # one text, two comments


def test_a_text_of_a_part_that_is_no_comment_is_counted(sample_folder: SampleFolder) -> None:
    folder = sample_folder("toxic_spans")
    write(folder, "tsd_test.csv", OFFICIAL["tsd_test.csv"] + "[],more tea\n")
    note = "1 texts of the official parts are not among the comments and are left out"
    assert toxic_spans.load(folder).notes[-1] == note


def test_dropped_answers_take_their_spans_along(sample_folder: SampleFolder) -> None:
    kept = toxic_spans.load(sample_folder("toxic_spans")).without(annotators=["20"])
    assert [row[1] for row in marked(kept)] == ["3", "", "", "", ""]


def test_spans_are_numbers(sample_folder: SampleFolder) -> None:
    folder = sample_folder("toxic_spans")
    assert refusal(folder, "spans.csv", SPANS.replace("0,3", "x,3")) == (
        f"{folder / 'spans.csv'}: damaged (In CSV column #2: CSV conversion error to int64: "
        "invalid value 'x')"
    )


def test_official_spans_are_a_list(sample_folder: SampleFolder) -> None:
    folder = sample_folder("toxic_spans")
    for wrong in ("5-7", "5", '["a"]', "[5", "[1.5]", "[[5]]"):
        cell = wrong.replace('"', '""')
        table = OFFICIAL["tsd_test.csv"].replace("[5, 6, 7]", cell)
        assert refusal(folder, "tsd_test.csv", table) == (
            f"{folder / 'tsd_test.csv'}, row 1: spans must be a list of characters such as [3, 4], "
            f"found {wrong!r}"
        )


def test_names_and_columns_must_be_right(sample_folder: SampleFolder) -> None:
    folder = sample_folder("toxic_spans")
    answers = folder / "annotations.csv"
    assert refusal(folder, answers.name, TOXIC_ANSWERS.replace("3,8,", "2,8,")) == (
        f"{answers}: names occur twice: '2'"
    )
    assert refusal(folder, answers.name, TOXIC_ANSWERS.replace("3,8,", "3,80,")) == (
        f"{answers}: no comment '80'; there are 4: '7', '8', '9', '10'"
    )
    assert refusal(folder, answers.name, TOXIC_ANSWERS.replace("worker", "rater")) == (
        f"{answers}: no column ['worker']; the file has ['annotation', 'comment_id', 'rater', "
        "'country', 'all toxic', 'not toxic']"
    )
    assert refusal(folder, "comments.csv", COMMENTS.replace("9,nice", "8,nice")) == (
        f"{folder / 'comments.csv'}: names occur twice: '8'"
    )


@pytest.mark.data
def test_the_real_spans(data_folder: Path) -> None:
    corpus = toxic_spans.load(data_folder / "toxic_spans")
    answers, spans = corpus["toxic"], corpus.rationales
    assert spans is not None
    assert answers.answer.mean() == pytest.approx(0.625, abs=5e-4)
    assert (answers.counts().min(axis=1) == 0).mean() == pytest.approx(0.348, abs=5e-4)
    length = np.array([len(corpus.text_of(item)) for item in range(corpus.n_items)])
    assert (spans.start >= 0).all() and (spans.start < spans.stop).all()
    assert (spans.stop[:, 0] <= length[spans.item]).all()
    own = spans.annotator >= 0
    answered = set(
        zip(answers.item.tolist(), answers.annotator_codes("a test").tolist(), strict=True)
    )
    pairs = zip(spans.item[own].tolist(), spans.annotator[own].tolist(), strict=True)
    assert set(pairs) <= answered
    assert own.sum() == 46_784 - 76
    kinds = spans.kind.value_counts().to_pylist()
    assert {row["values"] for row in kinds} == {
        "Insult",
        "Profane/Obscene",
        "Identity based Attack",
        "Other Toxicity",
        "Threat",
        "",
        "gold",
    }
    parts = corpus.splits["official"]
    assert len(parts) - parts.null_count == 10_777
    shared = [corpus.part(name).content["text"] for name in ("train", "trial", "test")]
    assert [len(np.unique(codes)) for codes in shared] == [7939, 690 - 8, 2000]
