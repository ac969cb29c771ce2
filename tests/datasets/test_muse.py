"""Sentences of stressed and not stressed speakers, rated by unknown annotators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import muse
from dissensus.datasets.clip_ratings import usable_clips
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import write
from tests.datasets.speech_folders import SENTENCES

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, text: str) -> str:
    """The message for a folder with these ratings, without the file's path."""
    write(folder / muse.SURVEY, muse.RATINGS, text)
    with pytest.raises(DataError) as caught:
        muse.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder / muse.SURVEY / muse.RATINGS}", "FILE")


def test_responses_of_unknown_annotators(sample_folder: SampleFolder) -> None:
    corpus = muse.load(sample_folder("muse"))
    valence = corpus["valence"]
    assert valence.annotator is None and valence.scale == Interval(1, 9)
    assert valence.item.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert valence.answer.tolist() == [6, 7, 5, 5, 5, 1, 1]
    joint = corpus.joint("valence", "activation")
    assert joint.answers["activation"].tolist() == [2, 4, 2, 3, 4, 9, 9]


def test_ratings_with_context_are_another_corpus(sample_folder: SampleFolder) -> None:
    folder = sample_folder("muse")
    corpus = muse.load(folder, "muse-context")
    assert corpus.name == "muse-context"
    assert corpus["valence"].item.tolist() == [0, 2]
    assert corpus["activation"].answer.tolist() == [5, 8]
    others = "other annotators: --corpus muse-context"
    assert muse.load(folder).left_out == (
        LeftOut("valence", others, 2),
        LeftOut("activation", others, 2),
        LeftOut("valence", "the speaker's own rating", 2),
        LeftOut("activation", "the speaker's own rating", 2),
    )


def test_facts_and_contents(sample_folder: SampleFolder) -> None:
    corpus = muse.load(sample_folder("muse"))
    facts = {key: values.to_pylist() for key, values in corpus.item_attributes.items()}
    assert facts["speaker"] == ["01", "01", "08"]
    assert facts["condition"] == ["not stressed", "stressed", "stressed"]
    assert facts["question"] == ["neutral", "neutral", "happy"]
    assert facts["seconds"] == [4.5, 5.0, 2.0]
    assert corpus.units().tolist() == [0, 0, 1]
    assert corpus.contents["text"].values.to_pylist() == ["More tea", "A mug."]  # Whisper first
    assert corpus.contents["speech"].bytes_of(2) == b"RIFF 3"
    assert corpus.notes == ("1 clip without a transcript: '01_DR-100_0098_1_sentence_1'",)


def test_the_long_name_of_the_folder_with_ratings(sample_folder: SampleFolder) -> None:
    folder = sample_folder("muse")
    (folder / muse.SURVEY).rename(folder / muse.LONG_NAME)
    assert muse.recognise(folder)
    assert muse.load(folder).n_items == 3


def test_the_clips_of_the_paper(sample_folder: SampleFolder) -> None:
    usable = usable_clips(muse.load(sample_folder("muse")))
    assert list(usable.items) == ["01_DR-100_0097_1_sentence_1"]
    reasons = [row[1:] for row in usable.left_out if row.question == "valence"][2:]
    assert reasons == [("no text", 3), ("the stored mean is not that of the ratings", 2)]


def test_damaged_ratings_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("muse")
    assert refusal(folder, SENTENCES.replace("2;4,6;7", "2;4,6")) == (
        "FILE: row 1: 'Valence_Annotation' and 'Activation_Annotation' must be two lists of as "
        "many numbers, such as 3;4;2, found '6' and '2;4'"
    )
    assert refusal(folder, SENTENCES.replace(",NS,", ",calm,")) == (
        "FILE: row 1: 'Type' must be S or NS, found 'calm'"
    )
    assert refusal(folder, SENTENCES.replace("9;9,1;1", "9;10,1;1")) == (
        "FILE: row 7: 10 lies outside 1 to 9 (1 such answers); declare other ends or leave the "
        "row out"
    )
    assert refusal(folder, SENTENCES.replace("S_Valence", "Self")).startswith(
        "FILE: no column ['S_Valence']; the file has ["
    )
