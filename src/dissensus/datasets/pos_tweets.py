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
from dissensus.datasets.files import Table, csv_table, labels, numbered, word_focus
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

TAGS = ("ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", ".", "VERB", "X")
EXPERTS = "plank2014_500tweets_2annotators.csv"
NO_TAG = {"FLAG": "FLAG: the expert gave no tag", "": "an empty cell: the expert gave no tag"}


def load(folder: Path, corpus: str) -> Corpus:
    """Question `tag`, one of 12; the text is the tweet, the focus the token in it."""
    text = ("item_id", "split", "sent_id", "token", "gold", "orig_id")
    types = {"pos_in_sent": pa.int32(), "auto_labelled": pa.bool_()}
    tokens = csv_table(folder, "tokens.csv", text, **types)
    experts = csv_table(folder, EXPERTS, ("sent_id", "token", "ann1", "ann2"))
    return _crowd(folder, tokens, experts) if corpus == "crowd" else _experts(experts, tokens)


class _Tweets(NamedTuple):
    texts: Any  # Arrow strings, one per tweet
    tweet: np.ndarray  # (n_items,) the tweet of each token
    position: np.ndarray  # (n_items,) the token's place in its tweet, from 0
    focus: Focus

    @property
    def contents(self) -> dict[str, tuple[Contents, np.ndarray]]:
        contents, code = Contents.distinct("text", self.texts)  # one text for repeated tweets
        return {"text": (contents, code[self.tweet])}


def _tweets(tokens: Any, tweet_ids: Any) -> _Tweets:
    """Tokens, one below the other, as tweets: joined by a space, each token with its characters."""
    identity = pc.dictionary_encode(tweet_ids).combine_chunks().indices.to_numpy()
    starts = np.flatnonzero(np.r_[True, np.diff(identity) != 0])  # where another tweet begins
    tweet = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(identity)]))
    offsets = pa.array(np.r_[starts, len(identity)].astype(np.int32))
    texts = pc.binary_join(pa.ListArray.from_arrays(offsets, tokens.combine_chunks()), " ")
    position = np.arange(len(identity)) - starts[tweet]
    return _Tweets(texts, tweet, position, word_focus(tokens, starts, tweet))


def _tweet_ids(tokens: Table) -> Any:
    """A name for the tweet of each token of the crowd: sent_id restarts in test."""
    return numbered(tokens["split"], tokens["sent_id"])


def _crowd(folder: Path, tokens: Table, experts: Table) -> Corpus:
    rows = csv_table(folder, "annotations.csv.gz", ("item_id", "annotator_id", "label"))
    tweet_ids = _tweet_ids(tokens)
    tweets = _tweets(tokens["token"], tweet_ids)
    with tokens.errors():
        if not np.array_equal(tweets.position, tokens.array("pos_in_sent")):
            raise DataError("the tokens of a tweet must follow one another, pos_in_sent from 0")
        items = Names(tokens["item_id"])
        gold = labels(tokens["gold"], Nominal(TAGS), items)
    n_automatic = pc.sum(tokens["auto_labelled"]).as_py() or 0
    return Corpus.build(
        "pos_tweets",
        items,
        {"tag": rows.annotations("label", gold.scale, items)},
        contents=tweets.contents,
        item_attributes={
            "tweet": tweet_ids,
            **{key: tokens[key] for key in ("sent_id", "pos_in_sent", "orig_id", "auto_labelled")},
        },
        gold={"tag": gold},
        focus=tweets.focus,
        splits={"official": tokens["split"]},
        left_out=(_experts_left_out(experts, tokens),),
        notes=(
            f"{n_automatic} tokens (@USER, URL) were tagged NOUN automatically and have gold but "
            "no answers; attribute auto_labelled",
        ),
    )


def _is_tag(cells: Any) -> np.ndarray:
    return ~np.asarray(pc.is_in(cells, value_set=pa.array(list(NO_TAG))))


def _experts_left_out(experts: Table, tokens: Table) -> LeftOut:
    n_tags = sum(int(_is_tag(experts[name]).sum()) for name in ("ann1", "ann2"))
    test = _test_texts(tokens)
    known = pc.is_in(test, value_set=_tweets(experts["token"], experts["sent_id"]).texts)
    reason = (
        f"{pc.sum(known).as_py() or 0} of {len(test)} test tweets are in it, so it must not be "
        "trained on here: --corpus plank2014"
    )
    return LeftOut("tag, two experts (plank2014)", reason, n_tags)


def _test_texts(tokens: Table) -> Any:
    """The tweets of the crowd's test part, Arrow strings."""
    test = tokens.filter(pc.equal(tokens["split"], "test"))
    return _tweets(test["token"], _tweet_ids(test)).texts if len(test) else pa.array([], "string")


def _experts(experts: Table, tokens: Table) -> Corpus:
    tweets = _tweets(experts["token"], experts["sent_id"])
    with experts.errors():
        items = Names(numbered(experts["sent_id"], tweets.position))
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
    in_test = pc.is_in(tweets.texts, value_set=_test_texts(tokens))
    n_empty = {empty: pc.sum(pc.equal(cells, empty)).as_py() for empty in NO_TAG}
    return Corpus.build(
        "plank2014",
        items,
        {"tag": annotations},
        contents=tweets.contents,
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
