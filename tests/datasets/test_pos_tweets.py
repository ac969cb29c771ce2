"""Crowd tags of tweets: a token in its tweet, gold here, answers there, experts apart."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets import pos_tweets
from dissensus.errors import DataError
from tests.datasets.folders import ANSWERS, EXPERTS, TOKENS, write

SampleFolder = Callable[[str], Path]


def focused(corpus: Corpus) -> list[str]:
    """The text that each item is about."""
    assert corpus.focus is not None
    texts = [corpus.contents["text"][code] for code in corpus.content["text"]]
    spans = zip(texts, corpus.focus.start[:, 0], corpus.focus.stop[:, 0], strict=True)
    return [text[int(start) : int(stop)] for text, start, stop in spans]


def test_tokens_are_items_with_a_focus_in_their_tweet(sample_folder: SampleFolder) -> None:
    corpus = pos_tweets.load(sample_folder("pos_tweets"))
    assert focused(corpus) == ["Grüße", "@USER", ",", "Grüße", "@USER", ",", "NA", "tea"]
    assert corpus.text_of(2) == "Grüße @USER [[,]]"


def test_a_tweet_that_recurs_is_one_content(sample_folder: SampleFolder) -> None:
    corpus = pos_tweets.load(sample_folder("pos_tweets"))
    assert corpus.contents["text"].values.to_pylist() == ["Grüße @USER ,", "NA tea"]
    assert corpus.content["text"].tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert corpus.units().tolist() == [0, 0, 0, 0, 0, 0, 1, 1]


def test_answers_gold_and_attributes(sample_folder: SampleFolder) -> None:
    corpus = pos_tweets.load(sample_folder("pos_tweets"))
    answers = corpus["tag"]
    assert list(corpus.annotators) == ["9", "10"]
    assert answers.item.tolist() == [0, 0, 2, 3, 5]
    assert answers.annotator is not None and answers.annotator.tolist() == [1, 0, 0, 1, 1]
    assert answers.answers() == ["NOUN", "VERB", ".", "NOUN", "X"]
    assert answers.per_item().tolist() == [2, 0, 1, 1, 0, 1, 0, 0]
    assert corpus.gold["tag"].answers() == [*["NOUN", "NOUN", "."] * 2, "X", "NOUN"]
    assert corpus.parts() == ["train", "dev", "test"]
    attributes = {key: values.to_pylist() for key, values in corpus.item_attributes.items()}
    assert attributes["tweet"] == ["train-0"] * 3 + ["dev-1"] * 3 + ["test-0"] * 2
    assert attributes["orig_id"][1] == "000001" and attributes["orig_id"][7] == "low1"
    assert attributes["auto_labelled"] == [False, True, False, False, True, False, False, False]
    assert attributes["pos_in_sent"] == [0, 1, 2, 0, 1, 2, 0, 1]


def test_the_experts_are_left_out_with_the_reason(sample_folder: SampleFolder) -> None:
    corpus = pos_tweets.load(sample_folder("pos_tweets"))
    assert corpus.left_out == (
        LeftOut(
            "tag, two experts (plank2014)",
            "1 of 1 test tweets are in it, so it must not be trained on here: --corpus plank2014",
            5,
        ),
    )
    assert corpus.notes == (
        "2 tokens (@USER, URL) were tagged NOUN automatically and have gold but no answers; "
        "attribute auto_labelled",
    )


def test_the_experts_corpus_leaves_flags_and_empty_cells_out(sample_folder: SampleFolder) -> None:
    corpus = pos_tweets.load(sample_folder("pos_tweets"), "plank2014")
    assert list(corpus.items) == ["0-0", "0-1", "1-0", "1-1"]
    assert focused(corpus) == ["NA", "tea", "what", '"']
    answers = corpus["tag"]
    assert list(answers.annotators) == ["ann1", "ann2"]
    assert answers.per_item().tolist() == [2, 1, 2, 0]
    assert answers.answers() == ["X", "NOUN", "PRON", "NOUN", "PRON"]
    without = "tag, cells without an answer"
    assert corpus.left_out == (
        LeftOut(without, "FLAG: the expert gave no tag", 2),
        LeftOut(without, "an empty cell: the expert gave no tag", 1),
    )
    assert corpus.item_attributes["in_test"].to_pylist() == [True, True, False, False]


def test_an_unknown_tag_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    write(folder, "annotations.csv.gz", ANSWERS.replace("VERB", "verb"))
    with pytest.raises(DataError) as caught:
        pos_tweets.load(folder)
    assert str(caught.value) == (
        f"{folder / 'annotations.csv.gz'}: row 2: no value 'verb' on the nominal scale of 'ADJ', "
        "'ADP', 'ADV', 'CONJ', 'DET', 'NOUN', 'NUM', 'PRON', 'PRT', '.', 'VERB', 'X'"
    )


def test_an_answer_about_an_unknown_token_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    write(folder, "annotations.csv.gz", ANSWERS.replace("5,10,X", "77,10,X"))
    with pytest.raises(DataError, match=r"annotations.csv.gz: no item '77'; there are 8: '0', "):
        pos_tweets.load(folder)


def test_an_annotator_who_answers_twice_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    write(folder, "annotations.csv.gz", ANSWERS + "0,10,X\n")
    with pytest.raises(DataError, match=r"annotations.csv.gz: annotator '10' answered item '0' 2"):
        pos_tweets.load(folder)


def test_tokens_out_of_order_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    write(folder, "tokens.csv", TOKENS.replace("2,train,0,2", "2,train,0,3"))
    with pytest.raises(DataError) as caught:
        pos_tweets.load(folder)
    assert str(caught.value) == (
        f"{folder / 'tokens.csv'}: the tokens of a tweet must follow one another, "
        "pos_in_sent from 0"
    )


def test_a_missing_column_is_named(sample_folder: SampleFolder) -> None:
    folder = sample_folder("pos_tweets")
    name = "plank2014_500tweets_2annotators.csv"
    write(folder, name, EXPERTS.replace("ann2", "second"))
    with pytest.raises(DataError) as caught:
        pos_tweets.load(folder)
    assert str(caught.value) == (
        f"{folder / name}: no column ['ann2']; the file has ['sent_id', 'token', 'ann1', 'second']"
    )


@pytest.mark.data
def test_the_real_crowd(data_folder: Path) -> None:
    corpus = pos_tweets.load(data_folder / "pos_tweets")
    with (data_folder / "pos_tweets" / "tokens.csv").open(encoding="utf-8", newline="") as file:
        assert focused(corpus) == [row["token"] for row in csv.DictReader(file)]
    assert len(corpus.contents["text"]) == 1181  # 1,200 tweets
    tweets = {p: corpus.part(p).item_attributes["tweet"] for p in ("train", "dev", "test")}
    assert [len(names.unique()) for names in tweets.values()] == [910, 90, 200]
    shown = {part: set(corpus.content["text"][corpus.in_part(part)]) for part in tweets}
    assert len(shown["train"] & shown["dev"]) == 1  # the same text, so the same content
    assert len(shown["train"] & shown["test"]) == 1
    automatic = np.asarray(corpus.item_attributes["auto_labelled"])
    assert automatic.sum() == 939 and not corpus["tag"].per_item()[automatic].any()
    assert corpus.left_out[0].reason.startswith("112 of 200 test tweets are in it")
    assert corpus.part("train")["tag"].n_rows + corpus.part("dev")["tag"].n_rows == 70177


@pytest.mark.data
def test_the_crowds_majority_is_gold_as_the_card_says(data_folder: Path) -> None:
    corpus = pos_tweets.load(data_folder / "pos_tweets")
    counts = corpus["tag"].counts()
    requested = counts.any(axis=1)
    best = counts == counts.max(axis=1, keepdims=True)
    shared = best[np.arange(corpus.n_items), corpus.gold["tag"].answer] / best.sum(axis=1)
    assert shared[requested].mean() == pytest.approx(0.782, abs=5e-4)
    assert (best[requested].sum(axis=1) > 1).sum() == 745
    right = corpus["tag"].answer == corpus.gold["tag"].answer[corpus["tag"].item]
    assert right.mean() == pytest.approx(0.713, abs=5e-4)


@pytest.mark.data
def test_the_real_experts(data_folder: Path) -> None:
    corpus = pos_tweets.load(data_folder / "pos_tweets", "plank2014")
    assert [row.answers for row in corpus.left_out] == [12, 1]
    assert corpus["tag"].n_rows == 2 * 7876 - 13
    alike = (corpus["tag"].counts() == 2).any(axis=1)
    assert alike.mean() == pytest.approx(0.882, abs=5e-4)  # of all tokens, as the card counts
