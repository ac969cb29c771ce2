"""Votes on photographs: anonymous, counted, with gold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import cifar10h
from dissensus.errors import DataError

SampleFolder = Callable[[str], Path]


def test_votes_are_counts_without_zeros(sample_folder: SampleFolder) -> None:
    corpus = cifar10h.load(sample_folder("cifar10h"))
    answers = corpus["class"]
    assert list(corpus.items) == ["1", "0"]  # item_id is the row of the vote table
    assert answers.annotator is None and corpus.n_annotators == 0
    assert answers.item.tolist() == [0, 0, 1]
    assert answers.answers() == ["automobile", "truck", "airplane"]
    assert answers.count is not None and answers.count.tolist() == [7, 40, 50]
    assert answers.n_answers == 97
    assert corpus.gold["class"].answers() == ["truck", "airplane"]


def test_contents_are_the_bytes_of_pictures(sample_folder: SampleFolder) -> None:
    corpus = cifar10h.load(sample_folder("cifar10h"))
    image = corpus.contents["image"]
    assert image.kind == "image"
    assert [image.bytes_of(code) for code in corpus.content["image"]] == [
        b"\xff\xd8one",
        b"\xff\xd8zero",
    ]


def test_a_vote_table_of_another_shape_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("cifar10h")
    np.save(folder / "cifar10h-counts.npy", np.zeros((3, 10)))
    with pytest.raises(DataError) as caught:
        cifar10h.load(folder)
    assert str(caught.value) == (
        f"{folder / 'cifar10h-counts.npy'}: expected whole numbers for 2 images x 10 classes, "
        "found float64 of shape (3, 10)"
    )


def test_negative_votes_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("cifar10h")
    np.save(folder / "cifar10h-counts.npy", np.full((2, 10), -1))
    with pytest.raises(
        DataError, match=r"counts.npy: the number of votes must be 0 or more, found -1$"
    ):
        cifar10h.load(folder)


def test_damaged_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("cifar10h")
    (folder / "cifar10h-counts.npy").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"cifar10h-counts.npy: damaged \("):
        cifar10h.load(folder)
    (folder / "cifar10_test_jpg.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"cifar10_test_jpg.parquet: damaged \("):
        cifar10h.load(folder)


@pytest.mark.data
def test_the_real_votes(data_folder: Path) -> None:
    corpus = cifar10h.load(data_folder / "cifar10h")
    gold = corpus.gold["class"].answer
    with np.load(data_folder / "cifar10h" / "labels.npz") as labels:
        np.testing.assert_array_equal(gold, labels["test"])
    counts = corpus["class"].counts()
    np.testing.assert_array_equal(counts, np.load(data_folder / "cifar10h/cifar10h-counts.npy"))
    best = counts == counts.max(axis=1, keepdims=True)
    assert (best.sum(axis=1) > 1).sum() == 3
    assert best[np.arange(10_000), gold].mean() == pytest.approx(0.992, abs=5e-4)
    assert counts[np.arange(10_000), gold].sum() / 511_000 == pytest.approx(0.952, abs=5e-4)
    assert ((counts > 0).sum(axis=1) == 1).sum() == 4393
    image = corpus.contents["image"]
    assert all(image.bytes_of(code)[:2] == b"\xff\xd8" for code in range(len(image)))
