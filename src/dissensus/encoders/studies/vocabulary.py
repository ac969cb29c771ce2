"""Vocabulary: which words there are, how frequent, and how near in meaning."""

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
    """Words with their vectors, the most frequent first, as files of word vectors have them.

    Example:
        >>> known = Vocabulary(["walk", "walking", "sing"], np.eye(3)[[0, 0, 1]])
        >>> known.bases("walking"), known.likeness("walking", "walk")
        (['walk'], 1.0)
    """

    words: Sequence[str]
    vectors: np.ndarray = field(repr=False)  # (n_words, width)

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Of a file of word vectors."""
        words, table = read_vectors(path)
        return cls(words, table[:-1])

    @cached_property
    def _line(self) -> dict[str, int]:
        """Where a word stands; of two lines for one word the first counts."""
        return {word: number for number, word in reversed(list(enumerate(self.words)))}

    def __contains__(self, word: str) -> bool:
        return word in self._line

    def rarity(self, word: str) -> float:
        """The logarithm of a word's place in the list, from 0; behind the last one if unknown."""
        return math.log1p(self._line.get(word, len(self.words)))

    def likeness(self, first: str, second: str) -> float:
        """The cosine of two words' vectors; nan where a vector is unknown or zero."""
        if first not in self or second not in self:
            return math.nan
        a, b = (self.vectors[self._line[word]].astype(float) for word in (first, second))
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(a @ b) / lengths if lengths else math.nan

    def bases(self, word: str) -> list[str]:
        """Known words that a word may be derived from, by an English ending, in order.

        Up to six letters are cut off and nothing, e or y is put there; a doubled consonant may
        become one (stopped, stop).
        """
        longest = min(LONGEST_ENDING, len(word) - SHORTEST_BASE + 1)
        made = set()
        for cut in (word[:-n] for n in range(1, longest + 1)):
            made |= {cut, f"{cut}e", f"{cut}y"} | ({cut[:-1]} if cut[-2:-1] == cut[-1:] else set())
        fit = (base for base in made if base != word and len(base) >= SHORTEST_BASE)
        return sorted(base for base in fit if base in self)

    def halves(self, word: str) -> tuple[float, int]:
        """Where a compound parts best: the rarer half's rarity, and where the second begins (0,
        and as rare as can be, for a word too short to be one)."""
        cuts = range(SHORTEST_BASE, len(word) - SHORTEST_BASE + 1)
        found = [(max(self.rarity(word[:at]), self.rarity(word[at:])), at) for at in cuts]
        return min(found, default=(self.rarity(""), 0))
