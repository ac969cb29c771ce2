"""Stems of words (Carpenter et al. 2009; Jamison & Gurevych 2015): is this the stem of the word?

An item is a word with a proposed stem, in the version of Fornaciari et al. (2021).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, csv_table, errors_in
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("stemming",)
DEFAULT: str | None = "stemming"
VOTES = "stemming_votes.csv"
QUESTION, SCALE = "is the stem", Nominal(("0", "1"))
PARTS = {"trn": "train", "dev": "dev", "hard-tst": "test"}


def recognise(folder: Path) -> bool:
    """Whether the folder contains the votes."""
    return (folder / VOTES).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `is the stem`, votes without annotators; gold; roles `word` and `stem`.

    The columns `mv` (the majority of the votes, 2 where they tie), `soft` and `prob` are computed
    from the votes: none of them is an answer.
    """
    chosen(folder, corpus, CORPORA, DEFAULT)
    texts = ("item_id", "word", "stem", "fold10", "fold20", "set", "gold")
    numbers = ("vote0", "vote1", "freq")
    pairs = csv_table(
        folder, VOTES, **dict.fromkeys(texts, pa.string()), **dict.fromkeys(numbers, pa.int32())
    )
    with errors_in(folder / VOTES):
        items = Names(pairs["item_id"])
        annotations = _annotations(pairs, items)
        every = np.arange(len(items))
        gold = Annotations.from_arrays(every, None, pairs["gold"], SCALE, items=items)
        official = _official(pairs["set"])
    return Corpus.build(
        "stemming",
        items,
        {QUESTION: annotations},
        contents={role: Contents.distinct("text", pairs[role]) for role in ("word", "stem")},
        item_attributes={"word": pairs["word"], "freq": pairs["freq"]},
        gold={QUESTION: gold},
        splits={"official": official, "fold10": pairs["fold10"], "fold20": pairs["fold20"]},
        group="word",
        notes=(
            "freq, the number of a word's pairs, gives gold away (exactly one pair of each word "
            "is right): never learn from it, and keep a word's pairs on one side of a split",
            "fold10 and fold20 cut through words; the official split does not",
        ),
    )


def _annotations(pairs: Any, items: Names) -> Annotations:
    votes = np.stack([pairs["vote0"].to_numpy(), pairs["vote1"].to_numpy()], axis=1)
    if (votes < 0).any():  # (n_items, n_values)
        row = int((votes < 0).any(axis=1).argmax())
        raise DataError(
            f"row {row + 1}: the number of votes must be 0 or more, found {votes[row].min()}"
        )
    item, answer = np.nonzero(votes)  # values without a vote have no row
    return Annotations.from_arrays(
        item, None, answer.astype(np.int32), SCALE, items=items, count=votes[item, answer]
    )


def _official(sets: Any) -> Any:
    at = pc.index_in(sets, value_set=pa.array(list(PARTS)))
    if at.null_count:
        row = int(pc.index(pc.is_null(at), True).as_py())
        raise DataError(
            f"row {row + 1}: 'set' must be one of {', '.join(PARTS)}, found {sets[row].as_py()!r}"
        )
    return pa.array(list(PARTS.values())).take(at.combine_chunks())
