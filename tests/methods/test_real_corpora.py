"""One batch type and one loop serve corpora that are awkward each in its own way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus import datasets
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.encoders import Store, TextEncoder, encodings
from dissensus.methods import AnnotatorHeads, AnnotatorMajority, Prior, Single
from dissensus.metrics import scores
from dissensus.training import Examples, Training
from dissensus.training.examples import Table, batch_indices

pytestmark = [pytest.mark.data, pytest.mark.slow]


def test_single_on_words_in_their_tweets(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = datasets.load(data_folder / "pos_tweets")
    encoded: list[int] = []
    plain = TextEncoder.encode

    def counting(self: TextEncoder, contents: Contents) -> Store:
        encoded.append(len(contents))
        return plain(self, contents)

    monkeypatch.setattr(TextEncoder, "encode", counting)
    train, dev = corpus.part("train"), corpus.part("dev")
    training = Training(epochs=6, batch_size=128, learning_rate=3e-3)
    fitted = Single(training=training).fit(train)
    assert sum(encoded) == len(train.contents["text"]) < 911  # a tweet once, not a word
    on_dev = scores(fitted.predict(dev)["tag"], dev["tag"], dev.gold["tag"])
    floor = scores(Prior().fit(train).predict(dev)["tag"], dev["tag"], dev.gold["tag"])
    assert on_dev["accuracy (gold)"] > 0.7 > floor["accuracy (gold)"] + 0.3
    assert on_dev["cross-entropy"] < floor["cross-entropy"] - 0.5


def test_heads_on_two_questions_of_spoken_sentences(data_folder: Path) -> None:
    corpus = datasets.load(data_folder / "speechocean762")
    train, test = corpus.split(0.2)
    assert not set(_speakers(train)) & set(_speakers(test))
    questions = ("accuracy", "fluency")
    heads = AnnotatorHeads(encoder="minilm", training=Training(epochs=5))  # the sound takes minutes
    fitted = heads.fit(train, questions)
    assert fitted.notes_ == ["'minilm' does not read 'speech'"]
    predictions = fitted.predict(test)
    joint = predictions.joint(*questions)
    assert len(joint["accuracy"]) == 5 * test.n_items
    floor = Prior().fit(train, questions).predict(test)
    for question in questions:
        mine, theirs = (scores(p[question], test[question]) for p in (predictions, floor))
        assert mine["annotator CCC"] > theirs["annotator CCC"] + 0.1


def test_heads_on_five_thousand_raters(data_folder: Path) -> None:
    corpus = datasets.load(data_folder / "jester5k")
    train, test = corpus.split(0.2)
    training = Training(epochs=2, batch_size=8)
    table = Table.of_corpus(train, ("rating",))
    examples = Examples.of_corpus(train, encodings(train, "minilm"), table)
    seen = np.zeros(train["rating"].n_rows, np.int64)
    for _, rows, owner, _ in batch_indices(
        examples, np.arange(80), training, np.random.default_rng(0)
    ):
        np.add.at(seen, rows, 1)
        assert np.bincount(owner).max() <= training.max_rows_per_item
    assert (seen == 1).all()
    fitted = AnnotatorHeads(training=training).fit(train)
    floor = AnnotatorMajority().fit(train)
    mine, theirs = (scores(m.predict(test)["rating"], test["rating"]) for m in (fitted, floor))
    assert mine["annotator error"] < theirs["annotator error"]


def test_conversations_are_read_turn_by_turn(data_folder: Path) -> None:
    corpus = datasets.load(data_folder / "lewidi2023", "ConvAbuse")
    train, dev = corpus.part("train"), corpus.part("dev")
    train, dev = train.select(items=np.arange(400)), dev.select(items=np.arange(150))
    questions = ("abusive", "severity")
    fitted = AnnotatorHeads(training=Training(epochs=5)).fit(train, questions)
    assert fitted.notes_ == []
    assert fitted.sizes_.widths == dict.fromkeys(("prev_agent", "prev_user", "agent", "user"), 384)
    predictions, floor = fitted.predict(dev), Prior().fit(train, questions).predict(dev)
    for question in questions:
        mine, theirs = (scores(p[question], dev[question]) for p in (predictions, floor))
        assert mine["cross-entropy"] < theirs["cross-entropy"] - 0.05


def _speakers(corpus: Corpus) -> list[str]:
    return [str(speaker) for speaker in corpus.item_attributes["speaker"].to_pylist()]
