"""Part-of-speech tags of tweets by a crowd (Gimpel et al. 2011; Hovy, Plank & Sogaard 2014).

An item is a token in its tweet. `crowd` has the answers of 177 annotators, and gold for every
token, also for those without answers. `plank2014` has the tags of two experts for 500 tweets; 112
of the crowd's 200 test tweets are among them, so the two corpora are separate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Focus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("crowd", "plank2014")
DEFAULT: str | None = "crowd"
TAGS = ("ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", ".", "VERB", "X")
TOKENS, ANSWERS = "tokens.csv", "annotations.csv.gz"
EXPERTS = "plank2014_500tweets_2annotators.csv"
NO_TAG = {"FLAG": "FLAG: the expert gave no tag", "": "an empty cell: the expert gave no tag"}


def recognise(folder: Path) -> bool:
    """Whether the folder contains the crowd's tokens and answers, or the experts' file."""
    both = (folder / TOKENS).is_file() and (folder / ANSWERS).is_file()
    return both or (folder / EXPERTS).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `tag`, one of 12; the text is the tweet, the focus the token in it."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    return _crowd(folder) if wanted == "crowd" else _experts(folder)


class _Tweets(NamedTuple):
    texts: Any  # Arrow strings, one per tweet
    tweet: np.ndarray  # (n_items,) the tweet of each token
    position: np.ndarray  # (n_items,) the token's place in its tweet, from 0
    focus: Focus


def _tweets(tokens: Any, tweet_ids: Any) -> _Tweets:
    """Tokens, one below the other, as tweets: joined by a space, each token with its characters."""
    identity = pc.dictionary_encode(tweet_ids).combine_chunks().indices.to_numpy()
    starts = np.flatnonzero(np.r_[True, np.diff(identity) != 0])  # where another tweet begins
    tweet = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(identity)]))
    length = pc.utf8_length(tokens).to_numpy().astype(np.int64)
    begin = np.cumsum(length + 1) - length - 1  # if all tweets were one text
    begin -= begin[starts][tweet]
    offsets = pa.array(np.r_[starts, len(identity)].astype(np.int32))
    texts = pc.binary_join(pa.ListArray.from_arrays(offsets, tokens.combine_chunks()), " ")
    focus = Focus("text", begin[:, None].astype(float), (begin + length)[:, None].astype(float))
    return _Tweets(texts, tweet, np.arange(len(identity)) - starts[tweet], focus)


def _contents(tweets: _Tweets) -> dict[str, tuple[Contents, np.ndarray]]:
    contents, code = Contents.distinct("text", tweets.texts)  # one text for repeated tweets
    return {"text": (contents, code[tweets.tweet])}


def _read_tokens(folder: Path) -> tuple[Any, Any]:
    """The crowd's tokens, and a name for the tweet of each: sent_id restarts in test."""
    text = ("item_id", "split", "sent_id", "token", "gold", "orig_id")
    types = dict.fromkeys(text, pa.string())
    types |= {"pos_in_sent": pa.int32(), "auto_labelled": pa.bool_()}
    tokens = csv_table(folder, TOKENS, **types)
    return tokens, pc.binary_join_element_wise(tokens["split"], tokens["sent_id"], "-")


def _crowd(folder: Path) -> Corpus:
    tokens, tweet_ids = _read_tokens(folder)
    answers = csv_table(
        folder, ANSWERS, item_id=pa.string(), annotator_id=pa.string(), label=pa.string()
    )
    tweets = _tweets(tokens["token"], tweet_ids)
    with errors_in(folder / TOKENS):
        if not np.array_equal(tweets.position, tokens["pos_in_sent"].to_numpy()):
            raise DataError("the tokens of a tweet must follow one another, pos_in_sent from 0")
        items = Names(tokens["item_id"])
        gold = Annotations.from_arrays(
            np.arange(len(items)), None, tokens["gold"], Nominal(TAGS), items=items
        )
    annotators = names_in_order(answers["annotator_id"])
    with errors_in(folder / ANSWERS):
        annotations = Annotations.from_arrays(
            items.codes(answers["item_id"], "item"),
            annotators.codes(answers["annotator_id"]),
            answers["label"],
            gold.scale,
            items=items,
            annotators=annotators,
        )
    n_automatic = pc.sum(tokens["auto_labelled"]).as_py() or 0
    return Corpus.build(
        "pos_tweets",
        items,
        {"tag": annotations},
        annotators=annotators,
        contents=_contents(tweets),
        item_attributes={
            "tweet": tweet_ids,
            **{key: tokens[key] for key in ("sent_id", "pos_in_sent", "orig_id", "auto_labelled")},
        },
        gold={"tag": gold},
        focus=tweets.focus,
        splits={"official": tokens["split"]},
        left_out=(_experts_left_out(folder, tokens, tweet_ids),),
        notes=(
            f"{n_automatic} tokens (@USER, URL) were tagged NOUN automatically and have gold but "
            "no answers; attribute auto_labelled",
        ),
    )


def _read_experts(folder: Path) -> Any:
    columns = dict.fromkeys(("sent_id", "token", "ann1", "ann2"), pa.string())
    return csv_table(folder, EXPERTS, **columns)


def _is_tag(cells: Any) -> np.ndarray:
    return ~np.asarray(pc.is_in(cells, value_set=pa.array(list(NO_TAG))))


def _experts_left_out(folder: Path, tokens: Any, tweet_ids: Any) -> LeftOut:
    experts = _read_experts(folder)
    n_tags = sum(int(_is_tag(experts[name]).sum()) for name in ("ann1", "ann2"))
    test = _test_texts(tokens, tweet_ids)
    known = pc.is_in(test, value_set=_tweets(experts["token"], experts["sent_id"]).texts)
    reason = (
        f"{pc.sum(known).as_py() or 0} of {len(test)} test tweets are in it, so it must not be "
        "trained on here: --corpus plank2014"
    )
    return LeftOut("tag, two experts (plank2014)", reason, n_tags)


def _test_texts(tokens: Any, tweet_ids: Any) -> Any:
    """The tweets of the crowd's test part, Arrow strings."""
    in_test = pc.equal(tokens["split"], "test")
    if not pc.any(in_test).as_py():
        return pa.array([], pa.string())
    return _tweets(tokens["token"].filter(in_test), tweet_ids.filter(in_test)).texts


def _experts(folder: Path) -> Corpus:
    experts = _read_experts(folder)
    tweets = _tweets(experts["token"], experts["sent_id"])
    position = pa.array(tweets.position).cast(pa.string())
    with errors_in(folder / EXPERTS):
        items = Names(pc.binary_join_element_wise(experts["sent_id"], position, "-"))
        cells = pa.concat_arrays([experts[name].combine_chunks() for name in ("ann1", "ann2")])
        tagged = np.flatnonzero(_is_tag(cells))
        annotations = Annotations.from_arrays(
            tagged % len(items),
            tagged // len(items),
            cells.take(pa.array(tagged)),
            Nominal(TAGS),
            items=items,
            annotators=Names(["ann1", "ann2"]),
        )
    in_test = pc.is_in(tweets.texts, value_set=_test_texts(*_read_tokens(folder)))
    n_empty = {empty: pc.sum(pc.equal(cells, empty)).as_py() for empty in NO_TAG}
    return Corpus.build(
        "plank2014",
        items,
        {"tag": annotations},
        contents=_contents(tweets),
        item_attributes={
            "sent_id": experts["sent_id"],
            "in_test": in_test.take(pa.array(tweets.tweet)),
        },
        focus=tweets.focus,
        left_out=tuple(
            LeftOut("tag, cells without an answer", NO_TAG[empty], n)
            for empty, n in n_empty.items()
            if n
        ),
        notes=("attribute in_test: tweets that are also in the test part of pos_tweets",),
    )
