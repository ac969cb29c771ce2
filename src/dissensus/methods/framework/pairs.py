"""Whom to ask: the pairs of item and annotator that a prediction is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names

Unknown = Literal["error", "mean", "drop"]
Asked = Any  # "own", "all", a list of names, or (item, annotator) pairs of names

PAIRS_AT_ONCE = 1 << 18  # so that items x everyone never stands in memory at once


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of item and annotator, the annotator as a code into `names`."""

    item: np.ndarray  # (n_pairs,)
    annotator: np.ndarray  # (n_pairs,)
    names: Names

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: np.ndarray) -> Pairs:
        return Pairs(self.item[rows], self.annotator[rows], self.names)

    def runs(self) -> Iterator[Pairs]:
        """The pairs, some at a time."""
        for first in range(0, len(self), PAIRS_AT_ONCE):
            rows = slice(first, first + PAIRS_AT_ONCE)
            yield Pairs(self.item[rows], self.annotator[rows], self.names)


def own_pairs(corpus: Corpus, questions: Iterable[str]) -> Pairs:
    """Who answered which item, to any of the questions, each pair once, sorted by item."""
    asked = [corpus.questions[q] for q in questions if q in corpus.questions]
    keys = [
        rows.item.astype(np.int64) * corpus.n_annotators + rows.annotator
        for rows in asked
        if rows.annotator is not None
    ]
    key = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    item, annotator = np.divmod(key, max(corpus.n_annotators, 1))
    return Pairs(item, annotator, corpus.annotators)


def crossed(items: np.ndarray, annotators: np.ndarray, names: Names) -> Pairs:
    """Each of the items with each of the annotators (codes into `names`)."""
    annotator = np.tile(annotators, len(items))
    return Pairs(np.repeat(items, len(annotators)), annotator, names)


def asked_pairs(
    corpus: Corpus, questions: Iterable[str], asked: Asked, everyone: Names, answered: np.ndarray
) -> Pairs:
    """The pairs that `predict(annotators=asked)` means.

    Args:
        everyone: the annotators of the training corpus.
        answered: which of them gave an answer in training, (n_annotators,).
    """
    items = np.arange(corpus.n_items)
    if isinstance(asked, str):
        if asked == "own":
            return own_pairs(corpus, questions)
        if asked == "all":
            return crossed(items, np.flatnonzero(answered), everyone)
        raise DataError(
            f"annotators are 'own', 'all', a list of names or of (item, annotator) pairs, "
            f"not {asked!r}"
        )
    wanted = list(asked)
    if wanted and not isinstance(wanted[0], str):
        item, people = zip(*wanted, strict=True)
        names, annotator = Names.encode([str(person) for person in people])
        return Pairs(corpus.items.codes([str(i) for i in item], "item"), annotator, names)
    return crossed(items, np.arange(len(wanted)), Names(wanted))


def trained_codes(
    pairs: Pairs,
    everyone: Names,
    answered: np.ndarray,
    foreign: bool,
    hint: str,
    unknown: Unknown,
) -> tuple[Pairs, np.ndarray]:
    """The pairs to predict, and the training code of each annotator, -1 if nothing was learned.

    Args:
        everyone: the annotators of the training corpus.
        answered: which of them gave an answer in training, (n_annotators,).
        foreign: the names of the pairs belong to another corpus, so that none is known.
        hint: what the error adds in that case.
        unknown: what to do with annotators without an answer in training. "error" refuses
            those that the training corpus does not list.
    """
    if unknown not in ("error", "mean", "drop"):
        raise DataError(f"unknown is 'error', 'mean' or 'drop', not {unknown!r}")
    codes = np.full(len(pairs.names), -1) if foreign else everyone.find(pairs.names)
    if unknown == "error" and (codes[pairs.annotator] < 0).any():
        people = [pairs.names[i] for i in np.unique(pairs.annotator) if codes[i] < 0]
        raise DataError(
            f"the model never saw annotator {listed(people, 5)}{hint}; "
            "ask with unknown='mean' or 'drop' (--unknown mean)"
        )
    learned = np.r_[answered, False]  # the last one for code -1
    code = np.where(learned[codes], codes, -1)[pairs.annotator]
    if unknown == "drop":
        return pairs.take(code >= 0), code[code >= 0]
    return pairs, code


def voters(
    n_items: int,
    own: Pairs | None,
    everyone: Names,
    answered: np.ndarray,
    foreign: bool,
    unknown: Unknown,
) -> tuple[Pairs, np.ndarray]:
    """Whose answers make up each item's, sorted by item, and their training codes.

    Args:
        own: who answered which item. All annotators with an answer in training vote on an item
            that is not among them, and on every item if None.
        everyone, answered, foreign: see `trained_codes`.
        unknown: the mean of all votes for an annotator without an answer in training if "mean";
            otherwise such annotators do not vote.
    """
    every = np.flatnonzero(answered)
    if own is None or not len(own):
        pairs = crossed(np.arange(n_items), every, everyone)
        return pairs, pairs.annotator
    rule: Unknown = "mean" if unknown == "mean" else "drop"
    own, code = trained_codes(own, everyone, answered, foreign, "", rule)
    rest = crossed(np.setdiff1d(np.arange(n_items), own.item), every, everyone)
    item, code = np.r_[own.item, rest.item], np.r_[code, rest.annotator]
    order = np.argsort(item, kind="stable")
    return Pairs(item[order], code[order], everyone), code[order]
