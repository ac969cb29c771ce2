"""Turns of dialogs with the ratings of a few annotators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import iemocap
from dissensus.datasets.clip_ratings import usable_clips
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import write
from tests.datasets.speech_folders import DIALOG

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, text: str) -> str:
    """The message for a first dialog with these ratings, without the folder's path."""
    write(folder / "Session1" / "dialog" / "EmoEvaluation", "Ses01F_impro01.txt", text)
    with pytest.raises(DataError) as caught:
        iemocap.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/Session1/dialog/EmoEvaluation/", "")


def test_ratings_by_annotator(sample_folder: SampleFolder) -> None:
    corpus = iemocap.load(sample_folder("iemocap")).select(items=np.arange(2))
    assert list(corpus.items) == ["Ses01F_impro01_F000", "Ses01F_impro01_M001"]
    assert list(corpus.annotators) == ["E3", "E4"]
    assert corpus["valence"].scale == Interval(1, 5)
    assert corpus["valence"].item.tolist() == [0, 0, 1]
    assert corpus["valence"].answer.tolist() == [3, 2, 4]
    assert corpus["activation"].answer.tolist() == [2, 3, 3, 3]
    assert corpus["dominance"].answer.tolist() == [2, 3, 2]


def test_what_is_not_read_is_counted(sample_folder: SampleFolder) -> None:
    corpus = iemocap.load(sample_folder("iemocap"))
    assert set(corpus.left_out) == {
        LeftOut("valence", "the actor's own rating", 5),
        LeftOut("activation", "the actor's own rating", 5),
        LeftOut("valence", "not a number from 1 to 5", 5),
        LeftOut("emotion", "only valence, activation and dominance are read", 15),
    }


def test_facts_and_contents(sample_folder: SampleFolder) -> None:
    folder = sample_folder("iemocap")
    corpus = iemocap.load(folder)
    facts = {key: values.to_pylist()[:2] for key, values in corpus.item_attributes.items()}
    assert facts["speaker"] == ["01F", "01M"]
    assert facts["dialog"] == ["Ses01F_impro01"] * 2
    assert facts["emotion"] == ["neu", "xxx"]
    assert facts["seconds"] == [2.0, pytest.approx(1.3825)]
    assert len(set(corpus.units().tolist())) == 10
    assert corpus.contents["text"].values.to_pylist() == ["More tea?", "No."]
    assert corpus.contents["speech"].bytes_of(1) == b"RIFF M001"
    assert corpus.notes == ()


def test_the_clips_of_the_paper(sample_folder: SampleFolder) -> None:
    corpus = iemocap.load(sample_folder("iemocap"))
    assert corpus.item_attributes["means_agree"].to_pylist()[:2] == [True, True]
    usable = usable_clips(corpus)
    assert [name[-4:] for name in usable.items] == ["F000"] * 5
    assert LeftOut("activation", "fewer than two annotators", 10) in usable.left_out


def test_damaged_ratings_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("iemocap")
    name = "Ses01F_impro01.txt"
    assert refusal(folder, DIALOG.replace("[2.5000, 2.5000, 2.5000]", "[2.5000, 2.5000]")) == (
        f"{name}, line 3: expected '[START - END] Ses01F_impro01_F000 EMOTION [V, A, D]', found "
        "'[6.2500 - 8.2500]\\tSes01F_impro01_F000\\tneu\\t[2.5000, 2.5000]'"
    )
    assert refusal(folder, DIALOG.replace("A-E3:\tval 3", "A-E3:\tvalence 3; val 3")) == (
        f"{name}, line 6: expected 'A-E1: val 3; act 2; dom 2;', found "
        "'A-E3:\\tvalence 3; val 3; act 2; dom  2;\\t()'"
    )
    assert refusal(folder, DIALOG.replace("[6.2500", "6.2500")) == (
        f"{name}, line 4: a rating without a turn before it"
    )
    assert refusal(folder, DIALOG + DIALOG) == (
        f"{name}, line 17: turn 'Ses01F_impro01_F000' is there for the second time"
    )


def test_a_folder_inside_a_session_is_named(sample_folder: SampleFolder) -> None:
    folder = sample_folder("iemocap")
    sounds = folder / "Session5" / "sentences" / "wav"
    sounds.rename(folder / "elsewhere")
    with pytest.raises(DataError) as caught:
        iemocap.load(folder)
    assert str(caught.value) == f"{sounds}: missing; the corpus cannot be read without it"
