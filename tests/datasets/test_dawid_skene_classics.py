"""The classic tables: repeated readings, and patterns with a number of teeth each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import dawid_skene_classics
from dissensus.errors import DataError
from dissensus.scales import Nominal, Ordinal
from tests.datasets.crowd_folders import FORMS, PATTERNS
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, corpus: str, name: str, text: str) -> str:
    write(folder, name, text)
    with pytest.raises(DataError) as caught:
        dawid_skene_classics.load(folder, corpus)
    return str(caught.value)


def test_repeated_readings_are_kept(sample_folder: SampleFolder) -> None:
    corpus = dawid_skene_classics.load(sample_folder("dawid_skene_classics"), "anaesthesia")
    answers = corpus["anaesthesia"]
    assert list(corpus.items) == ["9", "10"] and list(corpus.annotators) == ["1", "2"]
    assert answers.scale == Ordinal(("1", "2", "3", "4"))
    assert answers.item.tolist() == [1, 1, 0, 0]
    assert answers.answers() == ["1", "4", "2", "2"] and answers.repeats
    assert corpus.notes == (
        "1 of 4 answers are second and third answers of the same annotator, and are kept",
    )


def test_a_pattern_stands_for_its_teeth(sample_folder: SampleFolder) -> None:
    corpus = dawid_skene_classics.load(sample_folder("dawid_skene_classics"), "caries")
    answers = corpus["caries"]
    assert list(corpus.items) == ["0", "1", "2", "3"]
    assert list(corpus.annotators) == ["1", "2", "3", "4", "5"]
    assert answers.scale == Nominal(("1", "2"))
    assert answers.counts().tolist() == [[4, 1], [4, 1], [4, 1], [2, 3]]
    third = answers.annotator_codes("a test") == 2
    assert np.array(answers.answers())[third].tolist() == ["1", "1", "1", "2"]


def test_wrong_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("dawid_skene_classics")
    forms, patterns = folder / "anesthesia.csv", folder / "caries.csv"
    assert refusal(folder, "anaesthesia", forms.name, FORMS.replace("4.0", "5.0")) == (
        f"{forms}: row 2: no value '5' on the ordinal scale of '1', '2', '3', '4'"
    )
    assert refusal(folder, "anaesthesia", forms.name, FORMS.replace("4.0", "")) == (
        f"{forms}, row 2: 'rating' is empty"
    )
    assert refusal(folder, "anaesthesia", forms.name, FORMS.replace("rating", "grade")) == (
        f"{forms}: no column ['rating']; the file has ['item', 'rater', 'grade']"
    )
    assert refusal(folder, "caries", patterns.name, PATTERNS.replace("2.0,3.0", "2.0,3.5")) == (
        f"{patterns}, row 1: 'n' counts teeth, found 3.5"
    )
    assert refusal(folder, "caries", patterns.name, PATTERNS.replace("2.0,3.0", "2.0,-3")) == (
        f"{patterns}, row 1: 'n' counts teeth, found -3"
    )


@pytest.mark.data
def test_the_real_readings(data_folder: Path) -> None:
    folder = data_folder / "dawid_skene_classics"
    corpus = dawid_skene_classics.load(folder, "anaesthesia")["anaesthesia"]
    assert np.bincount(corpus.answer).tolist() == [128, 124, 48, 15]
    assert corpus.counts().sum() == pytest.approx(5 * 45)  # three readings of one share a vote
    assert corpus.per_annotator().tolist() == [135, 45, 45, 45, 45]
    first = corpus.take(corpus.annotator_codes("a test") == 0)
    assert ((first.counts() > 0).sum(axis=1) > 1).sum() == 13
    teeth = dawid_skene_classics.load(folder, "caries")["caries"]
    assert (teeth.counts()[:, 0] == 5).sum() == 1880
