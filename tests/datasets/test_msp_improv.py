"""Turns of actors with the ratings of a crowd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import msp_improv
from dissensus.datasets.clip_ratings import AVERAGED, usable_clips
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import write
from tests.datasets.speech_folders import IMPROV

SampleFolder = Callable[[str], Path]
UNREAD = "only valence, activation and dominance are read"


def refusal(folder: Path, text: str) -> str:
    """The message for these ratings, without the folder's path."""
    write(folder, "Evaluation.txt", text)
    with pytest.raises(DataError) as caught:
        msp_improv.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_activation_is_flipped_and_repeats_are_averaged(sample_folder: SampleFolder) -> None:
    corpus = msp_improv.load(sample_folder("msp_improv"))
    assert list(corpus.annotators) == ["W7", "W8", "W9", "W10"]
    valence, activation = corpus["valence"], corpus["activation"]
    assert valence.scale == activation.scale == Interval(1, 5)
    assert valence.item.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert valence.annotator_codes("").tolist() == [3, 0, 0, 1, 0, 1, 2]
    assert valence.answer.tolist() == [2, 2.5, 3, 4, 5, 4, 5]
    assert activation.answer.tolist() == [5, 3.5, 2, 3, 5, 5, 5]
    assert corpus["dominance"].answer.tolist() == [3, 2]
    assert len(corpus.joint("valence", "dominance").item) == 2


def test_what_is_not_read_is_counted(sample_folder: SampleFolder) -> None:
    corpus = msp_improv.load(sample_folder("msp_improv"))
    assert corpus.left_out == (
        LeftOut("valence", AVERAGED, 1),
        LeftOut("activation", AVERAGED, 1),
        LeftOut("naturalness", UNREAD, 3),
        LeftOut("emotion", UNREAD, 8),
    )


def test_what_names_of_clips_say(sample_folder: SampleFolder) -> None:
    corpus = msp_improv.load(sample_folder("msp_improv"))
    facts = {key: values.to_pylist() for key, values in corpus.item_attributes.items()}
    assert facts["speaker"] == ["F01", "M01", "F04", "F04"]
    assert facts["session"] == ["1", "1", "4", "4"]
    assert facts["scenario"] == ["P", "P", "T", "T"]
    assert facts["intended_emotion"] == ["A", "A", "H", "H"]
    assert facts["emotion"] == ["A", "N", "H", "H"]
    assert corpus.group == "speaker"
    assert corpus.splits["paper"].to_pylist() == ["train", "validation", "test", "test"]
    assert corpus.part("validation", "paper").n_items == 1


def test_speech_is_a_path_and_text_may_be_missing(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_improv")
    corpus = msp_improv.load(folder)
    speech = corpus.contents["speech"]
    first = folder / "session1" / "S01A" / "P" / "MSP-IMPROV-S01A-F01-P-FM01.wav"
    assert (speech.kind, speech[0]) == ("audio", str(first.resolve()))
    assert speech.bytes_of(3) == b"RIFF 4"
    assert corpus.content["text"].tolist() == [0, -1, 1, 1]
    assert corpus.contents["text"].values.to_pylist() == ["More tea?", "A mug!"]
    assert corpus.notes == (
        "activation is 6 minus the number in the file",
        "1 clip without a transcript: 'MSP-IMPROV-S01A-M01-P-MF02'",
    )


def test_a_copy_with_sound_in_a_folder_of_its_own_and_without_transcripts(
    sample_folder: SampleFolder,
) -> None:
    folder = sample_folder("msp_improv")
    (folder / "Audio").mkdir()
    for session in ("session1", "session4"):
        (folder / session).rename(folder / "Audio" / session)
    (folder / "Evaluation.txt").rename(folder / "Evalution.txt")
    (folder / "Text").rename(folder / "elsewhere")
    assert msp_improv.recognise(folder)
    corpus = msp_improv.load(folder)
    assert list(corpus.contents) == ["speech"] and len(corpus.contents["speech"]) == 4


def test_the_clips_of_the_paper(sample_folder: SampleFolder) -> None:
    corpus = msp_improv.load(sample_folder("msp_improv"))
    agree = corpus.item_attributes["means_agree"].to_pylist()
    assert agree == [None, True, False, True]  # averaged, right, wrong, right
    usable = usable_clips(corpus)
    assert list(usable.items) == ["MSP-IMPROV-S01A-F01-P-FM01"]
    assert list(usable.questions) == ["valence", "activation"]
    wrong = "the stored mean is not that of the ratings"
    for question in usable.questions:
        left_out = [row[1:] for row in usable.left_out if row.question == question]
        assert left_out == [
            (AVERAGED, 1),
            ("no text", 2),
            ("fewer than two annotators", 1),
            (wrong, 2),
        ]


def test_damaged_ratings_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_improv")
    assert refusal(folder, IMPROV.replace("A:4.000000", "A:four")) == (
        "Evaluation.txt, line 7: expected 'NAME; EMOTION; ...; A:3.0; V:3.0; D:3.0;', found "
        "'W7; Neutral; Neutral; A:four; V:3.000000; D:NaN; N:NaN;'"
    )
    assert refusal(folder, IMPROV.replace("V:2.000000", "V:9.000000")) == (
        "Evaluation.txt, line 2: ratings are from 1 to 5, found "
        "'W10; Angry; Angry,Frustrated; A:1.000000; V:9.000000; D:3.00'"
    )
    assert refusal(folder, "W7" + IMPROV.removeprefix("UTD-IMPROV-S01A")) == (
        "Evaluation.txt, line 1: expected a line that begins with UTD-IMPROV-"
    )
    assert refusal(folder, IMPROV + IMPROV) == (
        "Evaluation.txt, line 16: clip 'MSP-IMPROV-S01A-F01-P-FM01' is there for the second time"
    )
    assert refusal(folder, IMPROV.replace("S02H-F04-T-FF01", "S02H")) == (
        "Evaluation.txt: 'MSP-IMPROV-S02H' is no name of a clip, such as "
        "'MSP-IMPROV-S01A-F01-P-FM01'"
    )
    assert refusal(folder, "") == "Evaluation.txt: no ratings"


def test_a_folder_without_sound_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_improv")
    for path in list(folder.rglob("*.wav")):
        path.unlink()
    assert refusal(folder, IMPROV) == (
        f"{folder}: no sound file of any clip is here, such as MSP-IMPROV-S01A-F01-P-FM01.wav"
    )
