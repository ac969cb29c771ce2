"""Faces: pictures, five traits, and annotators who rated one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import faces_3dsk
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.crowd_folders import FACE_RATINGS, FACES
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, name: str, text: str) -> str:
    write(folder, name, text)
    with pytest.raises(DataError) as caught:
        faces_3dsk.load(folder)
    return str(caught.value)


def test_a_trait_is_a_question(sample_folder: SampleFolder) -> None:
    corpus = faces_3dsk.load(sample_folder("faces_3dsk"))
    assert list(corpus.questions) == ["att", "dom", "health", "sexdim", "trust"]
    assert list(corpus.items) == ["zoe", "abel", "ada"]
    assert corpus["att"].scale == Interval(1, 7)
    assert corpus["att"].item.tolist() == [0, 2] and corpus["att"].answer.tolist() == [1, 7]
    assert corpus["trust"].answer.tolist() == [5]
    assert corpus.joint("att", "dom").item.tolist() == []  # nobody rated two traits


def test_people_and_faces_have_facts(sample_folder: SampleFolder) -> None:
    corpus = faces_3dsk.load(sample_folder("faces_3dsk"))
    assert list(corpus.annotators) == ["R0001", "R0002", "R0003", "R0004", "R0005"]
    people = {key: values.to_pylist() for key, values in corpus.annotator_attributes.items()}
    assert people == {
        "gender": ["female", "male", "female", "male", "male"],
        "age": [18.0, 36.4, 40.8, 21.5, 22.0],
    }
    assert corpus.item_attributes["gender"].to_pylist() == ["female", "male", "female"]
    assert corpus.item_attributes["age"].to_pylist() == [20, 33, 30]


def test_contents_are_the_bytes_of_pictures(sample_folder: SampleFolder) -> None:
    corpus = faces_3dsk.load(sample_folder("faces_3dsk"))
    image = corpus.contents["image"]
    assert image.kind == "image"
    results = [image.bytes_of(code) for code in corpus.content["image"]]
    assert results == [b"\xff\xd8zoe", b"\xff\xd8abel", b"\xff\xd8ada"]


def test_a_missing_picture_is_named(sample_folder: SampleFolder) -> None:
    folder = sample_folder("faces_3dsk")
    (folder / "images" / "abel.jpg").unlink()
    with pytest.raises(DataError) as caught:
        faces_3dsk.load(folder)
    picture = folder / "images" / "abel.jpg"
    assert str(caught.value) == f"{picture}: missing; the corpus cannot be read without it"


def test_wrong_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("faces_3dsk")
    ratings = folder / "ratings.csv.gz"
    assert refusal(folder, ratings.name, FACE_RATINGS.replace("dom,4", "dom,8")) == (
        f"{ratings}: row 3: 8 lies outside 1 to 7 (1 such answers); "
        "declare other ends or leave the row out"
    )
    assert refusal(folder, ratings.name, FACE_RATINGS.replace("dom", "kind")) == (
        f"{ratings}: row 3: no value 'kind' on the nominal scale of 'att', 'dom', 'health', "
        "'sexdim', 'trust'"
    )
    twice = FACE_RATINGS.replace("ada,female,30,R0002", "zoe,female,20,R0002")
    assert refusal(folder, ratings.name, twice) == (
        f"{ratings}: annotator 'R0002' answered item 'zoe' 2 times (1 such pairs); keep one row "
        "each, or say what to do with repeats (--repeats): keep, first, last or mean"
    )
    other = FACE_RATINGS.replace("ada,female,30,R0002,male,36.4", "ada,female,30,R0002,male,36.5")
    assert refusal(folder, ratings.name, other) == (
        f"{ratings}: row 2: rater_age is 36.5, but 36.4 in row 1"
    )
    assert refusal(
        folder, ratings.name, FACE_RATINGS.replace("abel,male,33,R0001", "al,m,3,R0001")
    ) == (f"{ratings}: no face 'al'; there are 3: 'zoe', 'abel', 'ada'")
    assert refusal(folder, "faces.csv", FACES.replace("face_age", "age")) == (
        f"{folder / 'faces.csv'}: no column ['face_age']; the file has "
        "['face_id', 'face_gender', 'age']"
    )


def test_a_truncated_file_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("faces_3dsk")
    ratings = folder / "ratings.csv.gz"
    ratings.write_bytes(ratings.read_bytes()[:-10])
    with pytest.raises(DataError) as caught:
        faces_3dsk.load(folder)
    assert str(caught.value).startswith(f"{ratings}: damaged gzip (Compressed file ended before ")


@pytest.mark.data
def test_the_real_faces(data_folder: Path) -> None:
    corpus = faces_3dsk.load(data_folder / "faces_3dsk")
    image = corpus.contents["image"]
    assert len(image) == 100
    assert all(image.bytes_of(code)[:2] == b"\xff\xd8" for code in range(100))
    published = {"att": 0.433, "dom": 0.342, "health": 0.375, "sexdim": 0.502, "trust": 0.326}
    for question, expected in published.items():
        answers = corpus[question]
        sums = np.bincount(answers.item, answers.answer)
        others = (sums[answers.item] - answers.answer) / 199
        assert np.corrcoef(answers.answer, others)[0, 1] == pytest.approx(expected, abs=5e-4)
        assert set(answers.per_annotator()) == {0, 50}
