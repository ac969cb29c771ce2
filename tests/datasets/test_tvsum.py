"""Importance of moments: annotators of one video each, pictures of some frames."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import LeftOut
from dissensus.datasets import tvsum
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.media_folders import FRAMES
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def test_key_frames_have_pictures_and_annotators_one_video_each(
    sample_folder: SampleFolder,
) -> None:
    corpus = tvsum.load(sample_folder("tvsum"))
    assert list(corpus.items) == ["-aB-15", "-aB-90"]
    assert list(corpus.annotators) == ["-aB-0", "-aB-1"]
    answers = corpus["importance"]
    assert answers.scale == Interval(1, 5) and answers.answer.tolist() == [4, 1, 5, 2]
    assert [corpus.contents["image"][code] for code in corpus.content["image"]] == [
        b"picture 1", b"picture 2",
    ]  # fmt: skip
    assert corpus.item_attributes["frame"].to_pylist() == [15, 90]
    assert corpus.item_attributes["title"].to_pylist() == ["How to, in short"] * 2
    assert corpus.group == "video"
    assert corpus.left_out == (
        LeftOut("importance, shots", "shots have no picture; read them as tvsum-shots", 6),
    )


def test_shots_have_the_title_of_their_video(sample_folder: SampleFolder) -> None:
    corpus = tvsum.load(sample_folder("tvsum"), "tvsum-shots")
    assert list(corpus.items) == ["-aB-0", "-aB-1", "zz9-0"]
    assert list(corpus.annotators) == ["-aB-0", "-aB-1", "zz9-0", "zz9-1"]
    assert corpus.annotator_attributes["video"].to_pylist() == ["-aB", "-aB", "zz9", "zz9"]
    assert corpus["importance"].per_item().tolist() == [2, 2, 2]
    shown = [corpus.contents["title"][code] for code in corpus.content["title"]]
    assert shown == ["How to, in short", "How to, in short", "A garden"]
    assert corpus.units().tolist() == [0, 0, 1] and corpus.left_out == ()


def test_what_is_wrong_is_named(sample_folder: SampleFolder) -> None:
    folder = sample_folder("tvsum")
    write(folder, "keyframe_scores.csv", FRAMES.replace("-aB,90,1,2", "-aB,91,1,2"))
    with pytest.raises(DataError) as caught:
        tvsum.load(folder)
    assert str(caught.value) == (
        f"{folder}/keyframes/-aB_00091.jpg: missing; the corpus cannot be read without it"
    )
    write(folder, "keyframe_scores.csv", FRAMES.replace("-aB", "new"))
    with pytest.raises(DataError) as caught:
        tvsum.load(folder)
    assert str(caught.value) == (
        f"{folder}/keyframe_scores.csv: no video 'new'; there are 2: '-aB', 'zz9'"
    )


@pytest.mark.data
def test_the_published_consistency_of_annotators(data_folder: Path) -> None:
    """Cronbach's alpha of the annotators of a video, mean over the videos: .81."""
    corpus = tvsum.load(data_folder / "tvsum", "tvsum-shots")
    answers = corpus["importance"]
    alphas = []
    videos = np.array(corpus.item_attributes["video"].to_pylist())
    for video in np.unique(videos):
        inside = videos[answers.item] == video
        table = answers.answer[inside].reshape(-1, 20)  # sorted by shot, then slot
        spread = table.var(axis=0, ddof=1).sum() / table.sum(axis=1).var(ddof=1)
        alphas.append(20 / 19 * (1 - spread))
    assert len(alphas) == 50 and np.mean(alphas) == pytest.approx(0.81, abs=0.005)
    frames = tvsum.load(data_folder / "tvsum")
    assert len(frames.contents["image"]) == 329 and frames.n_annotators == 400
