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
from tests.datasets.folders import FOLDERS

SampleFolder = Callable[[str], Path]
EVERY = [(name, corpus) for name, known in DATASETS.items() for corpus in known.corpora]


def test_every_dataset_has_a_folder_to_test() -> None:
    assert list(FOLDERS) == list(DATASETS)


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


@pytest.mark.parametrize("name", DATASETS)
def test_an_unknown_corpus_is_refused_with_those_there_are(
    name: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    there = ", ".join(repr(corpus) for corpus in dataset(name).corpora)
    with pytest.raises(DataError) as caught:
        datasets.load(folder, "nonsense")
    assert str(caught.value) == f"{folder}: no corpus 'nonsense'; choose from {there}"


def test_several_corpora_want_a_choice(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    with pytest.raises(DataError) as caught:
        datasets.read(folder)
    assert str(caught.value) == (
        f"{folder}: contains 4 corpora, choose one with corpus= (--corpus): "
        "'HS-Brexit', 'ArMIS', 'ConvAbuse', 'MD-Agreement'"
    )


def test_read_takes_the_default_corpus_and_a_named_one(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    assert datasets.read(str(folder)).name == "pos_tweets"
    experts = datasets.read(folder, corpus="plank2014")
    assert experts.name == "plank2014"
    assert experts.notes[0] == "pos_tweets: the known corpus pos_tweets, read as plank2014"


def test_read_refuses_options_for_a_known_corpus(sample_folder: SampleFolder) -> None:
    folder = sample_folder("jester5k")
    with pytest.raises(DataError) as caught:
        datasets.read(folder, item="joke", annotator=None, scale="nominal", repeats="error")
    assert str(caught.value) == (
        f"{folder}: this is the known corpus jester5k, which is read as it is; "
        "leave out item=, scale="
    )


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


def test_load_says_which_corpora_are_known(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        datasets.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: contains no known corpus; there are 'pos_tweets', 'speechocean762', "
        f"'jester5k', 'cifar10h', 'lewidi2023', 'stemming', 'emobank', 'eye_fixations_12coders' "
        f"and {len(DATASETS) - 8} more"
    )


def test_an_unknown_dataset_is_refused() -> None:
    with pytest.raises(DataError, match=r"^no dataset 'mine'; there are 'pos_tweets', "):
        dataset("mine")
