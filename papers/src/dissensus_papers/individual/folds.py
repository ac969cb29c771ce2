"""Folds: which items are for training, for validation and for the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from dissensus.corpus import Corpus
from dissensus.evaluation import Fold, k_fold
from dissensus.evaluation.protocols import nested
from dissensus_papers.individual.corpora import PERSPECTIVE

SEEDS = (0, 1, 2, 3, 4)
N_FOLDS = 5
OF_AGE = 18

Folds = Callable[[Corpus], list[Fold]]


def speaker_folds(corpus: Corpus) -> list[Fold]:
    """Five folds by speaker; a fifth of the training speakers chooses the epoch."""
    folds = k_fold(corpus, N_FOLDS, by="speaker", stratify=next(iter(corpus.questions)))
    return [_with_validation(corpus, fold, "speaker") for fold in folds]


def item_folds(question: str) -> Folds:
    """Five folds by item, balanced by a question; a fifth of the training part chooses the epoch.

    Items with the same content, or of the same group, are in one part.
    """

    def folds(corpus: Corpus) -> list[Fold]:
        of_corpus = k_fold(corpus, N_FOLDS, stratify=question)
        return [_with_validation(corpus, fold, None) for fold in of_corpus]

    return folds


def adults_to_children(corpus: Corpus) -> list[Fold]:
    """Training on speakers from 18 years, test on younger ones."""
    age = corpus.item_attributes["age"].to_numpy(zero_copy_only=False)
    return [_transfer(corpus, "adults to children", age >= OF_AGE, age < OF_AGE, "speaker")]


def tasks(first: Iterable[str], second: Iterable[str]) -> Folds:
    """Training on the items of some tasks, test on those of others."""

    def folds(corpus: Corpus) -> list[Fold]:
        task = np.array(corpus.item_attributes["task"].to_pylist())
        train, test = (np.isin(task, [*some]) for some in (first, second))
        name = f"{'+'.join(first)} to {'+'.join(second)}"
        return [_transfer(corpus, name, train, test, None)]

    return folds


def perspective(train: str, test: str) -> Folds:
    """The official split of EmoBank: trained on the ratings of one perspective, tested on those of
    another."""

    def folds(corpus: Corpus) -> list[Fold]:
        whose = np.array(corpus.item_attributes[PERSPECTIVE].to_pylist())
        rated = np.zeros(corpus.n_items, dtype=bool)
        rated[corpus[next(iter(corpus.questions))].item] = True

        def part(name: str, side: str) -> np.ndarray:
            return np.flatnonzero(corpus.in_part(name) & rated & (whose == side))

        name = f"{train} to {test}"
        return [Fold(name, part("train", train), part("test", test), part("dev", train))]

    return folds


def _transfer(
    corpus: Corpus, name: str, train: np.ndarray, test: np.ndarray, by: str | None
) -> Fold:
    fold = Fold(name, np.flatnonzero(train), np.flatnonzero(test))
    return _with_validation(corpus, fold, by)


def _with_validation(corpus: Corpus, fold: Fold, by: str | None) -> Fold:
    inner = nested(corpus, fold, N_FOLDS, by=by)[0]
    return replace(fold, train=inner.train, validation=inner.test)
