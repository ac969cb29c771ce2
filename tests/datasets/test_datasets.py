"""What every known corpus promises, and how `read` finds its way to one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dissensus import datasets
from dissensus.corpus import Corpus
from dissensus.datasets import DATASETS, dataset, muse, street
from dissensus.errors import DataError
from tests.datasets.folders import FOLDERS, conversation_item

SampleFolder = Callable[[str], Path]
EVERY = [(name, corpus) for name in DATASETS for corpus in dataset(name).CORPORA]


def test_every_dataset_has_a_folder_to_test() -> None:
    assert list(FOLDERS) == list(DATASETS)


@pytest.mark.parametrize("name", DATASETS)
def test_a_folder_is_recognised_by_its_own_module_only(
    name: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    assert [other for other in DATASETS if dataset(other).recognise(folder)] == [name]
    assert datasets.recognise(folder) == datasets.recognise(str(folder)) == name


@pytest.mark.parametrize("name", DATASETS)
def test_the_default_is_the_first_corpus_or_there_is_none(name: str) -> None:
    corpora = dataset(name).CORPORA
    assert dataset(name).DEFAULT == corpora[0] or (
        dataset(name).DEFAULT is None and len(corpora) > 1
    )


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
    assert needed >= 1


@pytest.mark.parametrize("name", DATASETS)
def test_an_unknown_corpus_is_refused_with_those_there_are(
    name: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    there = ", ".join(repr(corpus) for corpus in dataset(name).CORPORA)
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


DAMAGED: dict[str, tuple[str, str, Callable[[bytes], bytes]]] = {
    "not UTF-8": ("jester5k", "jokes.csv", lambda content: b"\xff" + content),
    "a name that is not UTF-8": (
        "speechocean762",
        "audio_opus.parquet",
        lambda content: content.replace(b"item_id", b"item_\xf4d"),
    ),
    "nested too deeply": (
        "nli_variation",
        "preprocessed-data.jsonl",
        lambda _: b'{"labels": ' + b"[" * 100_000,
    ),
    "a list of lists": (
        "toxic_spans",
        "tsd_train.csv",
        lambda _: b'spans,text\n"' + b"[" * 100_000 + b'",tea\n',
    ),
    "a column twice": ("jester5k", "jokes.csv", lambda content: b"item_id,text,text\n1,a,b\n"),
    "too many": (
        "dawid_skene_classics",
        "caries.csv",
        lambda content: content[: content.rindex(b",")] + b",1e30\n",
    ),
    "no number": (
        "muse",
        f"{muse.SURVEY}/{muse.RATINGS}",
        lambda content: content.replace(b",6.5,", b",6.x,"),
    ),
}


def test_a_name_that_is_too_long_for_a_file_is_missing(sample_folder: SampleFolder) -> None:
    folder = sample_folder("street")
    labels = folder / street.LABELS
    (first, *_) = sorted(path.name for path in (folder / "images").iterdir())
    labels.write_text(labels.read_text(encoding="utf-8").replace(first, "a" * 300), "utf-8")
    with pytest.raises(DataError, match=r"images/a+: missing; the corpus cannot be read"):
        dataset("street").load(folder, street.CORPORA[0])


@pytest.mark.parametrize("text", ['{"a": ' + "[" * 100_000, '{"a": "\\ud800"}', "{" + "9" * 5000])
def test_turns_that_are_damaged_json_are_a_text(text: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    items = {"1": conversation_item("7.0", text=text)}
    (folder / "ConvAbuse_train.json").write_text(json.dumps(items), encoding="utf-8")
    corpus = dataset("lewidi2023").load(folder, "ConvAbuse")
    assert text in corpus.contents["text"].values.to_pylist()


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_refused_in_one_line(damage: str, sample_folder: SampleFolder) -> None:
    name, file, change = DAMAGED[damage]
    folder = sample_folder(name)
    path = folder / file
    content = path.read_bytes()
    path.write_bytes(change(content))
    assert path.read_bytes() != content
    with pytest.raises(DataError) as caught:
        dataset(name).load(folder, dataset(name).CORPORA[-1 if name.startswith("dawid") else 0])
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message and len(message) < 300


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
