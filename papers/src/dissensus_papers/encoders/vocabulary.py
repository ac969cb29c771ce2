"""Vocabulary: the known words, how frequent they are, and how similar in meaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from dissensus.encoders.words import read_vectors

LONGEST_ENDING, SHORTEST_BASE = 6, 3  # letters


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words with their vectors, the most frequent first, as in files of word vectors.

    Example:
        >>> known = Vocabulary(["walk", "walking", "sing"], np.eye(3)[[0, 0, 1]])
        >>> known.bases("walking"), known.likeness("walking", "walk")
        (['walk'], 1.0)
    """

    words: Sequence[str]
    vectors: np.ndarray = field(repr=False)  # (n_words, width)

    @classmethod
    def read(cls, path: Path, max_unpacked: str = "") -> Vocabulary:
        """Read a file of word vectors; the arguments are those of `read_vectors`."""
        words, table = read_vectors(path, max_unpacked)
        return cls(words, table[:-1])

    @cached_property
    def _line(self) -> dict[str, int]:
        """The line of each word; the first one if a word has several."""
        return {word: number for number, word in reversed(list(enumerate(self.words)))}

    def __contains__(self, word: str) -> bool:
        return word in self._line

    def rarity(self, word: str) -> float:
        """The logarithm of a word's rank in the list, from 0; after the last word if unknown."""
        return math.log1p(self._line.get(word, len(self.words)))

    def likeness(self, first: str, second: str) -> float:
        """The cosine of two words' vectors; nan if a vector is unknown or zero."""
        if first not in self or second not in self:
            return math.nan
        a, b = (self.vectors[self._line[word]].astype(float) for word in (first, second))
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(a @ b) / lengths if lengths else math.nan

    def bases(self, word: str) -> list[str]:
        """Known words that a word may be derived from by an English ending, sorted.

        Up to six letters are removed, and nothing, e or y is appended; a doubled consonant may
        become a single one (stopped, stop).
        """
        longest = min(LONGEST_ENDING, len(word) - SHORTEST_BASE + 1)
        candidates = set()
        for cut in (word[:-n] for n in range(1, longest + 1)):
            candidates |= {cut, f"{cut}e", f"{cut}y"}
            candidates |= {cut[:-1]} if cut[-2:-1] == cut[-1:] else set()
        bases = (base for base in candidates if base != word and len(base) >= SHORTEST_BASE)
        return sorted(base for base in bases if base in self)

    def halves(self, word: str) -> tuple[float, int]:
        """The best split of a compound: the rarity of its rarer half, and where the second half
        starts. For a word that is too short: the highest rarity, and 0."""
        cuts = range(SHORTEST_BASE, len(word) - SHORTEST_BASE + 1)
        splits = [(max(self.rarity(word[:at]), self.rarity(word[at:])), at) for at in cuts]
        return min(splits, default=(self.rarity(""), 0))
