"""Encoders with a table of vectors; `words:PATH` reads one of GloVe, word2vec or fastText."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import re
import unicodedata
import zlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import torch
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.store import Prepared
from dissensus.errors import DataError, listed
from dissensus.files.plain import check_read, open_plain, unpacking_up_to

ENDINGS = (".txt", ".vec", ".gz")
LINES = 4096  # read at a time
LONGEST = 1 << 20  # bytes of a line


class TableNetwork(EncoderNetwork):
    """Looks up each unit in a table."""

    def __init__(self, table: np.ndarray) -> None:
        super().__init__()
        n_units, self.width = table.shape
        self.table = nn.Embedding(n_units, self.width, _weight=torch.from_numpy(table))

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.table(units)
        return vectors

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.table]


class TableEncoder(NeuralEncoder):
    """A vector per word or character of a text.

    A text without any has one position, the unit `nothing` with an empty place. Texts that are read
    together are concatenated; a place is then the number of the text, and characters in it.
    """

    max_length: int
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    units_per_batch: ClassVar[int] = 1 << 15

    @property
    @abstractmethod
    def nothing(self) -> int | np.ndarray:
        """The unit of a text without words or characters."""

    @abstractmethod
    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The units of a text, (n_units, ...), and their places in characters, (n_units, 2)."""

    def prepare(self, contents: Contents) -> Prepared:
        together = pa.types.is_list(contents.values.type)
        read = self._units_of_texts if together else self._units_of_text
        pairs = [read(value) for value in contents.values.to_pylist()]
        lengths = np.array([len(units) for units, _ in pairs], dtype=np.int64)
        offsets = np.r_[0, np.cumsum(lengths.clip(max=self.max_length))]
        no_units = np.zeros((0, *np.shape(self.nothing)), np.int32)
        no_places = np.zeros((0, 2 if together else 1, 2), np.float32)
        return Prepared(
            np.concatenate([no_units, *(units[: self.max_length] for units, _ in pairs)]),
            offsets,
            np.concatenate([no_places, *(places[: self.max_length] for _, places in pairs)]),
            offsets,
            lengths > self.max_length,
        )

    def _units_of_text(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        units, places = self.pieces(text)
        if not len(units):
            return np.array([self.nothing], np.int32), np.zeros((1, 1, 2), np.float32)
        return units.astype(np.int32), places[:, None].astype(np.float32)

    def _units_of_texts(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        pairs = [self.pieces(text) for text in texts]
        units = np.concatenate([of_text for of_text, _ in pairs])
        if not len(units):
            return np.array([self.nothing], np.int32), np.zeros((1, 2, 2), np.float32)
        number = np.repeat(np.arange(len(pairs)), [len(of_text) for of_text, _ in pairs])
        text = np.stack([number, number + 1], axis=1)
        characters = np.concatenate([places for _, places in pairs])
        places = np.stack([text, characters], axis=1)  # (n_units, 2, 2)
        return units.astype(np.int32), places.astype(np.float32)


@dataclass(frozen=True)
class WordsEncoder(TableEncoder):
    """One vector per word or punctuation mark, from a table of word vectors.

    A text is split at spaces. A piece that is not in the file is split into words, punctuation
    marks and other symbols; a word that is not in the file is split into the parts of a contraction
    (do + n't). A piece is looked up as written, then in lower case. All unknown pieces share one
    vector, which starts as zeros; `unknown` counts them. The number of a word is its line in the
    file, so it is the same in training and in prediction.

    Args:
        name: path of a text file: a word and its numbers per line, with or without word2vec's
            first line; it ends in .txt, .vec or .gz.
        max_length: the most words that are read; longer texts are truncated.
        max_unpacked: the size that a .gz may unpack to, such as "8GB"; if left out, 200 times its
            own size, but at least 2 GB.
    """

    name: str
    max_length: int = 256
    max_unpacked: str = ""

    def __post_init__(self) -> None:
        if not self.name.endswith(ENDINGS):
            raise DataError(
                f"{self.name}: a file of word vectors ends in {', '.join(ENDINGS)}; "
                "it is named as words:PATH"
            )

    @property
    def identity(self) -> str:
        return json.dumps(["words", self._path.name, self._revision, self.max_length])

    @property
    def _path(self) -> Path:
        return Path(self.name).expanduser()

    @cached_property
    def _revision(self) -> str:
        try:
            with open_plain(self._path) as file:
                return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{self._path}: {error.strerror or error}") from None

    @cached_property
    def _file(self) -> tuple[dict[str, int], np.ndarray]:
        """The number of each word, and the table; its last row is for unknown words."""
        words, table = read_vectors(self._path, self.max_unpacked)
        numbers: dict[str, int] = {}
        for number, word in enumerate(words):
            numbers.setdefault(word, number)  # the first line of a word counts
        return numbers, table

    @property
    def nothing(self) -> int:
        return len(self.table) - 1

    @property
    def table(self) -> np.ndarray:
        """The vectors of the file, (n_words + 1, width); the last row is for unknown words."""
        return self._file[1]

    def load(self) -> EncoderNetwork:
        return TableNetwork(self.table)

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        pieces = list(self._pieces(text, 0, _patterns()))
        units = [number for number, _, _ in pieces]
        places = [(first, last) for _, first, last in pieces]
        return np.array(units, np.int32), np.array(places, np.float32).reshape(-1, 2)

    def unknown(self, contents: Contents) -> Counter[str]:
        """The pieces of the contents that are not in the file, and how often each occurs."""
        texts = contents.values
        if pa.types.is_list(texts.type):
            texts = texts.flatten()
        return Counter(
            text[first:last]
            for text in texts.to_pylist()
            for number, first, last in self._pieces(text, 0, _patterns())
            if number == self.nothing
        )

    def unknown_note(self, contents: Contents) -> str | None:
        return self.note_on(self.unknown(contents))

    def note_on(self, unknown: Counter[str]) -> str | None:
        """A note on words without a vector, if there are any."""
        if not unknown:
            return None
        most_frequent = listed([word for word, _ in unknown.most_common()], 5)
        return f"{unknown.total()} words have no vector in {self._path.name}: {most_frequent}"

    def _pieces(
        self, text: str, start: int, patterns: tuple[re.Pattern[str], ...]
    ) -> Iterator[tuple[int, int, int]]:
        """Number and place of each piece by the first pattern; unknown pieces by the next one."""
        for match in patterns[0].finditer(text):
            number = self.number(match[0])
            if number == self.nothing and len(patterns) > 1:
                yield from self._pieces(match[0], start + match.start(), patterns[1:])
            else:
                yield number, start + match.start(), start + match.end()

    def number(self, word: str) -> int:
        """The line of a word in the file, or the row of unknown words."""
        numbers = self._file[0]
        if word in numbers:
            return numbers[word]
        plain = unicodedata.normalize("NFC", word).replace("’", "'").lower()
        return numbers.get(plain, self.nothing)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Runs without spaces; words and symbols in them; the parts of a contraction."""
    marks = "".join(
        map(chr, (c for c in range(0x300, 0x20000) if unicodedata.category(chr(c))[0] == "M"))
    )
    word = rf"\w[\w{marks}]*"
    symbol = rf"[^\w\s][{marks}\U0001f3fb-\U0001f3ff]*"  # with accents, skin tones
    ending = r"n['’]t$|['’]\w+$"
    return (
        re.compile(r"\S+"),
        re.compile(rf"{word}(?:['’]{word})*|{symbol}(?:\u200d{symbol})*"),  # joined: 👩‍🚀
        re.compile(rf"{ending}|.+?(?={ending}|$)", re.IGNORECASE | re.DOTALL),
    )


# ---- the file ----


def read_vectors(path: Path, max_unpacked: str = "") -> tuple[list[str], np.ndarray]:
    """The words of a file, and a table of their vectors with a last row of zeros.

    Args:
        max_unpacked: as for `WordsEncoder`.
    """
    words: list[str] = []
    rows: list[np.ndarray] = []
    announced: list[int] = []  # in word2vec's first line: the number of words, and the width
    width = 0
    with unpacking_up_to(max_unpacked or None):
        for number, lines in _blocks(path):
            if number == 1:
                fields = lines[0].split(b" ")
                if len(fields) == 2 and all(field.isdigit() for field in fields):
                    announced = [int(field) for field in fields]
                number, lines = (2, lines[1:]) if announced else (1, lines)
                width = announced[1] if announced else lines[0].count(b" ")
            if not width:
                break
            pairs = [_split(path, number + i, line, width) for i, line in enumerate(lines)]
            words += [word for word, _ in pairs]
            rows.append(_numbers(path, number, [numbers for _, numbers in pairs], width))
    if not words:
        raise DataError(f"{path}: no word vectors; each line must be a word and its numbers")
    if announced and announced[0] != len(words):
        raise DataError(
            f"{path}: the first line announces {announced[0]} words, {len(words)} follow; "
            "is the file complete?"
        )
    return words, np.concatenate([*rows, np.zeros((1, width), np.float32)])


def _blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines, each with the number of its first line."""
    is_gzip = path.name.endswith(".gz")
    number = 1
    try:
        with open_plain(path) as packed, gzip.open(packed) if is_gzip else packed as file:
            n_packed, n_read = path.stat().st_size, 0
            every = iter(partial(file.readline, LONGEST), b"")
            while lines := list(itertools.islice(every, LINES)):
                n_read += sum(map(len, lines))
                if is_gzip:
                    check_read(path, n_read, n_packed, f"{path}:max_unpacked={{}}")
                if any(len(line) == LONGEST for line in lines):
                    raise DataError(f"{path}: a line is too long for a file of word vectors")
                yield number, [line.rstrip(b" \r\n") for line in lines]
                number += len(lines)
    except (EOFError, zlib.error):
        raise DataError(f"{path}: ends in the middle; is the file complete?") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def _split(path: Path, number: int, line: bytes, width: int) -> tuple[str, bytes]:
    """A word, which may contain spaces, and its numbers."""
    if line.count(b" ") == width:
        word, _, numbers = line.partition(b" ")
    else:
        fields = line.rsplit(b" ", width)
        if len(fields) <= width:
            raise DataError(
                f"{path}, line {number}: {len(fields) - 1} numbers after the word, "
                f"other lines have {width}"
            )
        word, numbers = fields[0], b" ".join(fields[1:])
    try:
        return word.decode(), numbers
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {number}: {word!r} is not UTF-8") from None


def _numbers(path: Path, number: int, lines: list[bytes], width: int) -> np.ndarray:
    """The numbers of some lines, (n_lines, width); the first of them is line `number`."""
    try:
        numbers = _parsed(b"\n".join(lines).replace(b" ", b"\n"))
        if lines and np.isfinite(numbers).all():
            return numbers.reshape(-1, width)
    except pa.ArrowInvalid:
        pass  # the loop below finds the line
    for i, line in enumerate(lines):
        wrong = [field for field in line.split(b" ") if not _is_number(field)]
        if wrong:
            raise DataError(
                f"{path}, line {number + i}: {wrong[0].decode(errors='replace')!r} is not a number"
            )
    return np.zeros((0, width), np.float32)  # no lines after the header


def _parsed(column: bytes) -> np.ndarray:
    """One number per line; Arrow's CSV reader is a fast parser of numbers."""
    table = csv.read_csv(
        pa.BufferReader(column),
        csv.ReadOptions(column_names=["number"]),
        csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        csv.ConvertOptions(column_types={"number": pa.float32()}, null_values=[]),
    )
    return table["number"].to_numpy()


def _is_number(field: bytes) -> bool:
    try:
        return bool(np.isfinite(float(field)))
    except ValueError:
        return False
