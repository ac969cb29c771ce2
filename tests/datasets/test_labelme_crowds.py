"""Photographs that are only features: a crowd for the training part, gold for all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import labelme_crowds
from dissensus.errors import DataError
from tests.datasets.crowd_folders import SCENES, vectors
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        labelme_crowds.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_answers_are_about_the_training_part(sample_folder: SampleFolder) -> None:
    corpus = labelme_crowds.load(sample_folder("labelme_crowds"))
    assert list(corpus.items) == [
        "train-0",
        "train-1",
        "train-2",
        "validation-0",
        "test-0",
        "test-1",
    ]
    answers = corpus["scene"]
    assert answers.item.tolist() == [0, 0, 2]
    assert answers.answers() == ["highway", "opencountry", "street"]
    assert list(corpus.annotators) == ["9", "10"]
    assert corpus.parts() == ["train", "validation", "test"]


def test_gold_is_about_all_parts(sample_folder: SampleFolder) -> None:
    gold = labelme_crowds.load(sample_folder("labelme_crowds")).gold["scene"]
    assert gold.answer.tolist() == [0, 1, 6, 7, 2, 5]
    assert gold.answers()[:2] == ["highway", "insidecity"]


def test_a_vector_in_two_parts_is_one_content(sample_folder: SampleFolder) -> None:
    corpus = labelme_crowds.load(sample_folder("labelme_crowds"))
    assert corpus.contents["image"].kind == "features" and len(corpus.contents["image"]) == 5
    assert corpus.content["image"].tolist() == [0, 1, 2, 3, 4, 2]
    units = corpus.units().tolist()
    assert units[2] == units[5] and len(set(units)) == 5
    assert corpus.notes == (
        "1 vector of test also occur in train: a split by content keeps them together, "
        "the official split does not",
    )


def test_damaged_features_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("labelme_crowds")
    path = folder / "vgg16_avg_features.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    damaged = f"{path}: a damaged zip (File is not a zip file); is the file cut off?"
    assert refusal(folder) == damaged
    path.write_bytes(whole.replace(b"\x93NUMPY", b"\x93NUMPX", 1))
    assert refusal(folder).startswith(f"{path}: a damaged zip (Bad CRC-32 for file ")
    with path.open("wb") as file:
        np.save(file, np.zeros(3))  # one array and no archive
    assert refusal(folder) == damaged
    np.savez(path, **{name: values for name, values in vectors().items() if name != "y_test"})
    assert refusal(folder) == f"{path}: damaged (no array 'y_test')"


def test_features_of_another_shape_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("labelme_crowds")
    path = folder / "vgg16_avg_features.npz"
    np.savez(path, **(vectors() | {"y_train": np.array([0, 1])}))
    assert refusal(folder) == (
        f"{path}: expected a vector and a label for each item of 'train', found float32 of "
        "shape (3, 2) and (2,)"
    )
    np.savez(path, **(vectors() | {"X_test": np.zeros((2, 3), np.float32)}))
    assert refusal(folder) == f"{path}: the vectors of the parts have several widths: 2, 3"
    np.savez(path, **(vectors() | {"y_valid": np.array([8])}))
    assert refusal(folder) == f"{path}: nominal answers are codes 0 to 7, found 0 to 8"


def test_wrong_answers_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("labelme_crowds")
    answers = folder / "annotations.csv"
    write(folder, answers.name, SCENES.replace("2,10,3", "3,10,3"))
    assert refusal(folder) == (
        f"{answers}: no item 'train-3'; there are 6: 'train-0', 'train-1', 'train-2', "
        "'validation-0', 'test-0', 'test-1'"
    )
    write(folder, answers.name, SCENES.replace("2,10,3", "2,10,8"))
    assert refusal(folder) == f"{answers}: nominal answers are codes 0 to 7, found 0 to 8"
    write(folder, answers.name, SCENES.replace("label", "answer"))
    assert refusal(folder) == (
        f"{answers}: no column ['label']; the file has ['item_id', 'annotator_id', 'answer']"
    )


@pytest.mark.data
def test_the_real_crowd(data_folder: Path) -> None:
    corpus = labelme_crowds.load(data_folder / "labelme_crowds")
    answers, gold = corpus["scene"], corpus.gold["scene"].answer
    assert (answers.answer == gold[answers.item]).mean() == pytest.approx(0.740, abs=5e-4)
    clear = answers.majority(ties="drop")
    assert (clear.answer == gold[clear.item]).mean() == pytest.approx(0.820, abs=5e-4)
    assert clear.n_rows == 1000 - 129
    unit = dict(zip(corpus.items, corpus.units().tolist(), strict=True))
    assert unit["train-737"] == unit["test-762"] and unit["train-495"] == unit["test-1027"]
    assert len(set(unit.values())) == 2688 - 2
    assert corpus.notes[0].startswith("2 vectors of test also occur in train")
    assert [corpus.part(part).n_items for part in corpus.parts()] == [1000, 500, 1188]
