"""Predictions of other systems: tables of labels or probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dissensus as ds
from dissensus import Annotations, Corpus, Nominal, Prediction
from dissensus.errors import DataError
from dissensus.evaluation import read_predictions
from dissensus.prediction.prediction import prediction_from_table
from dissensus.testing import example_corpus

YES = Nominal(("no", "yes"))


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"id": ["t1", "t2"], "label": ["yes", "no"]}, [[0, 1], [1, 0]]),
        ({"item": ["t1", "t2"], "no": [0.2, 0.9], "yes": [0.8, 0.1]}, [[0.2, 0.8], [0.9, 0.1]]),
        ({"item": ["t1", "t2"], "P_no": [1, 3], "P_yes": [3, 1]}, [[0.25, 0.75], [0.75, 0.25]]),
        ({"id": ["t1", "t2"], "probs": ["[0.2, 0.8]", "{'no': 1}"]}, [[0.2, 0.8], [1, 0]]),
        (
            {"id": ["t1", "t1", "t2", "t2"], "answer": ["yes", "no", "no", "no"]},
            [[0.5, 0.5], [1, 0]],
        ),
        (
            {"id": ["t1", "t1", "t2"], "annotator": ["a", "b", "a"], "label": ["yes", "no", "no"]},
            [[0.5, 0.5], [1, 0]],
        ),
    ],
)
def test_columns_are_recognised(frame: dict[str, Any], expected: list[list[float]]) -> None:
    prediction = Prediction.from_table(frame, YES)
    np.testing.assert_allclose(prediction.distribution, expected)
    assert (prediction.by_annotator is not None) == ("annotator" in frame)
    assert (prediction.members is not None) == (len(frame["id" if "id" in frame else "item"]) == 4)


def test_a_column_for_each_question(tmp_path: Path) -> None:
    rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no")]
    toxic = Annotations.from_rows(rows, YES)
    stars = Annotations.from_rows([(i, a, "123"[len(v) - 1]) for i, a, v in rows])
    corpus = Corpus.build("two", ["t1", "t2"], {"toxic": toxic, "stars": stars})
    path = tmp_path / "llm.csv"
    path.write_text("comment,Toxic,stars,seconds\nt1,yes,3,7\nt2,no,2,8\n")
    predictions, _ = read_predictions(path, corpus)
    assert predictions["toxic"].distribution.tolist() == [[0, 1], [1, 0]]
    assert stars.scale.decode(predictions["stars"].consensus) == ["3", "2"]
    path.write_text("comment,label\nt1,yes\nt2,no\n")
    with pytest.raises(DataError, match="with --question, or name its column so"):
        read_predictions(path, corpus)
    assert list(read_predictions(path, corpus, ["toxic"])[0]) == ["toxic"]


def test_items_by_an_attribute_that_names_each(tmp_path: Path) -> None:
    answers = Annotations.from_rows([("1001", "ann", "yes"), ("1002", "ann", "no")], YES)
    ids = {"comment_id": ["c1", "c2"], "topic": ["x", "x"]}
    corpus = Corpus.build("tool", ["1001", "1002"], {"toxic": answers}, item_attributes=ids)
    path = tmp_path / "llm.csv"
    path.write_text("comment_id,label\nc2,no\nc1,yes\n")
    predictions, _ = read_predictions(path, corpus)
    assert list(predictions["toxic"].items) == ["1002", "1001"]


def test_items_by_their_texts(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("text,ann,bob\ngo away,yes,no\nhello,no,no\n")
    path = tmp_path / "llm.csv"
    path.write_text("id,comment,label\nx,hello,no\ny,go away,yes\n")
    predictions, notes = read_predictions(path, ds.read(table, annotators=["ann", "bob"]))
    assert list(predictions["answer"].items) == ["1", "0"]  # rows
    assert any("items in 'comment'" in note for note in notes)


def test_answers_are_in_the_only_column_with_values_of_the_scale() -> None:
    table = {"id": ["t1", "t2"], "toxicity": ["yes", " no"], "model": ["m", "m"]}
    prediction, notes = prediction_from_table(table, YES)
    assert notes == ["items in 'id'; answers in 'toxicity'; not used: 'model'"]
    assert YES.decode(prediction.consensus) == ["yes", "no"]
    with pytest.raises(DataError, match="no column of answers or of probabilities of 'no', 'yes'"):
        prediction_from_table({**table, "irony": ["no", "no"]}, YES)
    _, notes = prediction_from_table({**table, "irony": ["no", "no"]}, YES, question="Irony")
    assert notes[0].startswith("items in 'id'; answers in 'irony'")


def test_what_does_not_match_is_counted() -> None:
    corpus = example_corpus(n_items=4)
    value = corpus["q"].scale.values[0]  # type: ignore[attr-defined]
    frame = {
        "item": [*corpus.items[:3], "elsewhere", corpus.items[3]],
        "answer": [value, value, "no such value", value, None],
    }
    _, notes = prediction_from_table(frame, corpus["q"].scale, items=corpus.items)
    assert notes == [
        "items in 'item'; answers in 'answer'",
        "1 row of 5 left out: an answer that is not on the scale ('no such value')",
        "1 row of 5 left out: an item that is not in the corpus ('elsewhere')",
        f"1 row of 5 left out: no answer ('{corpus.items[3]}')",
    ]
    _, notes = prediction_from_table({"id": ["t1"], "no": [0.5], "yes": [0.7]}, YES)
    assert notes[1:] == [
        "1 row of 1: probabilities sum to 1.2 - 1.2, not to one; they were divided by their sum"
    ]
    with pytest.raises(DataError, match="no column of items such as 'item' or 'id'"):
        Prediction.from_table({"text": ["t1"], "label": ["yes"]}, YES)


def test_a_rounded_probability_of_0_may_be_half_of_its_last_digit() -> None:
    table = {"id": ["t1", "t2"], "no": ["0.00", "0.25"], "yes": ["1.00", "0.75"], "why": ["", ""]}
    prediction, notes = prediction_from_table(table, YES)
    assert prediction.distribution[0].tolist() == pytest.approx([0.005 / 1.005, 1 / 1.005])
    assert prediction.distribution[1].tolist() == [0.25, 0.75]
    assert notes[0] == "items in 'id'; probabilities in 'no', 'yes'; not used: 'why'"
    assert notes[1].startswith("1 row of 2 with a probability below 0.005")
    certain = {"id": ["t1", "t2"], "no": [0.0, 1.0], "yes": [1.0, 0.0]}  # labels, not rounded
    assert prediction_from_table(certain, YES)[0].distribution.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("p.csv", b"item,answer\nt\xa71,joy\n", "cannot be read ('utf-8' codec can't decode"),
        ("p.csv", b"item,answer\r\nt1,a\rb\r\n", "cannot be read (new-line character"),
        ("p.json", b"[1, 2]", "must be a list of objects, one for each prediction"),
        ("p.json", b"5", "must be a list of objects, one for each prediction"),
        ("p.parquet", b"PAR1", "cannot be read (Parquet file size is 4 bytes"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    name: str, content: bytes, reason: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as refused:
        read_predictions(tmp_path / name, example_corpus(n_items=4))
    assert str(refused.value).startswith(f"{tmp_path / name}: {reason}")
