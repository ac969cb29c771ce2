"""Surveys with a row per participant."""

from __future__ import annotations

import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from tests.readers.conftest import Write, rows_of


def test_names_that_are_repeated(write: Write) -> None:
    form = "Timestamp,Your email,Age,How rude?,How odd?,How rude?,How odd?\n"
    corpus = read(write(f"{form}1/2,a@x,30,1,2,3,4\n1/3,b@x,40,2,2,,1\n"))
    assert sorted(rows_of(corpus, "How rude?")) == [
        ("1", "a@x", "1"),
        ("1", "b@x", "2"),
        ("2", "a@x", "3"),
    ]
    assert corpus["How odd?"].n_rows == 4
    assert corpus.annotator_attributes["Age"].to_pylist() == [30, 40]


def test_a_grid_of_google_forms(write: Write) -> None:
    corpus = read(write("Timestamp,Rate [cat.jpg],Rate [dog.jpg]\n1/2,1,2\n1/3,2,2\n"))
    assert sorted(rows_of(corpus, "Rate"))[:2] == [
        ("cat.jpg", "participant 1", "1"), ("cat.jpg", "participant 2", "2"),
    ]  # fmt: skip


def test_other_questions_are_repeated_too(write: Write) -> None:
    path = write("Timestamp,Age,rude,why,rude,why\n1/2,30,1,x,2,y\n1/3,40,2,,2,z\n")
    corpus = read(path, answer="rude")
    assert corpus["rude"].n_rows == 4 and list(corpus.questions) == ["rude"]
    assert corpus.annotator_attributes["Age"].to_pylist() == [30, 40]


QUALTRICS = (
    "StartDate,Status,RecordedDate,ResponseId,PROLIFIC_PID,{}\n"
    "Start Date,Response Type,Recorded,Response ID,PID,{}\n"
    '"{{""ImportId"":""startDate""}}","{{""ImportId"":""status""}}",x,x,x,x,x\n'
    "1/1,Survey Preview,1/1,R0,p0,1,1\n1/1,IP Address,1/1,R1,p1,4,5\n1/1,IP Address,1/1,R2,p2,3,\n"
)


def test_qualtrics(write: Write) -> None:
    loop = read(write(QUALTRICS.format("1_Q3,2_Q3", "How rude?,How rude?")))
    assert sorted(rows_of(loop, "Q3")) == [("1", "p1", "4"), ("1", "p2", "3"), ("2", "p1", "5")]
    assert any("1 preview left out" in note for note in loop.notes)
    matrix = read(write(QUALTRICS.format("Q3_1,Q3_2", "Rate - a cat,Rate - a dog")))
    assert rows_of(matrix, "Q3")[0] == ("a cat", "p1", "4")


def test_a_survey_without_items(write: Write) -> None:
    path = write(QUALTRICS.format("age,gender", "Age,Gender"))
    with pytest.raises(DataError, match="a survey without a question that is asked for several"):
        read(path)
