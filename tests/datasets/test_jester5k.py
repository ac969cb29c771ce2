"""Ratings of jokes: few items, many annotators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import jester5k
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import RATINGS, write

SampleFolder = Callable[[str], Path]


def test_jokes_are_items_and_ratings_answers(sample_folder: SampleFolder) -> None:
    corpus = jester5k.load(sample_folder("jester5k"))
    assert corpus.contents["text"].values.to_pylist() == ["Knock, knock.\nWho?", "A duck walks in."]
    assert list(corpus.annotators) == ["9", "10"]
    answers = corpus["rating"]
    assert answers.scale == Interval(-10, 10)
    assert answers.item.tolist() == [1, 0, 0]
    assert answers.annotator_codes("").tolist() == [1, 1, 0]
    assert answers.answer.tolist() == [-9.95, 2.04, 10]
    assert corpus.left_out == ()


def test_a_rating_beyond_the_ends_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("jester5k")
    write(folder, "ratings.csv.gz", RATINGS + "1,9,99\n")
    with pytest.raises(DataError) as caught:
        jester5k.load(folder)
    assert str(caught.value) == (
        f"{folder / 'ratings.csv.gz'}: row 4: 99 lies outside -10 to 10 (1 such answers); "
        "declare other ends or leave the row out"
    )


def test_a_truncated_file_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("jester5k")
    path = folder / "ratings.csv.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError) as caught:
        jester5k.load(folder)
    assert str(caught.value).startswith(f"{path}: damaged gzip (")
    assert "\n" not in str(caught.value)


def test_a_table_without_rows_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("jester5k")
    write(folder, "ratings.csv.gz", RATINGS.splitlines()[0] + "\n")
    with pytest.raises(DataError, match=r"ratings.csv.gz: no rows$"):
        jester5k.load(folder)


def test_a_joke_that_stands_twice_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("jester5k")
    write(folder, "jokes.csv", "item_id,text\n0,a\n0,b\n")
    with pytest.raises(DataError, match=r"jokes.csv: names occur twice: '0'$"):
        jester5k.load(folder)


@pytest.mark.data
def test_the_real_ratings(data_folder: Path) -> None:
    corpus = jester5k.load(data_folder / "jester5k")
    answers = corpus["rating"]
    assert np.flatnonzero(answers.per_item() == 5000).tolist() == [4, 7, 14, 16, 17, 18]
    assert answers.per_item()[70] == 1732
    assert (answers.per_annotator() == 100).sum() == 1473
    assert answers.per_annotator().min() == 36
    assert (answers.answer.min(), answers.answer.max()) == (-9.95, 9.90)
