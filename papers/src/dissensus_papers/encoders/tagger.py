"""The encoder `tagger:PATH`: Bi-LSTMs over words and over their characters, not pretrained."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn

from dissensus.contents import Contents
from dissensus.encoders import EncoderNetwork, TableEncoder, UntrainedEncoder, WordsEncoder
from dissensus_papers.encoders.characters import CharactersEncoder, UntrainedNetwork, first_values

CHARACTERS = 50  # of a word that are read
STATE = 256  # width of the state of an LSTM, in each direction
UNKNOWN = 4096  # rows that words share that are not in the file


class _BothWays(nn.Module):
    """The two directions of a Bi-LSTM, as separate LSTMs."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.forth = nn.LSTM(width, STATE, batch_first=True)
        self.back = nn.LSTM(width, STATE, batch_first=True)


def _table(rows: np.ndarray) -> nn.Embedding:
    n_rows, width = rows.shape
    return nn.Embedding(n_rows, width, _weight=torch.from_numpy(rows.copy()))


class TaggerNetwork(UntrainedNetwork):
    """The outputs of both Bi-LSTMs at each word: (n_contents, length, 1 + 50) to 1,024 numbers."""

    drawn = (nn.LSTM,)
    stackable: ClassVar[bool] = False  # vmap does not support LSTMs
    key: Tensor

    def __init__(self, words: np.ndarray, characters: np.ndarray) -> None:
        super().__init__()
        self.width = 4 * STATE
        self.words, self.characters = _table(words), _table(characters)
        self.of_words = _BothWays(words.shape[1])
        self.of_characters = _BothWays(characters.shape[1])
        odd = np.random.default_rng(0).integers(1 << 62, size=CHARACTERS) * 2 + 1
        self.register_buffer("key", torch.from_numpy(odd), persistent=False)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        # each sentence is reversed by itself, so that the backward LSTM starts at its last word,
        # not in the padding
        words = self.words(units[..., 0])
        at, last = torch.arange(words.shape[1], device=words.device), lengths[:, None] - 1
        reverse = torch.where(at <= last, last - at, at).unsqueeze(2)  # (n_contents, length, 1)
        forth, _ = self.of_words.forth(words)
        back, _ = self.of_words.back(words.gather(1, reverse.expand_as(words)))
        sentences = [forth, back.gather(1, reverse.expand_as(back))]
        # the distinct spellings, compared by hashes of 64 bits, and the spelling of each word
        spelled = units[..., 1:].flatten(0, 1).long()
        key = (spelled * self.key).sum(dim=1)
        keys, which = torch.unique(key, return_inverse=True)
        one = torch.zeros_like(keys).scatter_(0, which, torch.arange(len(key), device=key.device))
        characters = self.characters(spelled[one])
        # at the last of 50 characters the backward LSTM has made one step only
        _, (first, _) = self.of_characters.forth(characters)
        _, (second, _) = self.of_characters.back(characters[:, -1:].contiguous())
        of_characters = torch.cat([first[0], second[0]], dim=1)[which]
        return torch.cat([*sentences, of_characters.view(*units.shape[:2], -1)], dim=2)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.words, self.characters, self.of_words, self.of_characters]


@dataclass(frozen=True)
class TaggerEncoder(UntrainedEncoder, TableEncoder):
    """Bi-LSTMs over word vectors and over characters, as Fornaciari et al. (2021) tag words.

    A position is a word (text between spaces). Its vector joins the output of the Bi-LSTM over the
    sentence at this word and the output of the Bi-LSTM over its characters at the last of 50 (short
    words are padded with zeros): 4 x 256 numbers. Words that are not in the file share 4,096 more
    rows of the table, by a hash; these rows start as zeros. Word vectors, characters and LSTMs are
    all trained. Only the word vectors are pretrained, so `tune` must be "all".

    Differences from the paper: its word vectors were GloVe of 300 numbers and its table of
    characters was pretrained; here the backward LSTM starts at the last word of a sentence, not in
    the padding.

    Args:
        name: path of a file of word vectors, as for `words:PATH`.
        max_length: the most words that are read; longer texts are truncated.
        max_unpacked: as for `words:PATH`.

    Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), doi
    10.18653/v1/2021.naacl-main.204.
    """

    name: str
    max_length: int = 256
    max_unpacked: str = ""
    encoder_name: ClassVar[str] = "tagger"

    def __post_init__(self) -> None:
        _ = self._words  # refuses other files than word vectors

    @cached_property
    def _words(self) -> WordsEncoder:
        return WordsEncoder(self.name, max_unpacked=self.max_unpacked)

    @property
    def identity(self) -> str:
        return json.dumps(["tagger", self._words.identity, self.max_length])

    @property
    def nothing(self) -> np.ndarray:
        return self._unit("")

    def build(self) -> EncoderNetwork:
        known = self._words.table[:-1]
        unknown = np.zeros((UNKNOWN, known.shape[1]), np.float32)
        return TaggerNetwork(np.concatenate([known, unknown]), first_values())

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        matches = list(re.finditer(r"\S+", text))
        units = [self._unit(match[0]) for match in matches]
        places = [match.span() for match in matches]
        return (
            np.array(units, np.int32).reshape(-1, 1 + CHARACTERS),
            np.array(places, np.float32).reshape(-1, 2),
        )

    def _unit(self, word: str) -> np.ndarray:
        """The number of a word, and those of its characters."""
        characters, _ = CharactersEncoder().pieces(word[:CHARACTERS])
        unit = np.zeros(1 + CHARACTERS, np.int32)
        unit[0] = number = self._words.number(word)
        if number == self._words.nothing:
            unit[0] += zlib.crc32(word.lower().encode()) % UNKNOWN
        unit[1 : 1 + len(characters)] = characters
        return unit

    def unknown_note(self, contents: Contents) -> str | None:
        texts = contents.values
        if pa.types.is_list(texts.type):
            texts = texts.flatten()
        runs = Counter(run for text in texts.to_pylist() for run in re.findall(r"\S+", text))
        nothing = self._words.nothing
        unknown = {run: n for run, n in runs.items() if self._words.number(run) == nothing}
        return self._words.note_on(Counter(unknown))
