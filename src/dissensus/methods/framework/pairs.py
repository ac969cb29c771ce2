"""The pairs of item and annotator that a prediction is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names

Unknown = Literal["error", "mean", "drop", "nearest", "aggregate", "attributes"]
Selection = Any  # "own", "all", a list of names, or (item, annotator) pairs of names

KEPT = ("mean", "nearest", "attributes")  # with these, unknown annotators vote on their own items
PAIRS_AT_ONCE = 1 << 18  # so that all items x all annotators never have to fit in memory


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of item and annotator, the annotator as a code into `names`."""

    item: np.ndarray  # (n_pairs,)
    annotator: np.ndarray  # (n_pairs,)
    names: Names

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: np.ndarray | slice) -> Pairs:
        return Pairs(self.item[rows], self.annotator[rows], self.names)

    def slices(self) -> Iterator[slice]:
        """Slices that cover all pairs, some pairs at a time."""
        for first in range(0, len(self), PAIRS_AT_ONCE):
            yield slice(first, first + PAIRS_AT_ONCE)


@dataclass(frozen=True, eq=False)
class TrainingAnnotators:
    """Which annotators a model knows, and whether it meets them in a corpus.

    Args:
        names: of all annotators of the training corpus.
        answered: which of them gave an answer in training, (n_annotators,).
        foreign: whether a corpus to predict has other annotators, even if names are the same.
        hint: what an error about unknown annotators adds.
        newcomers: the annotators of the enrolment corpus, whose answers or attributes are known.
    """

    names: Names
    answered: np.ndarray
    foreign: bool = False
    hint: str = ""
    newcomers: Names = field(default_factory=lambda: Names.range(0))

    @property
    def known(self) -> np.ndarray:
        """The codes of annotators with an answer in training."""
        return np.flatnonzero(self.answered)

    def codes(self, pairs: Pairs, unknown: Unknown) -> tuple[Pairs, np.ndarray]:
        """The pairs to predict, and the training code of each annotator, -1 without an answer.

        With "nearest" and "attributes", -2 - n is the n-th of the newcomers.

        Args:
            unknown: what to do with annotators without an answer in training. "error" refuses
                only those that the training corpus does not list.
        """
        if unknown not in get_args(Unknown):
            choices = ", ".join(get_args(Unknown))
            raise DataError(f"unknown must be one of {choices}, not {unknown!r}")
        codes = np.full(len(pairs.names), -1) if self.foreign else self.names.find(pairs.names)
        if unknown == "error" and (codes[pairs.annotator] < 0).any():
            names = [pairs.names[i] for i in np.unique(pairs.annotator) if codes[i] < 0]
            raise DataError(
                f"not in the training corpus: annotator {listed(names, 5)}{self.hint}; pass "
                "unknown='mean' or 'drop' (--unknown mean), 'nearest' if they answered other "
                "items, or 'aggregate' if the model was fitted with aggregate=True"
            )
        answered = np.r_[self.answered, False]  # the last one for code -1
        codes = np.where(answered[codes], codes, -1)
        if unknown in ("nearest", "attributes"):
            number = self.newcomers.find(pairs.names)
            codes = np.where((codes < 0) & (number >= 0), -2 - number, codes)
        code = codes[pairs.annotator]
        if unknown == "drop":
            return pairs.take(code >= 0), code[code >= 0]
        return pairs, code


def own_pairs(corpus: Corpus, questions: Iterable[str]) -> Pairs:
    """Each item with the annotators who answered any of the questions, sorted by item."""
    annotations = [corpus.questions[q] for q in questions if q in corpus.questions]
    keys = [
        rows.item.astype(np.int64) * corpus.n_annotators + rows.annotator
        for rows in annotations
        if rows.annotator is not None
    ]
    key = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    item, annotator = np.divmod(key, max(corpus.n_annotators, 1))
    return Pairs(item, annotator, corpus.annotators)


def crossed(items: np.ndarray, annotators: np.ndarray, names: Names) -> Pairs:
    """Each of the items with each of the annotators (codes into `names`)."""
    annotator = np.tile(annotators, len(items))
    return Pairs(np.repeat(items, len(annotators)), annotator, names)


def selected_pairs(
    corpus: Corpus, questions: Iterable[str], selection: Selection, training: TrainingAnnotators
) -> Pairs:
    """The pairs that `predict(annotators=selection)` means."""
    items = np.arange(corpus.n_items)
    if isinstance(selection, str):
        if selection == "own":
            return own_pairs(corpus, questions)
        if selection == "all":
            return crossed(items, training.known, training.names)
        raise DataError(
            "annotators must be 'own', 'all', a list of names or of (item, annotator) pairs, "
            f"not {selection!r}"
        )
    selected = list(selection)
    if selected and not isinstance(selected[0], str):
        item, annotators = zip(*selected, strict=True)
        names, annotator = Names.encode([str(name) for name in annotators])
        return Pairs(corpus.items.codes([str(i) for i in item], "item"), annotator, names)
    return crossed(items, np.arange(len(selected)), Names(selected))


def consensus_pairs(
    n_items: int, own: Pairs | None, training: TrainingAnnotators, unknown: Unknown
) -> tuple[Pairs, np.ndarray]:
    """The pairs whose answers make up each item's, sorted by item, and their training codes.

    Args:
        own: each item with its own annotators. Items that are not among them, or all items if
            None, take all annotators with an answer in training.
        unknown: "mean", "nearest" and "attributes" keep own annotators without an answer in
            training (code below 0); otherwise they are left out.
    """
    if own is None or not len(own):
        pairs = crossed(np.arange(n_items), training.known, training.names)
        return pairs, pairs.annotator
    own, code = training.codes(own, unknown if unknown in KEPT else "drop")
    rest = np.setdiff1d(np.arange(n_items), own.item)
    others = crossed(rest, training.known, training.names)
    item, code = np.r_[own.item, others.item], np.r_[code, others.annotator]
    order = np.argsort(item, kind="stable")
    return Pairs(item[order], code[order], training.names), code[order]
