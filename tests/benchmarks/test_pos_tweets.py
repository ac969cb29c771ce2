"""What runs on tweets are made of: tokens, the truth behind a crowd, hidden words, rows, pieces."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations
from dissensus.aggregation import DawidSkene
from tests.benchmarks.test_archive import script as script


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


# ---- an encoder that is adapted ----


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
