"""Real long tables, as their authors published them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.scales import Interval, Nominal


@pytest.mark.data
def test_snow_2008(data_folder: Path) -> None:
    # Snow et al. (2008), Cheap and fast - but is it good?, section 4: 10 answers per item
    rte = read(data_folder / "snow2008" / "rte.csv")
    assert (rte["response"].n_rows, rte.n_items, rte.n_annotators) == (8000, 800, 164)
    assert rte["response"].scale == Nominal(("0", "1"))
    assert rte.gold["response"].n_rows == 800
    valence = read(data_folder / "snow2008" / "valence.csv")
    assert valence["response"].scale == Interval(-100, 100)
    assert (valence["response"].n_rows, valence.n_items, valence.n_annotators) == (1000, 100, 38)


@pytest.mark.data
def test_bluebirds(data_folder: Path) -> None:
    # Welinder et al. (2010): 39 annotators looked at all of 108 pictures
    birds = read(data_folder / "bluebirds_ducks" / "bluebirds.csv")
    assert birds["label"].counts().sum(axis=1).tolist() == [39] * 108


@pytest.mark.data
def test_wide_tables(data_folder: Path) -> None:
    # Plank et al. (2014): two annotators and every word of 500 tweets
    words = read(data_folder / "pos_tweets" / "plank2014_500tweets_2annotators.csv")
    assert list(words.annotators) == ["ann1", "ann2"]
    assert (words.n_items, words["answer"].n_rows) == (7876, 15751)  # one cell is blank
    # Handelman (1986): five dentists; a row stands for n radiographs
    caries = read(data_folder / "dawid_skene_classics" / "caries.csv")
    assert list(caries.annotators) == [f"rater_{number}" for number in range(1, 6)]
    assert "'n' is called like a count, but is an attribute of the item" in caries.notes[1]


@pytest.mark.data
def test_tables_of_several_ratings_are_not_wide(data_folder: Path) -> None:
    for name in ("individual_reader_ratings.csv", "emobank.csv"):
        with pytest.raises(DataError, match="no column of answers recognised"):
            read(data_folder / "emobank" / name)


@pytest.mark.data
def test_a_gzipped_table(data_folder: Path) -> None:
    faces = read(data_folder / "faces_3dsk" / "ratings.csv.gz", item="face_id", repeats="keep")
    assert faces.notes[0].startswith("ratings.csv.gz: long table; item = face_id, annotator = ")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "answers", "items", "values"),
    [  # Cao et al. (2014), Barsoum et al. (2016), Carpenter et al. (2009)
        ("crema_d_votes/tabulatedVotes.csv.gz", 212_000, 22_326, "ADFHNS"),
        ("ferplus_votes/fer2013new.csv.gz", 358_869, 35_887, None),
        ("stemming/stemming_votes.csv", 26_692, 6_679, "01"),
    ],
)
def test_vote_tables(data_folder: Path, name: str, answers: int, items: int, values: str) -> None:
    corpus = read(data_folder / name)
    assert (corpus["answer"].n_answers, corpus.n_items, corpus.n_annotators) == (answers, items, 0)
    assert isinstance(corpus["answer"].scale, Nominal)
    if values:
        assert "".join(corpus["answer"].scale.values) == values
