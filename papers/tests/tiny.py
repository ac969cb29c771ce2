"""Invented corpora in the form of the paper's two, small enough to train on in a moment."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.datasets.texts import TAGS
from dissensus.datasets.votes import QUESTION, SCALE

WORDS = {"tea": "NOUN", "runs": "VERB", "red": "ADJ", "the": "DET", "@USER": "NOUN"}
QUICK = [
    ("tune", "nothing"),
    ("branch", "output"),
    ("training.epochs", "3"),
    ("training.batch_size", "32"),
    ("training.learning_rate", "0.05"),
]


def tweets(n_tweets: int = 60, length: int = 5) -> Corpus:
    """Tags of words in tweets by six people; nobody is asked about @USER, nor in the test part."""
    generator = np.random.default_rng(0)
    shown = generator.choice(list(WORDS), (n_tweets, length))
    tokens = shown.ravel()
    texts = [" ".join(row) for row in shown]
    starts = [0] + list(np.cumsum([len(word) + 1 for word in tokens]))
    begin = np.array([starts[k] - starts[k - k % length] for k in range(len(tokens))], float)
    stop = begin + [len(word) for word in tokens]
    part = np.repeat(["train"] * 4 + ["dev"] + ["test"], -(-n_tweets // 6))[:n_tweets]
    part = np.repeat(part, length)
    items = Names([f"i{k}" for k in range(len(tokens))])
    gold = np.array([TAGS.index(WORDS[word]) for word in tokens])
    automatic = (tokens == "@USER") & (part != "test")
    requested = np.flatnonzero(~automatic & (part != "test"))
    item = np.repeat(requested, 6)
    noisy = np.where(generator.random(len(item)) < 0.3, generator.integers(0, 12, len(item)), 0)
    answer = np.where(noisy > 0, noisy, gold[item])
    people = Annotations.from_arrays(
        item,
        np.tile(np.arange(6), len(requested)),
        answer,
        Nominal(TAGS),
        items=items,
        annotators=Names([f"a{k}" for k in range(6)]),
    )
    contents, code = Contents.distinct("text", texts)
    every = np.arange(len(tokens))
    return Corpus.build(
        "pos_tweets",
        items,
        {"tag": people},
        annotators=people.annotators,
        contents={"text": (contents, code[np.repeat(np.arange(n_tweets), length)])},
        item_attributes={"auto_labelled": automatic},
        gold={"tag": Annotations.from_arrays(every, None, gold, Nominal(TAGS), items=items)},
        focus=Focus("text", begin[:, None], stop[:, None]),
        splits={"official": part.tolist()},
    )


def stems(n_items: int = 80) -> Corpus:
    """Pairs of a word and what may be its stem, with four votes each, in ten folds."""
    generator = np.random.default_rng(0)
    right = generator.random(n_items) < 0.7
    words = generator.choice(["cats", "dogs", "teas", "reds"], n_items)
    stem = np.where(right, [word[:-1] for word in words], words)
    yes = generator.binomial(4, np.where(right, 0.75, 0.3))
    votes = np.stack([4 - yes, yes], axis=1)
    items = Names([f"p{k}" for k in range(n_items)])
    item, answer = np.nonzero(votes)
    answers = Annotations.from_arrays(
        item, None, answer.astype(np.int32), SCALE, items=items, count=votes[item, answer]
    )
    every = np.arange(n_items)
    gold = Annotations.from_arrays(every, None, right.astype(np.int32), SCALE, items=items)
    return Corpus.build(
        "stemming",
        items,
        {QUESTION: answers},
        contents={
            "word": Contents.distinct("text", words.tolist()),
            "stem": Contents.distinct("text", stem.tolist()),
        },
        item_attributes={"word": words.tolist()},
        gold={QUESTION: gold},
        splits={"fold10": [str(k % 10) for k in range(n_items)]},
        group="word",
    )


def vectors(path: Path) -> Path:
    """A file of word vectors for all of the words above."""
    generator = np.random.default_rng(1)
    words = [*WORDS, *(w for word in ("cats", "dogs", "teas", "reds") for w in (word, word[:-1]))]
    lines = [
        f"{w} {' '.join(f'{x:.3f}' for x in generator.normal(size=6))}\n" for w in sorted({*words})
    ]
    path.write_text("".join(sorted(lines)), encoding="utf-8")
    return path
