"""How a word and a form of it, such as its stem, differ: features of both texts, and of a file of
word vectors. Only the pair is used, not the other forms of a word."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path

import numpy as np

from dissensus.encoders import read_vectors

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


LONGEST_AFFIX, OTHER = 6, "..."  # letters of an affix; a longer piece is "..."
SIGNS = 24  # numbers for a letter or an affix


# ---- a pair as numbers ----

PairFeatures = dict[str, float | str]  # name -> number, or a piece of text


def pair_features(word: str, form: str, vocabulary: Vocabulary | None = None) -> PairFeatures:
    """The features of a pair, by name: numbers, and pieces of text.

    Example:
        >>> features = pair_features("stopped", "stop")
        >>> features["letters cut off"], features["a doubled letter is cut"], features["change"]
        (3, True, 'ped>')
    """
    plain_word, plain_form = _folded(word).strip(), _folded(form).strip()
    features = {
        **_shape(plain_word, form),
        **_change(plain_word, plain_form),
        **_letters(plain_word, plain_form),
    }
    if vocabulary is not None:
        features |= _known(plain_word, plain_form, vocabulary)
        features |= _alternatives(plain_word, plain_form, vocabulary)
    return features


def vector(pair: PairFeatures) -> np.ndarray:
    """The numbers, then the signs of each piece of text; unknown numbers (nan) are 0."""
    numbers = [value for value in pair.values() if not isinstance(value, str)]
    pieces = [(name, value) for name, value in pair.items() if isinstance(value, str)]
    signs = [_signs(name, value) for name, value in pieces]
    return np.concatenate([np.nan_to_num(np.array(numbers, np.float64)), *signs])


@cache
def _signs(name: str, value: str) -> np.ndarray:
    """-1 and 1 from a hash, (SIGNS,)."""
    digest = hashlib.sha256(f"{name}={value}".encode()).digest()
    return np.unpackbits(np.frombuffer(digest, np.uint8), count=SIGNS) * 2.0 - 1


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _shape(word: str, form: str) -> PairFeatures:
    """The lengths of both, and how the form is written."""
    common, stripped = _common(word, _folded(form).strip()), form.strip()
    return {
        "letters of the word": len(word),
        "letters of the form": len(form),
        "common letters": common,
        "common share": common / max(len(word), 1),
        "letters cut off": len(word) - common,
        "the same": word == _folded(form),
        "the form is in capitals": form.isupper(),  # such as DELETED, for what is not a word
        "the form has a blank": " " in form,
        "edits": edits(word, _folded(form)),
        "the form begins or ends with a blank": form != stripped,
        "the form has a blank inside": " " in stripped,
        "the form is empty": not stripped,
        "vowels of the form": sum(letter in "aeiouy" for letter in _folded(form).strip()),
    }


def _change(word: str, form: str) -> PairFeatures:
    """What is removed and appended, at the end or at the beginning."""
    common = _common(word, form)
    cut, added = word[common:], form[common:]
    beginning = word.removesuffix(form) if form and word.endswith(form) else ""
    return {
        "letters put on": len(added),
        "letters lost": len(cut) - len(added),
        "common letters at the end": _common(word[::-1], form[::-1]),
        "only a beginning is cut off": bool(beginning),
        "the word in parts": form != word and "".join(form.split()) == word,
        "a doubled letter is cut": 0 < common and len(cut) > 1 and cut[0] == word[common - 1],
        "change": f"{_affix(cut)}>{_affix(added)}" if common else OTHER,
        "beginning": _affix(beginning),
    }


def _affix(piece: str) -> str:
    """A short piece unchanged; a long one is no affix, and would only identify the word."""
    return piece if len(piece) <= LONGEST_AFFIX else OTHER


def _letters(word: str, form: str) -> PairFeatures:
    """The last letters of both, and the letters where they begin to differ; empty if there are
    none."""
    common = _common(word, form)
    return {
        **{f"letter {-n} of the word": word[::-1][n - 1 : n] for n in range(1, 5)},
        **{f"letter {-n} of the form": form[::-1][n - 1 : n] for n in range(1, 4)},
        "last common letter": word[:common][-1:],
        "first letter cut off": word[common : common + 1],
        "first letter put on": form[common : common + 1],
    }


# ---- features from a vocabulary ----


def _known(word: str, form: str, known: Vocabulary) -> PairFeatures:
    """How rare both are, and how similar in meaning; for a form in parts, of each part."""
    parts = form.split()
    rarities = [known.rarity(part) for part in parts] or [known.rarity(form)]
    near = [known.likeness(word, part) for part in parts]
    near = [value for value in near if not math.isnan(value)]
    return {
        "rarity of the word": known.rarity(word),
        "rarity of the form": known.rarity(form),
        "the form is rarer by": known.rarity(form) - known.rarity(word),
        **_likeness("the form", known.likeness(word, form)),
        "rarity of the rarest part": max(rarities),
        "rarity of the commonest part": min(rarities),
        "likeness of the nearest part": max(near, default=math.nan),
        "likeness of the farthest part": min(near, default=math.nan),
        "rarity of the word with s": known.rarity(f"{word}s"),
        "rarity of the form with s": known.rarity(f"{form}s"),
        "rarity of the form with e": known.rarity(f"{form}e"),
    }


def _alternatives(word: str, form: str, known: Vocabulary) -> PairFeatures:
    """Other words that the word may be derived from, and words that the form may be derived
    from."""
    others = [base for base in known.bases(word) if base != form]
    further = known.bases(form)
    rarity, at = known.halves(word)
    return {
        **_base("nearest other base", _nearest(word, others, known), word, known),
        **_base("commonest other base", min(others, key=known.rarity, default=""), word, known),
        "other bases": len(others),
        **_base("base of the form", _nearest(form, further, known), form, known),
        "bases of the form": len(further),
        "rarity of the word's rarer half": rarity,
        "where the word parts": at,
    }


def _nearest(word: str, bases: list[str], known: Vocabulary) -> str:
    near = {base: known.likeness(word, base) for base in bases}
    return max(bases, key=lambda base: np.nan_to_num(near[base], nan=-2), default="")


def _base(name: str, base: str, word: str, known: Vocabulary) -> PairFeatures:
    return {
        **_likeness(name, known.likeness(word, base)),
        f"rarity of the {name}": known.rarity(base),
        f"letters of the {name}": len(base),
    }


def _likeness(name: str, value: float) -> PairFeatures:
    return {f"likeness of {name}": value, f"likeness of {name} is known": not math.isnan(value)}


# ---- letters ----


def _common(first: str, second: str) -> int:
    """The number of letters that both begin with."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def edits(first: str, second: str) -> int:
    """Letters to insert, delete or replace to turn one text into the other (Levenshtein).

    Example:
        >>> edits("flew", "fly")
        2
    """
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        current = [row]
        for column, other in enumerate(second, start=1):
            changed = above[column - 1] + (letter != other)
            current.append(min(changed, above[column] + 1, current[-1] + 1))
        above = current
    return above[-1]
