"""Tweets that nobody tagged, cut into tokens like those of pos_tweets, beside them in a corpus."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus import Corpus
from dissensus.contents import Contents
from dissensus.corpus import Focus

SOURCES = ("MD-Agreement_train.json", "HS-Brexit_train.json")  # of lewidi2023; both are tweets
PART = "unlabelled"
SHORTEST, LONGEST = 4, 30  # tokens of a tweet that is taken: those of pos_tweets have 14 on average
KEPT_NUMBERS = ("2", "4")  # "to" and "for"; every other number is the word NUMBER in pos_tweets
EMOTICON = r"[<>]?[:;=8xX]'?-?(?:[()\[\]/\\|*]+|[DPpoO3](?!\w))|<3+|[-^][_.]+[-^]|\^\^+"
TOKEN = re.compile(
    rf"""(?P<link>https?://\S+|<url>)
    | (?P<user><user>|@\w+)
    | (?<!\w)(?:{EMOTICON})
    | [#]\w+
    | (?:[A-Za-z]\.){{2,}}
    | (?P<number>\d+(?!\w))
    | \w+(?:['\-]\w+)*
    | [\U0001F000-\U0001FAFF☀-➿️‍]+
    | [.!?…]+
    | ([^\w\s])\4*""",
    re.VERBOSE,
)


def tokens(text: str) -> list[str]:
    """A tweet's tokens: marks apart, emoticons and contractions whole.

    Example:
        >>> tokens("<user> I won't pay $20.5!! :) <url>")
        ['@USER', 'I', "won't", 'pay', '$', 'NUMBER', '.', 'NUMBER', '!!', ':)', 'URL']
    """
    return [_spelled(found) for found in TOKEN.finditer(html.unescape(text).replace("’", "'"))]


def _spelled(found: re.Match[str]) -> str:
    if found["link"]:
        return "URL"
    if found["user"]:
        return "@USER"
    return "NUMBER" if found["number"] and found[0] not in KEPT_NUMBERS else found[0]


def unlabelled(
    folder: Path,
    n: int,
    seed: int = 0,
    sources: Sequence[str] = SOURCES,
    longest: int = LONGEST,
) -> list[list[str]]:
    """The tokens of n tweets that are neither very short nor very long, drawn by chance."""
    texts: dict[str, list[str]] = {}
    for name in sources:
        for held in json.loads((folder / name).read_text(encoding="utf-8")).values():
            found = tokens(held["text"])
            if SHORTEST <= len(found) <= longest:
                texts[" ".join(found)] = found
    drawn = np.random.default_rng(seed).permutation(len(texts))[:n]
    every = list(texts.values())
    return [every[number] for number in drawn]


def beside(corpus: Corpus, tweets: list[list[str]]) -> Corpus:
    """The corpus with the tokens of tweets as further items without answers, a part by itself."""
    known = corpus.contents["text"].values.to_pylist()
    there = set(known)
    tweets = [words for words in tweets if " ".join(words) not in there]
    tweet = np.repeat(np.arange(len(tweets)), [len(words) for words in tweets])
    stop = np.concatenate([np.cumsum([len(word) + 1 for word in words]) - 1 for words in tweets])
    length = np.array([len(word) for words in tweets for word in words])
    before = corpus.focus
    assert before is not None
    focus = Focus(
        "text",
        np.concatenate([before.start, (stop - length)[:, None].astype(float)]),
        np.concatenate([before.stop, stop[:, None].astype(float)]),
    )
    texts = Contents("text", pa.array([*known, *map(" ".join, tweets)]))
    attributes: dict[str, list[Any]] = {
        "tweet": [f"{PART}-{number}" for number in tweet],
        "auto_labelled": [False] * len(tweet),
    }
    return Corpus.build(
        corpus.name,
        [*corpus.items, *(f"{PART}-{number}" for number in range(len(tweet)))],
        corpus.questions,
        annotators=corpus.annotators,
        contents={"text": (texts, np.r_[corpus.content["text"], len(known) + tweet])},
        item_attributes={
            name: [*corpus.item_attributes[name].to_pylist(), *more]
            for name, more in attributes.items()
        },
        gold=corpus.gold,
        focus=focus,
        splits={"official": [*corpus.splits["official"].to_pylist(), *[PART] * len(tweet)]},
    )
