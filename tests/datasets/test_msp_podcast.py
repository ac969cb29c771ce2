"""Turns of podcasts with the ratings of a crowd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import msp_podcast
from dissensus.datasets.clip_ratings import usable_clips
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import write
from tests.datasets.speech_folders import PODCAST, PODCAST_RATINGS

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, name: str, text: str) -> str:
    """The message for a folder with this file of labels, without the folder's path."""
    write(folder / "Labels", name, text)
    with pytest.raises(DataError) as caught:
        msp_podcast.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_ratings_by_annotator(sample_folder: SampleFolder) -> None:
    corpus = msp_podcast.load(sample_folder("msp_podcast"))
    assert corpus.items[0] == "MSP-PODCAST_0001_0002"
    assert list(corpus.annotators) == ["WORKER00000009", "WORKER00000010"]
    assert corpus["valence"].scale == Interval(1, 7)
    assert corpus["valence"].item.tolist() == [0, 0, 1, 2, 2, 3, 3]
    assert corpus["valence"].annotator_codes("").tolist() == [1, 0, 0, 0, 1, 0, 1]
    assert corpus["valence"].answer.tolist() == [3, 5, 7, 1, 1, 1, 1]
    assert corpus["activation"].answer.tolist() == [3, 4, 6, 1, 2, 1, 1]
    assert corpus["dominance"].answer.tolist() == [3, 5, 5, 1, 1, 1, 1]
    unread = "only valence, activation and dominance are read"
    assert corpus.left_out == (LeftOut("emotion", unread, 7),)


def test_parts_speakers_and_contents(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_podcast")
    corpus = msp_podcast.load(folder)
    assert corpus.splits["official"].to_pylist() == ["train", "dev", "test1", "test2"]
    assert corpus.item_attributes["speaker"].to_pylist() == ["7", None, "8", "8"]
    assert corpus.item_attributes["podcast"].to_pylist() == ["0001", "0001", "0002", "0002"]
    assert corpus.units().tolist()[2] == corpus.units().tolist()[3]
    assert len(set(corpus.units().tolist())) == 3
    assert corpus.contents["text"].values.to_pylist()[:2] == ["tea 0002", "tea 0010"]
    assert Path(corpus.contents["speech"][0]).parent == (folder / "Audios").resolve()
    assert corpus.notes == ()


def test_clips_without_sound_or_text_are_noted(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_podcast")
    (folder / "Audios" / "MSP-PODCAST_0002_0002.wav").unlink()
    write(folder / "Transcripts", "MSP-PODCAST_0001_0002.txt", " \n")
    corpus = msp_podcast.load(folder)
    assert corpus.notes == (
        "1 clip without a sound file: 'MSP-PODCAST_0002_0002'",
        "1 clip without a transcript: 'MSP-PODCAST_0001_0002'",
    )
    assert corpus.content["speech"].tolist() == [0, 1, 2, -1]


def test_the_clips_of_the_paper(sample_folder: SampleFolder) -> None:
    usable = usable_clips(msp_podcast.load(sample_folder("msp_podcast")))
    assert list(usable.items) == ["MSP-PODCAST_0001_0002", "MSP-PODCAST_0002_0002"]
    assert [row[1:] for row in usable.left_out if row.question == "activation"] == [
        ("fewer than two annotators", 1),
        ("the stored mean is not that of the ratings", 2),
    ]


def test_damaged_labels_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_podcast")
    name = "labels_detailed.csv"
    assert refusal(folder, name, PODCAST_RATINGS.replace("A:6.000000;", "")) == (
        f"Labels/{name}, row 3: expected 'NAME; EMOTION; ...; A:3.0; V:3.0; D:3.0;', found "
        "'WORKER00000009; Happy; Happy;  V:7.000000; D:5.000000;'"
    )
    assert refusal(folder, name, PODCAST_RATINGS.replace("V:7.0", "V:8.0")) == (
        f"Labels/{name}, row 3: ratings are from 1 to 7, found "
        "'WORKER00000009; Happy; Happy; A:6.000000; V:8.000000; D:5.00'"
    )
    assert refusal(folder, name, PODCAST_RATINGS.replace("0001_0010", "0001_0011")).startswith(
        f"Labels/{name}: no clip 'MSP-PODCAST_0001_0011'; there are 4: "
    )
    assert refusal(folder, name, "FileName,Worker\na,b\n") == (
        f"Labels/{name}: no column ['EmoDetail']; the file has ['FileName', 'Worker']"
    )
    write(folder / "Labels", name, PODCAST_RATINGS)
    name = "labels_consensus.csv"
    assert refusal(folder, name, PODCAST.replace("Test2", "Test9")) == (
        f"Labels/{name}: no part 'Test9' is known; there are 'Train', 'Development', "
        "'Validation', 'Test1', 'Test2', 'Test3'"
    )
    assert refusal(folder, name, PODCAST.replace("0001_0010", "0001_0002")) == (
        f"Labels/{name}: names occur twice: 'MSP-PODCAST_0001_0002'"
    )
