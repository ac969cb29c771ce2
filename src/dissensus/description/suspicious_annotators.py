"""Suspicious annotators: always the same answer, too fast, or the same answers as another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.description.texts import value_text

FEW = 10  # annotators with fewer answers are not checked


@dataclass(frozen=True)
class Constant:
    """An annotator who always gave the same answer."""

    annotator: str
    value: str
    answers: int
    chance: float  # of giving only this value when drawing from all answers


@dataclass(frozen=True)
class Fast:
    """An annotator whose median answer took less than a third of the usual time."""

    annotator: str
    answers: int
    seconds: float  # the annotator's median
    usual: float  # the median annotator's


@dataclass(frozen=True)
class Duplicated:
    """Annotators who gave exactly the same answers to exactly the same items."""

    annotators: list[str]
    answers: int


@dataclass(frozen=True, eq=False)
class AnswersByAnnotator:
    """The rows of a question, sorted by annotator."""

    annotations: Annotations
    order: np.ndarray  # (n_rows,) rows, one annotator after another
    starts: np.ndarray  # (n_with_answers,) where each begins in `order`
    codes: np.ndarray  # (n_with_answers,) annotators with answers
    sizes: np.ndarray  # (n_with_answers,) their answers

    @classmethod
    def of(cls, annotations: Annotations) -> AnswersByAnnotator | None:
        """None if annotators are unknown."""
        if annotations.annotator is None:
            return None
        order = np.argsort(annotations.annotator, kind="stable")
        codes, starts, sizes = np.unique(
            annotations.annotator[order], return_index=True, return_counts=True
        )
        return cls(annotations, order, starts, codes, sizes)

    def name(self, place: Any) -> str:
        return str(self.annotations.annotators[self.codes[place]])

    def constant(self) -> list[Constant]:
        """Annotators who gave one value only, the least likely by chance first."""
        if not len(self.codes):
            return []
        values, code = np.unique(self.annotations.answer, return_inverse=True)
        code = code.reshape(-1)
        share = np.bincount(code) / len(code)
        sorted_codes = code[self.order]
        low = np.minimum.reduceat(sorted_codes, self.starts)
        high = np.maximum.reduceat(sorted_codes, self.starts)
        chance = share[low] ** self.sizes
        odd = np.flatnonzero((low == high) & (self.sizes >= FEW))
        odd = odd[np.argsort(chance[odd], kind="stable")]
        names = self.annotations.scale.decode(values[low[odd]])
        return [
            Constant(self.name(p), value_text(v), int(self.sizes[p]), float(chance[p]))
            for p, v in zip(odd, names, strict=True)
        ]

    def fast(self) -> list[Fast]:
        """Annotators with a median time below a third of the usual one, the fastest first."""
        seconds = self.annotations.seconds
        if seconds is None:
            return []
        timed = self.annotations.take(np.isfinite(seconds))
        annotator, seconds = timed.annotator_codes("times"), timed.seconds
        assert seconds is not None
        seconds = seconds[np.lexsort((seconds, annotator))]
        size = np.bincount(annotator, minlength=timed.n_annotators)
        first = np.cumsum(size) - size
        enough = np.flatnonzero(size >= FEW)
        if not enough.size:
            return []
        low = seconds[first[enough] + (size[enough] - 1) // 2]
        high = seconds[first[enough] + size[enough] // 2]
        median = (low + high) / 2
        usual = float(np.median(median))
        odd = np.flatnonzero(median < usual / 3)
        return [
            Fast(timed.annotators[enough[p]], int(size[enough[p]]), float(median[p]), usual)
            for p in odd[np.argsort(median[odd], kind="stable")]
        ]

    def duplicated(self) -> list[Duplicated]:
        """Groups that gave the same answers to the same items, the largest sets first.

        Annotators are compared by the sum of a 64-bit hash of their (item, answer) rows, so that no
        pairs of annotators are compared; a mistake needs a collision of about one in 10^19.
        """
        if not len(self.codes):
            return []
        values, code = np.unique(self.annotations.answer, return_inverse=True)
        pair = self.annotations.item.astype(np.int64) * len(values) + code.reshape(-1)
        total = np.add.reduceat(_hash(pair)[self.order], self.starts)  # wraps around
        many = np.flatnonzero(self.sizes >= FEW)
        _, group = np.unique(total[many], return_inverse=True)
        members = np.bincount(group)
        shared = many[members[group] > 1]
        shared = shared[np.argsort(total[shared], kind="stable")]
        cuts = np.flatnonzero(np.diff(total[shared])) + 1
        groups = np.split(shared, cuts) if shared.size else []
        groups.sort(key=lambda group: (-int(self.sizes[group[0]]), int(group[0])))
        return [Duplicated([self.name(p) for p in g], int(self.sizes[g[0]])) for g in groups]


def _hash(numbers: np.ndarray) -> np.ndarray:
    """Numbers as 64 random bits each (splitmix64)."""
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))
