"""Anonymous ratings, three in one response, and responses that are no answers."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets import emobank
from dissensus.errors import DataError
from dissensus.scales import Interval
from tests.datasets.folders import READERS, SENTENCE_FACTS, write

SampleFolder = Callable[[str], Path]
REASON = "V = A = D = 1: probably not answered (--corpus emobank-all keeps them)"


def refusal(folder: Path, name: str, content: str) -> str:
    """The message for a folder with this file in it, without the folder's path."""
    write(folder, name, content)
    with pytest.raises(DataError) as caught:
        emobank.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def test_three_questions_from_each_perspective(sample_folder: SampleFolder) -> None:
    corpus = emobank.load(sample_folder("emobank"))
    sides = ("V", "A", "D")
    assert list(corpus.questions) == [f"{who} {s}" for who in ("reader", "writer") for s in sides]
    valence = corpus["reader V"]
    assert valence.annotator is None and valence.scale == Interval(1, 5)
    assert valence.item.tolist() == [0, 0, 3] and valence.answers() == [3.0, 2.0, 1.0]
    assert corpus["writer A"].answers() == [4.0]


def test_one_response_is_linked_and_perspectives_are_not(sample_folder: SampleFolder) -> None:
    folder = sample_folder("emobank")
    corpus = emobank.load(folder)
    joint = corpus.joint("reader V", "reader A", "reader D")
    assert joint.item.tolist() == [0, 0, 3]
    assert np.stack(list(joint.answers.values())).T.tolist() == [[3, 3, 4], [2, 3, 3], [1, 1, 2]]
    everything = emobank.load(folder, "emobank-all")
    assert len(everything.joint("reader V", "writer V").item) == 0


def test_what_was_not_answered_is_left_out_and_counted(sample_folder: SampleFolder) -> None:
    folder = sample_folder("emobank")
    corpus = emobank.load(folder)
    assert corpus.left_out == tuple(LeftOut(question, REASON, 1) for question in corpus.questions)
    everything = emobank.load(folder, "emobank-all")
    assert everything.left_out == () and everything.name == "emobank-all"
    assert everything["reader D"].answers() == [4.0, 3.0, 1.0, 2.0]
    assert everything["writer V"].answers() == [5.0, 1.0]


def test_texts_facts_and_parts_come_from_their_own_files(sample_folder: SampleFolder) -> None:
    corpus = emobank.load(sample_folder("emobank"))
    assert corpus.text_of(0) == "None" and corpus.text_of(3) == 'A "mug", please.'
    facts = {key: values.to_pylist() for key, values in corpus.item_attributes.items()}
    assert facts["document"] == ["tea", "tea", "mug", "mug", "SemEval", "SemEval"]
    assert facts["subcategory"] == [None, None, "nyt", None, None, None]
    assert corpus.splits["official"].to_pylist() == ["dev", None, None, "test", "train", None]


def test_documents_stay_together_and_so_do_texts(sample_folder: SampleFolder) -> None:
    corpus = emobank.load(sample_folder("emobank"))
    assert corpus.group == "unit"
    assert corpus.item_attributes["unit"].to_pylist() == [
        "tea",
        "tea_5_9",  # "Sincerely," stands in two documents
        "tea_5_9",
        "mug",
        "SemEval_1",  # headlines are no document
        "SemEval_2",
    ]


def test_wrong_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("emobank")
    reader = "individual_reader_ratings.csv"
    assert refusal(folder, reader, READERS.replace("3,3,4", "3,6,4")) == (
        f"{reader}: row 1: 6 lies outside 1 to 5 (1 such answers); declare other ends or leave "
        "the row out"
    )
    assert refusal(folder, reader, READERS.replace("mug_5_9,1,1,2", "cup,1,1,2")) == (
        f"{reader}: no sentence 'cup'; there are 6: 'tea_1_4', 'tea_5_9', 'mug_1_4', 'mug_5_9', "
        "'SemEval_1', 'SemEval_2'"
    )
    assert refusal(folder, reader, READERS.replace("A,D", "A,E")) == (
        f"{reader}: no column ['D']; the file has ['id', 'V', 'A', 'E']"
    )
    assert refusal(folder, reader, READERS.replace("3,3,4", "3,,4")) == (
        f"{reader}, row 1: 'A' is empty"
    )
    assert refusal(folder, reader, "id,V,A,D\n") == f"{reader}: no rows"
    write(folder, reader, READERS)
    assert refusal(folder, "meta.tsv", SENTENCE_FACTS.replace("tea_5_9", "tea_5_8")) == (
        "meta.tsv: no sentence 'tea_5_9'; there are 6: 'mug_1_4', 'mug_5_9', 'tea_1_4', "
        "'tea_5_8', 'SemEval_1', 'SemEval_2'"
    )
    write(folder, "meta.tsv", SENTENCE_FACTS)
    assert refusal(folder, "emobank.csv", "id,split\ncup,dev\n") == (
        "emobank.csv: no sentence 'cup'; there are 6: 'tea_1_4', 'tea_5_9', 'mug_1_4', 'mug_5_9', "
        "'SemEval_1', 'SemEval_2'"
    )


# ---- the real files ----


def means(corpus: Corpus, side: str) -> np.ndarray:
    """The mean of all ratings of each item, readers' and writers' together."""
    answers = [corpus[f"{who} {side}"] for who in ("reader", "writer")]
    total = sum(np.bincount(a.item, a.answer, minlength=corpus.n_items) for a in answers)
    return np.asarray(total / sum(a.per_item() for a in answers))


@pytest.mark.data
def test_the_authors_means_leave_the_same_responses_out(data_folder: Path) -> None:
    corpus = emobank.load(data_folder / "emobank")
    with (data_folder / "emobank" / "emobank.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    at = corpus.items.codes([row["id"] for row in published])
    assert len(at) == 10_062
    for side in ("V", "A", "D"):
        stated = np.array([float(row[side]) for row in published])
        assert np.abs(means(corpus, side)[at] - stated).max() <= 0.0071  # says the card
    assert {part: corpus.part(part).n_items for part in corpus.parts()} == {
        "train": 8062,
        "dev": 1000,
        "test": 1000,
    }
    assert corpus.splits["official"].null_count == 486
    texts = [corpus.text_of(int(item)) for item in at]
    assert texts == [row["text"] for row in published]


@pytest.mark.data
def test_what_remains_of_the_real_ratings(data_folder: Path) -> None:
    corpus = emobank.load(data_folder / "emobank")
    for perspective, rows, items in (("reader", 47_925, 10_548), ("writer", 48_309, 10_467)):
        answers = corpus[f"{perspective} A"]
        assert (answers.n_rows, (answers.per_item() > 0).sum()) == (rows, items)


@pytest.mark.data
def test_no_real_text_or_document_is_cut(data_folder: Path) -> None:
    corpus = emobank.load(data_folder / "emobank")
    units, text = corpus.units(), corpus.content["text"]
    documents = np.array(corpus.item_attributes["document"].to_pylist())
    pairs = np.unique(np.stack([text, units], axis=1), axis=0)
    split_texts = np.bincount(pairs[:, 0]) > 1
    assert not split_texts.any()
    assert np.bincount(units).max() < 0.1 * corpus.n_items  # no giant unit
    alone = np.array(corpus.item_attributes["unit"].to_pylist()) != documents
    assert (alone & (documents != "SemEval")).sum() < 150  # sentences away from their document
