"""Surveys with a row per participant."""

from __future__ import annotations

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
