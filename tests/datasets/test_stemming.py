"""Votes on pairs of strings: two roles, gold, words that stay together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import stemming
from dissensus.errors import DataError
from tests.datasets.folders import STEMS, write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, content: str) -> str:
    """The message for a table of votes, without the path of its folder."""
    write(folder, "stemming_votes.csv", content)
    with pytest.raises(DataError) as caught:
        stemming.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_votes_are_counts_and_a_tie_is_no_answer(sample_folder: SampleFolder) -> None:
    corpus = stemming.load(sample_folder("stemming"))
    answers = corpus["is the stem"]
    assert answers.annotator is None and corpus.n_annotators == 0
    assert answers.counts().tolist() == [[0, 4], [2, 2], [2, 2], [3, 0]]  # mv is 1, 2, 2, 0
    assert (answers.n_rows, answers.n_answers) == (6, 15)
    assert answers.scale.to_dict()["values"] == ["0", "1"]
    assert corpus.gold["is the stem"].answers() == ["1", "1", "0", "0"]


def test_word_and_stem_are_roles(sample_folder: SampleFolder) -> None:
    corpus = stemming.load(sample_folder("stemming"))
    assert [corpus.text_of(item) for item in range(4)] == [
        "teas | tea",
        "NA | NA",
        "NA |  ",
        "mugs | DELETED",
    ]
    assert corpus.contents["word"].values.to_pylist() == ["teas", "NA", "mugs"]


def test_the_pairs_of_a_word_stay_together(sample_folder: SampleFolder) -> None:
    corpus = stemming.load(sample_folder("stemming"))
    assert corpus.group == "word"
    assert corpus.units().tolist() == [0, 1, 1, 2]
    assert corpus.parts() == ["train", "dev", "test"]
    assert corpus.splits["fold10"].to_pylist() == ["4", "6", "1", "2"]
    assert corpus.splits["fold20"].to_pylist() == ["14", "16", "11", "2"]
    assert corpus.item_attributes["freq"].to_pylist() == [1, 2, 2, 1]


def test_what_freq_gives_away_is_said(sample_folder: SampleFolder) -> None:
    assert stemming.load(sample_folder("stemming")).notes == (
        "freq, the number of a word's pairs, gives gold away (exactly one pair of each word is "
        "right): never learn from it, and keep a word's pairs on one side of a split",
        "fold10 and fold20 cut through words; the official split does not",
    )


def test_wrong_tables_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("stemming")
    name = "stemming_votes.csv"
    assert refusal(folder, STEMS.replace("vote1", "votes")) == (
        f"{name}: no column ['vote1']; the file has ['item_id', 'word', 'stem', 'wost', 'fold10', "
        "'fold20', 'freq', 'set', 'gold', 'mv', 'votes', 'vote0', 'soft1', 'soft0', 'prob1', "
        "'prob0']"
    )
    assert refusal(folder, STEMS.replace("2,2,0.5", "-2,2,0.5")) == (
        f"{name}: row 2: the number of votes must be 0 or more, found -2"
    )
    assert refusal(folder, STEMS.replace("hard-tst", "tst")) == (
        f"{name}: row 4: 'set' must be one of trn, dev, hard-tst, found 'tst'"
    )
    assert refusal(folder, STEMS.replace("trn,1", "trn,2")) == (
        f"{name}: row 1: no value '2' on the nominal scale of '0', '1'"
    )
    assert refusal(folder, STEMS.replace("3,mugs", "0,mugs")) == f"{name}: names occur twice: '0'"
    assert refusal(folder, STEMS.replace("4,0,0.982", "four,0,0.982")) == (
        f"{name}: damaged (In CSV column #10: CSV conversion error to int32: invalid value 'four')"
    )
    assert refusal(folder, STEMS.replace("4,0,0.982", ",0,0.982")) == (
        f"{name}, row 1: 'vote1' is empty"
    )
    assert refusal(folder, STEMS[:180]) == (
        f"{name}: damaged (CSV parse error: Expected 16 columns, got 12: "
        "1,NA,NA,NA NA,6,16,2,dev,1,2,2,)"
    )


@pytest.mark.data
def test_the_real_votes(data_folder: Path) -> None:
    corpus = stemming.load(data_folder / "stemming")
    counts = corpus["is the stem"].counts()
    gold = corpus.gold["is the stem"].answer
    tied = counts[:, 0] == counts[:, 1]
    right = counts.argmax(axis=1) == gold
    assert tied.sum() == 526
    assert right[~tied].mean() == pytest.approx(0.9165, abs=5e-5)
    assert counts[np.arange(len(gold)), gold].sum() / counts.sum() == pytest.approx(0.819, abs=5e-4)
    assert gold.mean() == pytest.approx(0.749, abs=5e-4)
    assert {part: corpus.part(part).n_items for part in corpus.parts()} == {
        "train": 5478,
        "dev": 600,
        "test": 601,
    }
    units = corpus.units()
    assert len(np.unique(units)) == 5000
    assert np.bincount(units, gold).tolist() == [1] * 5000
    size = np.bincount(units)[units]
    np.testing.assert_array_equal(size, corpus.item_attributes["freq"].to_numpy())
    for part in corpus.parts():  # the official split cuts no word
        inside = corpus.in_part(part)
        assert not set(units[inside]) & set(units[~inside])
