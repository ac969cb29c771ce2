"""What runs on tweets are made of: tokens, the truth behind a crowd, hidden words, rows, pieces."""

from __future__ import annotations

import csv
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Annotations, Corpus
from dissensus.aggregation import DawidSkene
from dissensus.contents import Contents
from dissensus.corpus import Focus

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "gpu"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    return importlib.import_module


def crowd(n_items: int = 300, n_annotators: int = 12, seed: int = 0) -> Annotations:
    """Five answers an item, of which two in three are right."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(3, size=n_items)
    people = np.stack([generator.permutation(n_annotators)[:5] for _ in range(n_items)])
    right = generator.random(people.shape) < 2 / 3
    answer = np.where(right, truth[:, None], generator.integers(3, size=people.shape))
    item = np.repeat(np.arange(n_items), 5)
    return Annotations.from_arrays(item, people.reshape(-1), answer.reshape(-1).astype(str))


def rows(answers: Annotations) -> np.ndarray:
    return np.stack([answers.item, answers.annotator_codes("a test"), answers.answer])


# ---- the truth behind a crowd ----


def test_without_a_teacher_it_is_dawid_and_skenes_model(script: Any) -> None:
    module, corpus = script("crowd_truth"), crowd()
    fitted = DawidSkene(iterations=2000, tolerance=1e-12).fit(corpus)
    prior = np.tile(fitted.prior_, (corpus.n_items, 1))
    result = module.expected(rows(corpus), prior, fitted.confusion_)
    np.testing.assert_allclose(result, fitted.distribution_, atol=1e-6)
    confusion = module.confusions(rows(corpus), fitted.distribution_, corpus.n_annotators, 0)
    np.testing.assert_allclose(confusion, fitted.confusion_, atol=1e-6)


def test_a_teacher_decides_where_the_answers_weigh_nothing(script: Any) -> None:
    module, corpus = script("crowd_truth"), crowd()
    prior = np.random.default_rng(1).dirichlet(np.ones(3), corpus.n_items)
    silent = module.truth(rows(corpus), prior, corpus.n_annotators, weight=0.0)
    np.testing.assert_allclose(silent, prior)
    heard = module.truth(rows(corpus), prior, corpus.n_annotators, weight=1.0)
    np.testing.assert_allclose(heard.sum(axis=1), 1)
    assert np.abs(heard - prior).max() > 0.5


# ---- tokens ----


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<user> I won’t pay $20.5!! :) <url>", "@USER I won't pay $ NUMBER . NUMBER !! :) URL"),
        ("@ann see https://a.b/c, #now &amp; 4 u", "@USER see URL #now & 4 u"),
        ("so-so... U.S. <3 covid19?!", "so-so ... U.S. <3 covid19 ?!"),
    ],
)
def test_tokens_are_cut_as_those_of_the_crowd(script: Any, text: str, wanted: str) -> None:
    assert script("tweet_tokens").tokens(text) == wanted.split()


def test_untagged_tweets_stand_beside_the_others_as_a_part(script: Any) -> None:
    answers = Annotations.from_rows([("0", "ann", "NOUN"), ("1", "ann", "VERB")])
    corpus = Corpus.build(
        "two",
        answers.items,
        {"tag": answers},
        contents={"text": (Contents.distinct("text", ["dogs bark"])[0], np.zeros(2, np.int32))},
        item_attributes={"tweet": ["train-0"] * 2, "auto_labelled": [False] * 2},
        gold={"tag": Annotations.from_arrays(np.arange(2), None, np.arange(2), answers.scale)},
        focus=Focus("text", np.array([[0.0], [5.0]]), np.array([[4.0], [9.0]])),
        splits={"official": ["train", "train"]},
    )
    tokens = script("tweet_tokens")
    whole = tokens.beside(corpus, [["dogs", "bark"], ["cats", "do", "not"]])
    assert whole.parts() == ["train", "unlabelled"] and whole.n_items == 5
    more = whole.part("unlabelled")
    assert more["tag"].n_rows == 0 and more.gold["tag"].n_rows == 0
    starts, stops = (np.ravel(ends).astype(int) for ends in (more.focus.start, more.focus.stop))
    text = more.contents["text"][0]
    results = [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
    assert results == ["cats", "do", "not"]


# ---- an encoder that is adapted ----


def test_some_words_are_hidden_and_never_what_stands_for_nothing(script: Any) -> None:
    module, generator = script("pos_adapted"), torch.Generator().manual_seed(0)
    vocabulary = module.Vocabulary(size=1000, mask=4, padding=0, special=(0, 1, 2, 3, 4))
    pieces = torch.randint(5, 1000, (2000, 40), generator=generator)
    pieces[:, 0], pieces[:, 30], pieces[:, 31:] = 2, 3, 0
    shown, chosen = vocabulary.hidden(pieces, generator)
    ordinary = pieces >= 5
    assert not chosen[~ordinary].any()
    assert torch.equal(shown[~chosen], pieces[~chosen])
    assert float(chosen[ordinary].float().mean()) == pytest.approx(0.15, abs=0.01)
    now, before = shown[chosen], pieces[chosen]
    assert float((now == 4).float().mean()) == pytest.approx(0.8, abs=0.02)
    assert float((now == before).float().mean()) == pytest.approx(0.1, abs=0.02)
    assert int(now.min()) == 4  # none is replaced by another special piece
    again, _ = vocabulary.hidden(pieces, generator)
    assert not torch.equal(shown, again)


@pytest.mark.slow
def test_an_adapted_encoder_is_saved_as_it_was_trained(script: Any, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    module, texts = script("pos_adapted"), ["dogs bark at cats", "cats do not bark"] * 20
    script("kit").pack_minilm(tmp_path / "minilm", texts)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "minilm")
    torch.manual_seed(0)
    network = module.Guesser(AutoModel.from_pretrained(tmp_path / "minilm").float())
    learned = module.Texts.of(texts, tokenizer, torch.device("cpu"))
    before = learned.held_out_loss(network)
    assert module.learn(network, learned, epochs=5, rate=4e-4) == 5
    assert learned.held_out_loss(network) < before / 2
    network.eval()
    with torch.no_grad():
        wanted = network.encoder(learned.pieces[:2]).last_hidden_state
        module.save(network.encoder, tmp_path / "adapted", tmp_path / "minilm")
        loaded = AutoModel.from_pretrained(tmp_path / "adapted").float().eval()
        result = loaded(learned.pieces[:2]).last_hidden_state
    np.testing.assert_allclose(result, wanted, atol=5e-3)
    assert (
        AutoTokenizer.from_pretrained(tmp_path / "adapted")(texts)["input_ids"]
        == (tokenizer(texts)["input_ids"])
    )


def test_no_text_of_the_test_part_is_learned(script: Any, data_folder: Path) -> None:
    from dissensus import datasets

    tested: dict[str, list[str]] = {}
    with (data_folder / "pos_tweets" / "tokens.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["split"] == "test":
                tested.setdefault(row["sent_id"], []).append(row["token"])
    assert len(tested) == 200
    experts: dict[str, list[str]] = {}
    path = data_folder / "pos_tweets" / "plank2014_500tweets_2annotators.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            experts.setdefault(row["sent_id"], []).append(row["token"])
    corpus = datasets.load(data_folder / "pos_tweets")
    result = script("pos_adapted").texts(data_folder, corpus)
    assert len(result) == len(set(result)) > 20_000
    unseen = {" ".join(words).lower() for words in (*tested.values(), *experts.values())}
    assert not unseen & {text.lower() for text in result}
    for part, n_left_out in (("train", 1), ("dev", 0)):
        texts = set(corpus.part(part).contents["text"].values.to_pylist())
        assert len(texts - set(result)) == n_left_out


def test_words_that_are_tagged_otherwise_than_in_training(script: Any) -> None:
    text = "it is it It no it no new IT"  # "it" three times in the training part, "no" once
    tags = "PRON VERB PRON PRON PRT VERB VERB VERB PRON".split()
    stop = np.flatnonzero([letter == " " for letter in f"{text} "]).astype(float)
    start = np.r_[0, stop[:-1] + 1]
    answers = Annotations.from_rows([(f"{n}", "ann", tag) for n, tag in enumerate(tags)])
    corpus = Corpus.build(
        "words",
        answers.items,
        {"tag": answers},
        contents={"text": (Contents.distinct("text", [text])[0], np.zeros(9, np.int32))},
        gold={"tag": Annotations.from_arrays(answers.item, None, answers.answer, answers.scale)},
        focus=Focus("text", start[:, None], stop[:, None]),
        splits={"official": ["train"] * 5 + ["test"] * 4},
    )
    module = script("pos_tweets")
    assert module.tagged_otherwise(corpus, "test").tolist() == [True, False, False, False]
    assert not module.tagged_otherwise(corpus, "train").any()
