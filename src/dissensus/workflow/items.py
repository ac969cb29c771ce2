"""Items with and without answers, a part of them, and those whose contents can be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders import encodings, without_unreadable
from dissensus.errors import DataError, counted


def with_answers(corpus: Corpus) -> Corpus:
    """The items that somebody answered."""
    bare = without_answers(corpus)
    return corpus if bare is None else corpus.without(items=list(bare.items))


def without_answers(corpus: Corpus) -> Corpus | None:
    """The items that nobody answered, to be predicted; None if there are none."""
    answered = np.zeros(corpus.n_items, dtype=bool)
    for answers in corpus.questions.values():
        answered |= answers.per_item() > 0
    return None if answered.all() else corpus.select(items=np.flatnonzero(~answered))


def to_predict(corpus: Corpus) -> tuple[Corpus | None, list[str]]:
    """The items without answers whose contents can be predicted, and a line on the others."""
    bare = without_answers(corpus)
    if bare is None:
        return None, []
    there = np.zeros(bare.n_items, dtype=bool)
    for codes in bare.content.values():
        there |= codes >= 0
    lines = []
    if not there.all():
        missing = counted(int((~there).sum()), "item")
        lines = [f"{missing} without answers and without contents cannot be predicted"]
    return (bare.select(items=there) if there.any() else None), lines


def without_unreadable_contents(corpus: Corpus, encoder: str | None) -> tuple[Corpus, list[str]]:
    """The corpus without items whose image, audio or video cannot be read, and a line on these.

    If none can be read, the corpus without contents.
    """
    if {contents.kind for contents in corpus.contents.values()} <= {"text", "features"}:
        return corpus, []
    try:
        readable, lines = without_unreadable(corpus, encodings(corpus, encoder or "auto"))
        return readable, list(lines)
    except DataError as error:
        answers = replace(corpus, contents={}, content={}, focus=None)
        return answers, [f"{error}; the report is on the answers alone"]


def part_of(corpus: Corpus, n_items: int) -> Corpus:
    """So many items of a corpus, drawn at random; the corpus itself if these are all."""
    if n_items >= corpus.n_items:
        return corpus
    return corpus.select(items=np.sort(drawn_items(corpus, n_items)))


def drawn_items(corpus: Corpus, n_items: int) -> np.ndarray:
    """The codes of so many items, drawn at random; fewer are the first of these."""
    return np.random.default_rng(0).permutation(corpus.n_items)[:n_items]
