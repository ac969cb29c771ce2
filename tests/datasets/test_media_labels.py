"""STREET and AMER: a folder of media and a long table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.datasets import amer, street
from dissensus.errors import DataError
from dissensus.scales import Nominal, Ordinal
from tests.datasets.media_folders import AMER, STREET
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def test_street_has_a_question_for_each_perspective(sample_folder: SampleFolder) -> None:
    folder = sample_folder("street")
    corpus = street.load(folder)
    assert list(corpus.questions) == list(street.PERSPECTIVES)
    assert list(corpus.items) == ["b.jpg", "a.jpg"] and list(corpus.annotators) == ["A2", "A10"]
    happiness = corpus["happiness"]
    assert happiness.scale == Ordinal(("-3", "-2", "-1", "1", "2", "3"))
    assert happiness.answers() == ["-3", "2", "1"] and corpus["safety"].answers() == ["-1"]
    assert corpus["orderliness"].n_rows == 0  # not labelled: no row
    path = corpus.contents["image"][corpus.content["image"][1]]
    assert path == str(folder.resolve() / "images" / "a.jpg")
    assert corpus.contents["image"].bytes_of(0) == b"picture b"


def test_amer_has_eight_emotions_and_missing_labels(sample_folder: SampleFolder) -> None:
    corpus = amer.load(sample_folder("amer"))
    answers = corpus["emotion"]
    assert isinstance(answers.scale, Nominal) and answers.scale.values == amer.EMOTIONS
    assert answers.answers() == ["happy", "worried", "unknown"]
    assert list(corpus.annotators) == ["A1", "A11"] and answers.per_annotator().tolist() == [1, 2]
    assert corpus.contents["video"].kind == "video"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "street",
            STREET.replace("safety", "beauty"),
            "street_labels.csv: perspective 'beauty' is none of 'happiness', 'healthiness', "
            "'safety', 'liveliness', 'orderliness'",
        ),
        ("street", STREET.replace(",2\n", ",0\n"), "street_labels.csv: "),
        (
            "amer",
            AMER.replace("y.mp4", "z.mp4"),
            "videos/z.mp4: missing; the corpus cannot be read without it",
        ),
        ("amer", AMER.replace("label", "emotion"), "amer_labels.csv: no column ['label']"),
    ],
)
def test_what_is_wrong_is_named(
    name: str, text: str, message: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    write(folder, f"{name}_labels.csv", text)
    with pytest.raises(DataError) as caught:
        {"street": street, "amer": amer}[name].load(folder)
    assert str(caught.value).startswith(f"{folder}/{message}") and "\n" not in str(caught.value)
