"""Stems of words (Carpenter et al. 2009; Jamison & Gurevych 2015): is this the stem of the word?

An item is a word with a proposed stem, in the version of Fornaciari et al. (2021).
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, labels, votes
from dissensus.scales import Nominal

QUESTION, SCALE = "is the stem", Nominal(("0", "1"))
PARTS = {"trn": "train", "dev": "dev", "hard-tst": "test"}


def load(folder: Path, corpus: str) -> Corpus:
    """Question `is the stem`, votes without annotators; gold; roles `word` and `stem`.

    The columns `mv` (the majority of the votes, 2 where they tie), `soft` and `prob` are computed
    from the votes: none of them is an answer.
    """
    texts = ("item_id", "word", "stem", "fold10", "fold20", "set", "gold")
    numbers = dict.fromkeys(("vote0", "vote1", "freq"), pa.int32())
    pairs = csv_table(folder, "stemming_votes.csv", texts, **numbers)
    items = pairs.names("item_id")
    with pairs.errors():
        annotations = votes(pairs.array("vote0", "vote1"), SCALE, items)
        gold = labels(pairs["gold"], SCALE, items)
    return Corpus.build(
        corpus,
        items,
        {QUESTION: annotations},
        contents={role: pairs[role] for role in ("word", "stem")},
        item_attributes={"word": pairs["word"], "freq": pairs["freq"]},
        gold={QUESTION: gold},
        splits={
            "official": pairs.parts("set", PARTS),
            "fold10": pairs["fold10"],
            "fold20": pairs["fold20"],
        },
        group="word",
        notes=(
            "freq, the number of a word's pairs, gives gold away (exactly one pair of each word "
            "is right): never learn from it, and keep a word's pairs on one side of a split",
            "fold10 and fold20 cut through words; the official split does not",
        ),
    )
