"""Ratings of music over time, as a mean for each piece."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import vgmidi
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import NOTES, PIECES, RATED_PIECES, write

SampleFolder = Callable[[str], Path]


def test_an_answer_is_the_mean_over_the_measures(sample_folder: SampleFolder) -> None:
    corpus = vgmidi.load(sample_folder("vgmidi"))
    assert list(corpus.items) == ["1_piece9", "1_piece10"]
    assert list(corpus.annotators) == ["1_a", "1_b"]
    valence = corpus["valence"]
    assert valence.scale == Interval(-1, 1)
    assert valence.item.tolist() == [1, 0, 0]
    np.testing.assert_allclose(valence.answer, [-0.1, -0.375, 0.375])
    assert corpus["arousal"].answer.tolist() == [1, 0.5, -0.5]
    assert len(corpus.joint("valence", "arousal").item) == 3
    assert valence.extra["is_known"].to_pylist() == [False, True, False]


def test_a_copy_is_left_out_and_counted(sample_folder: SampleFolder) -> None:
    corpus = vgmidi.load(sample_folder("vgmidi"))
    reason = "a second copy of the same annotation"
    assert corpus.left_out == (LeftOut("valence", reason, 1), LeftOut("arousal", reason, 1))


def test_another_answer_of_the_same_annotator_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("vgmidi")
    changed = RATED_PIECES.removesuffix('"[-1, 0]"\n') + '"[0, 0]"\n'
    write(folder, "annotations.csv.gz", changed)
    with pytest.raises(DataError, match=r"annotator '1_b' answered item '1_piece9' 2 times"):
        vgmidi.load(folder)


def test_notes_are_vectors_by_their_place_in_the_piece(sample_folder: SampleFolder) -> None:
    corpus = vgmidi.load(sample_folder("vgmidi"))
    assert corpus.contents["notes"][0] == [[0, 1, 60, 100, 1], [0.75, 1, 72, 90, 2]]
    assert corpus.content["notes"].tolist() == [0, -1]
    assert corpus.notes[1] == "1 piece without notes: '1_piece10'"
    assert corpus.item_attributes["name"].to_pylist() == ["Tea", None]
    assert corpus.item_attributes["seconds"].to_pylist() == [10.0, None]


def test_facts_about_annotators(sample_folder: SampleFolder) -> None:
    corpus = vgmidi.load(sample_folder("vgmidi"))
    assert corpus.annotator_attributes["gender"].to_pylist() == ["Male", "Female"]
    assert corpus.annotator_attributes["musicianship"].to_pylist() == ["1", "5"]


@pytest.mark.parametrize("wrong", ["[0, 2]", "[0]", "tea", "[[0, 0]]", "[0, null]"])
def test_a_list_that_does_not_fit_is_refused(wrong: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder("vgmidi")
    write(folder, "annotations.csv.gz", RATED_PIECES.replace("[0, 1]", wrong))
    with pytest.raises(DataError) as caught:
        vgmidi.load(folder)
    assert str(caught.value) == (
        f"{folder / 'annotations.csv.gz'}: row 2: 'arousal' must be a list of 2 numbers from -1 "
        f"to 1, found {wrong!r}"
    )


def test_notes_and_pieces_that_nobody_rated_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("vgmidi")
    write(folder, "notes.csv.gz", NOTES.replace("1_piece9,2", "2_piece1,2"))
    with pytest.raises(DataError, match=r"notes.csv.gz: no piece '2_piece1'"):
        vgmidi.load(folder)
    write(folder, "notes.csv.gz", NOTES)
    write(folder, "pieces.csv", PIECES.replace("1_piece9", "2_piece1"))
    with pytest.raises(DataError, match=r"pieces.csv: no piece '2_piece1'"):
        vgmidi.load(folder)


@pytest.mark.data
def test_the_real_ratings(data_folder: Path) -> None:
    corpus = vgmidi.load(data_folder / "vgmidi")
    for question, correlation in (("valence", 0.521), ("arousal", 0.569)):  # says the card
        answers = corpus[question]
        total = np.bincount(answers.item, answers.answer)
        others = (total[answers.item] - answers.answer) / (answers.per_item()[answers.item] - 1)
        assert np.corrcoef(answers.answer, others)[0, 1] == pytest.approx(correlation, abs=5e-4)
    assert (corpus.content["notes"] < 0).sum() == 4
    lengths = [len(corpus.contents["notes"][code]) for code in range(200)]
    assert (min(lengths), max(lengths), sum(lengths)) == (45, 4783, 151_633)
    places = np.concatenate([np.array(corpus.contents["notes"][c])[:, 0] for c in range(200)])
    assert places.min() >= 0 and places.max() <= 1
