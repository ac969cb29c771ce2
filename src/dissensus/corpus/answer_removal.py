"""Random removal of answers and of their rationales."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.corpus.parts import Rationales


def pairs_of(item: np.ndarray, annotator: np.ndarray) -> np.ndarray:
    """One number per pair of item and annotator."""
    return item.astype(np.int64) << 32 | annotator.astype(np.int64)


def pair_of(annotations: Annotations) -> np.ndarray | None:
    """One number per pair of item and annotator; None if annotators are unknown."""
    annotator = annotations.annotator
    return None if annotator is None else pairs_of(annotations.item, annotator)


def response_of(annotations: Annotations) -> np.ndarray | None:
    """The responses of anonymous answers; None if there are none."""
    known = annotations.annotator is not None or annotations.count is not None
    return None if known else annotations.response


def dropped_keys(
    questions: dict[str, Annotations],
    key_of: Callable[[Annotations], np.ndarray | None],
    share: float,
    seed: int,
) -> np.ndarray:
    """The keys to drop: this share of every annotator's keys, the same for all questions."""
    every = [key for a in questions.values() if (key := key_of(a)) is not None]
    if not every:
        return np.zeros(0, np.int64)
    keys = np.unique(np.concatenate(every))
    owner = keys & 0xFFFFFFFF if key_of is pair_of else np.zeros(len(keys), np.int64)
    order = np.lexsort((_random_numbers(keys, seed), owner))  # by annotator, then at random
    n = np.bincount(owner)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(n) - n, n)
    return keys[order[rank < np.round(share * n)[owner[order]]]]


def thinned(annotations: Annotations, share: float, seed: int) -> Annotations:
    """Anonymous answers without this share of them."""
    generator = np.random.default_rng(seed)
    if annotations.count is not None:
        left = annotations.count - generator.binomial(annotations.count, share)
        return replace(annotations, count=left).take(left > 0)
    n_dropped = round(share * annotations.n_rows)
    return annotations.take(np.sort(generator.permutation(annotations.n_rows)[n_dropped:]))


def _random_numbers(keys: np.ndarray, seed: int) -> np.ndarray:
    """A random number per key that does not depend on the other keys."""
    with np.errstate(over="ignore"):
        x = keys.astype(np.uint64) + np.uint64(seed + 1) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
    return x ^ (x >> np.uint64(31))


def of_answers(
    rationales: Rationales | None, before: dict[str, Annotations], after: dict[str, Annotations]
) -> Rationales | None:
    """The rationales without those whose answer was dropped."""
    if rationales is None:
        return None
    pair = np.where(rationales.annotator < 0, -1, pairs_of(rationales.item, rationales.annotator))
    gone = np.zeros(len(rationales), bool)
    for question, answers in before.items():
        had, has = pair_of(answers), pair_of(after[question])
        if had is not None and has is not None:
            about = np.asarray(pc.equal(rationales.question, question))
            gone |= about & np.isin(pair, np.setdiff1d(had, has))
    return rationales.take(~gone)
