"""Matrices of whole numbers: items x annotators, -1 for a missing answer."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.scales import Ordinal
from tests.error_texts import error_text
from tests.readers.conftest import Write, refused


def npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    "content, name",
    [
        ("1 -1 2\n-1 0 1\n-1 -1 -1\n", "answers.txt"),
        ("\ufeff1\t-1\t2\r\n\r\n -1  0 1 \r\n-1 -1 nan", "answers.tsv"),
        (npy([[1, -1, 2], [-1, 0, 1], [-1, -1, -1]]), "answers.npy"),
        (npy([[1.0, np.nan, 2], [-1, 0, 1], [-1, -1, -1]]), "labels"),
    ],
)
def test_a_matrix(write: Write, content: str | bytes, name: str) -> None:
    corpus = read(write(content, name))
    answers = corpus["answer"]
    assert list(corpus.items) == list(corpus.annotators) == ["0", "1", "2"]
    assert answers.scale == Ordinal(("0", "1", "2"))
    assert answers.item.tolist() == [0, 0, 1, 1]
    assert answers.annotator_codes("a test").tolist() == [0, 2, 1, 2]
    assert answers.answers() == ["1", "2", "0", "1"]
    assert corpus.left_out == ()
    assert corpus.notes == (
        f"{name}: wide table; item = item, annotators = 0, 1, 2 (ordinal: 0, 1, 2); "
        "4 answers by 3 annotators on 3 items",
        f"{name}: a matrix: a line per item, a column per annotator; -1 = no answer",
    )


@pytest.mark.parametrize(
    "content, format",
    [
        ("0 1 2\n1 1 1\n", "matrix"),
        ("1\t-1\t2\n1\t1\t1\n", "matrix"),
        ("0\t1\t2\n1\t1\t1\n", "csv"),  # may be a header
        ("item 1 2\n1 1 1\n", "csv"),
        ("0,1,2\n1,1,1\n", "csv"),
        ("1\n2\n3\n", "csv"),
        ("0.5 1\n1 1\n", "csv"),
        ("1 -1 " * 3000, "matrix"),
        ("1 -1 " * 3000 + "\n" + "0 -1 " * 3000, "matrix"),
    ],
)
def test_what_is_taken_for_a_matrix(write: Write, content: str, format: str) -> None:
    assert recognise(write(content, "answers.txt")) == format


# ---- bad input ----


def test_an_array_of_objects(write: Write) -> None:
    path = write(npy(np.array([[{}]], object)), "answers.npy")
    message = (
        f"{path}: damaged (Object arrays cannot be loaded when allow_pickle=False); is the file "
        "cut off?"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


@pytest.mark.parametrize("kept", [8, 60, 130, -1])
def test_a_truncated_array(write: Write, kept: int) -> None:
    path = write(npy([[1, -1, 2], [-1, 0, 1]])[:kept], "answers.npy")
    assert re.fullmatch(
        re.escape(f"{path}: damaged (") + r".+\); is the file cut off\?", error_text(read, path)
    )


def test_lines_that_begin_with_a_number_of_their_own_are_no_matrix(write: Write) -> None:
    lines = [f"{n} {7000 - n} {n % 3} {n * n % 5} 0" for n in range(1, 30)]  # ids, counts
    with pytest.raises(DataError, match="no column of answers recognised"):
        read(write("\n".join(lines), "AVA.txt"))
