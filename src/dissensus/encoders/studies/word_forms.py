"""The encoder `word-forms`, or `word-forms:PATH`: how a word and a form of it differ."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import Encoder
from dissensus.encoders.framework.store import Store
from dissensus.encoders.studies.vocabulary import Vocabulary
from dissensus.errors import DataError

REVISION = 1
LONGEST_AFFIX, OTHER = 6, "..."  # letters; what stands for whatever is no affix
SIGNS = 24  # numbers that a letter or an ending becomes


@dataclass(frozen=True)
class WordFormsEncoder(Encoder):
    """One vector per pair of a word and a form of it, such as its stem, read together.

    It holds what is common to both, what is cut off and put on, and their last letters; with a
    file of word vectors also how rare both are, how near in meaning, and which other known words
    the word may come from. It sees nothing but the two texts. A letter, and what is cut off and put
    on, is a row of signs that look random but are the same everywhere: networks see rare ones
    as clearly as common ones. Known words are sought by endings of English.

    Args:
        vectors: path of a file of word vectors (as `words:PATH` reads), the most frequent word
            first, as whole as can be: what it lacks counts as no word. None if left out.
    """

    vectors: str = ""
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    @property
    def name(self) -> str:
        return f"word-forms:{self.vectors}" if self.vectors else "word-forms"

    @cached_property
    def identity(self) -> str:
        if not self.vectors:
            return json.dumps(["word-forms", REVISION])
        try:
            with self._path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{self._path}: {error.strerror or error}") from None
        return json.dumps(["word-forms", REVISION, self._path.name, digest])

    @property
    def _path(self) -> Path:
        return Path(self.vectors).expanduser()

    @cached_property
    def _vocabulary(self) -> Vocabulary | None:
        return Vocabulary.read(self._path) if self.vectors else None

    def encode(self, contents: Contents) -> Store:
        pairs = _pairs(contents.values)
        rows = [vector(described(word, form, self._vocabulary)) for word, form in pairs]
        return Store.of_vectors(np.array(rows, dtype=np.float32))


def _pairs(values: Any) -> list[list[str]]:
    together = pa.types.is_list(values.type)
    pairs: list[list[str]] = values.to_pylist()
    n_texts = {len(pair) for pair in pairs} if together else {1}
    if n_texts - {2}:
        raise DataError(
            f"encoder 'word-forms' reads two texts together, found {max(n_texts - {2})}; name "
            "their roles, as in word+stem=word-forms"
        )
    return pairs


# ---- a pair as numbers ----

Described = dict[str, float | str]  # a number, or a piece of text that is one of many


def described(word: str, form: str, vocabulary: Vocabulary | None = None) -> Described:
    """What is to be seen of a pair, by name: numbers, and pieces of text.

    Example:
        >>> found = described("stopped", "stop")
        >>> found["letters cut off"], found["a doubled letter is cut"], found["change"]
        (3, True, 'ped>')
    """
    plain_word, plain_form = _plain(word), _plain(form)
    found = {
        **_shape(plain_word, form),
        **_change(plain_word, plain_form),
        **_letters(plain_word, plain_form),
    }
    if vocabulary is not None:
        found |= _known(plain_word, plain_form, vocabulary)
        found |= _instead(plain_word, plain_form, vocabulary)
    return found


def vector(pair: Described) -> np.ndarray:
    """Numbers first, then the signs of each piece of text; what is unknown (nan) is 0."""
    numbers = [value for value in pair.values() if not isinstance(value, str)]
    pieces = [(name, value) for name, value in pair.items() if isinstance(value, str)]
    signs = [_signs(name, value) for name, value in pieces]
    return np.concatenate([np.nan_to_num(np.array(numbers, np.float64)), *signs])


@cache
def _signs(name: str, value: str) -> np.ndarray:
    """-1 and 1 by chance, but always the same, (SIGNS,)."""
    digest = hashlib.sha256(f"{name}={value}".encode()).digest()
    return np.unpackbits(np.frombuffer(digest, np.uint8), count=SIGNS) * 2.0 - 1


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _plain(text: str) -> str:
    return _folded(text).strip()


def _shape(word: str, form: str) -> Described:
    """How long both are, and how the form is written."""
    common, stripped = _common(word, _plain(form)), form.strip()
    return {
        "letters of the word": len(word),
        "letters of the form": len(form),
        "common letters": common,
        "common share": common / max(len(word), 1),
        "letters cut off": len(word) - common,
        "the same": word == _folded(form),
        "the form is in capitals": form.isupper(),  # such as DELETED, for a word that is none
        "the form has a blank": " " in form,
        "edits": edits(word, _folded(form)),
        "the form begins or ends with a blank": form != stripped,
        "the form has a blank inside": " " in stripped,
        "the form is empty": not stripped,
        "vowels of the form": sum(letter in "aeiouy" for letter in _plain(form)),
    }


def _change(word: str, form: str) -> Described:
    """What is cut off and put on, at the end or at the beginning."""
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
    """A short piece as it stands; a long one is no ending, and would only tell words apart."""
    return piece if len(piece) <= LONGEST_AFFIX else OTHER


def _letters(word: str, form: str) -> Described:
    """The last letters of both, and those where they part; empty where there is none."""
    common = _common(word, form)
    return {
        **{f"letter {-n} of the word": word[::-1][n - 1 : n] for n in range(1, 5)},
        **{f"letter {-n} of the form": form[::-1][n - 1 : n] for n in range(1, 4)},
        "last common letter": word[:common][-1:],
        "first letter cut off": word[common : common + 1],
        "first letter put on": form[common : common + 1],
    }


# ---- what a vocabulary adds ----


def _known(word: str, form: str, known: Vocabulary) -> Described:
    """How rare both are, and how near in meaning; of a form in parts, each part."""
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


def _instead(word: str, form: str, known: Vocabulary) -> Described:
    """Other words that the word may come from, made of the word alone, and what the form itself
    may come from."""
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


def _base(name: str, base: str, word: str, known: Vocabulary) -> Described:
    return {
        **_likeness(name, known.likeness(word, base)),
        f"rarity of the {name}": known.rarity(base),
        f"letters of the {name}": len(base),
    }


def _likeness(name: str, value: float) -> Described:
    return {f"likeness of {name}": value, f"likeness of {name} is known": not math.isnan(value)}


# ---- letters ----


def _common(first: str, second: str) -> int:
    """Letters that both begin with."""
    together = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], together))


def edits(first: str, second: str) -> int:
    """Letters to be put in, taken out or changed to make one text the other (Levenshtein).

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
