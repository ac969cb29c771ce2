"""What every known corpus promises, and how `read` finds its way to one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dissensus import datasets
from dissensus.corpus import Corpus
from dissensus.datasets import DATASETS, dataset
from dissensus.errors import DataError
from tests.datasets.folders import SAMPLES

SampleFolder = Callable[[str], Path]
EVERY = [(name, corpus) for name, known in DATASETS.items() for corpus in known.corpora]


def test_every_dataset_has_a_folder_to_test() -> None:
    assert {path.name for path in SAMPLES.iterdir()} | {"cifar10h"} == {*DATASETS}


@pytest.mark.parametrize("name", DATASETS)
def test_a_folder_is_recognised_by_its_own_module_only(
    name: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    assert [other for other, known in DATASETS.items() if known.recognise(folder)] == [name]
    assert datasets.recognise(folder) == datasets.recognise(str(folder)) == name


@pytest.mark.parametrize(("name", "corpus"), EVERY)
def test_what_is_saved_and_loaded_is_the_same(
    name: str, corpus: str, sample_folder: SampleFolder, tmp_path: Path
) -> None:
    loaded = datasets.load(sample_folder(name), corpus)
    loaded.save(tmp_path / "saved")
    assert Corpus.load(tmp_path / "saved").equals(loaded)


@pytest.mark.parametrize(("name", "corpus"), EVERY)
def test_a_missing_file_is_named(name: str, corpus: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder(name)
    needed = 0
    for path in sorted(folder.iterdir()):
        hidden = path.with_name("hidden")
        path.rename(hidden)
        try:
            dataset(name).load(folder, corpus)
        except DataError as error:
            needed += 1
            assert str(error) == f"{path}: missing; the corpus cannot be read without it"
        hidden.rename(path)
    assert needed >= 1 or name == "iemocap"  # of which one session is enough


def test_read_takes_the_default_corpus_and_a_named_one(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    assert datasets.read(str(folder)).name == "pos_tweets"
    experts = datasets.read(folder, corpus="plank2014")
    assert experts.name == "plank2014"
    assert experts.notes[0] == "pos_tweets: the known corpus pos_tweets, read as plank2014"


def test_read_hands_everything_else_to_the_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments: list[Any] = []

    def reader(source: Any, **options: Any) -> Any:
        arguments.append((source, options))

    monkeypatch.setattr("dissensus.readers.read", reader, raising=False)
    table = {"item": ["t1"]}
    for source in (tmp_path, tmp_path / "mine.csv", table):
        datasets.read(source, corpus="a", item="task")
    options = ("a", "task")
    assert [(source, (given["corpus"], given["item"])) for source, given in arguments] == [
        (source, options) for source in (tmp_path, tmp_path / "mine.csv", table)
    ]
