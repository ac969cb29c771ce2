"""Encoders of characters: a table, and networks over windows of them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.contents import Contents
from dissensus.encoders import (
    EncoderNetwork,
    Prepared,
    TableEncoder,
    TableNetwork,
    UntrainedEncoder,
)
from dissensus.errors import ModelError
from dissensus.networks import AttentionBlock, Dropout, Norm

OWN = 256  # code points below have their own row: ASCII and Latin-1
SHARED = 256  # rows that all other code points share
N_CHARACTERS = OWN + SHARED
WIDTH = 64


@dataclass(frozen=True)
class CharactersEncoder(TableEncoder):
    """One vector of 64 numbers per character (code point) of a text.

    The table has 512 rows: one each for ASCII and Latin-1, the other 256 shared by all further
    characters, by code point modulo 256. Its first values are random but always the same. Frozen,
    they only distinguish characters; with `tune`, they are trained.

    Args:
        max_length: the most characters that are read; longer texts are truncated.
    """

    max_length: int = 1024
    cached: ClassVar[bool] = False  # the table is faster than the cache

    @property
    def identity(self) -> str:
        return json.dumps(["characters", self.max_length])

    @property
    def nothing(self) -> int:
        return 0  # a character that no text contains

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        points = np.frombuffer(text.encode("utf-32-le"), np.dtype("<u4"))
        at = np.arange(len(points))
        units = np.where(points < OWN, points, OWN + points % SHARED)
        return units, np.stack([at, at + 1], axis=1)

    def load(self) -> EncoderNetwork:
        return TableNetwork(first_values())


def first_values() -> np.ndarray:
    """Uniform numbers with variance 1 / width, from a hash: the same in every version of numpy."""
    size = N_CHARACTERS * WIDTH
    drawn = np.frombuffer(hashlib.shake_256(b"characters").digest(2 * size), np.dtype("<u2"))
    uniform = (drawn.astype(np.float32) + 0.5) / 2**15 - 1  # from -1 to 1
    return uniform.reshape(-1, WIDTH) * np.float32(np.sqrt(3 / WIDTH))


FORMS = ("code", "text")
CNN_WINDOWS = (3, 4, 5)
CNN_WIDTH, NARROW, CHANNELS = 300, 64, 128
DROPOUT = 0.1


class UntrainedNetwork(EncoderNetwork):
    """A network that is not pretrained, of parts that torch knows how to draw."""

    pretrained: ClassVar[bool] = False
    drawn: ClassVar[tuple[type[nn.Module], ...]]

    def initialise(self) -> None:
        for part in self.modules():
            if isinstance(part, self.drawn):
                part.reset_parameters()  # type: ignore[operator]


class CharacterCnnNetwork(UntrainedNetwork):
    """Turns characters (n_contents, length) into one vector per content, (n_contents, 1, 384).

    After the end of a content, windows read zeros; no window starts there.
    """

    drawn = (nn.Embedding, nn.Conv1d, nn.Linear, Norm)

    def __init__(self, stacked: bool) -> None:
        super().__init__()
        self.width = CHANNELS * len(CNN_WINDOWS)
        self.table = nn.Embedding(N_CHARACTERS, CNN_WIDTH)
        narrow = [nn.Conv1d(CNN_WIDTH, NARROW, window) for window in CNN_WINDOWS if stacked]
        self.narrow = nn.ModuleList(narrow)
        before = NARROW if stacked else CNN_WIDTH
        self.convolutions = nn.ModuleList(nn.Conv1d(before, CHANNELS, w) for w in CNN_WINDOWS)
        self.before = Dropout(DROPOUT)
        self.block = AttentionBlock(self.width, layers=1, heads=1, dropout=DROPOUT)
        self.after = Dropout(DROPOUT)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        inside = (torch.arange(units.shape[1], device=units.device) < lengths[:, None]).unsqueeze(1)
        characters = self.table(units).transpose(1, 2) * inside  # (n_contents, 300, length)
        maxima = []
        for number, convolution in enumerate(self.convolutions):
            channels = characters
            if self.narrow:  # the maximum of each number and the next
                channels = _cnn_windows(self.narrow[number], characters, inside)
                channels = torch.maximum(channels, F.pad(channels[..., 1:], (0, 1)))
            maxima.append(_cnn_windows(convolution, channels, inside).amax(dim=2))
        pooled = self.before(torch.cat(maxima, dim=1))  # (n_contents, 384)
        vectors: Tensor = self.after(self.block(pooled))
        return vectors.unsqueeze(1)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.table, self.narrow, self.convolutions, self.block]


def _cnn_windows(convolution: nn.Module, channels: Tensor, inside: Tensor) -> Tensor:
    """The convolution at each position where a window starts, after a ReLU; 0 after the end."""
    assert isinstance(convolution, nn.Conv1d)
    padded = F.pad(channels, (0, convolution.kernel_size[0] - 1))
    outputs: Tensor = convolution(padded).relu() * inside
    return outputs


@dataclass(frozen=True)
class CharacterCnnEncoder(UntrainedEncoder, TableEncoder):
    """A convolutional network over characters, as Fornaciari et al. (2021) read words and stems.

    A text has one position. Each character (numbered as in `characters`) has a trainable vector of
    300 numbers. Windows of 3, 4 and 5 characters have 128 channels each, of which the maximum over
    the text is kept; an attention block follows. The network is not pretrained, so `tune` must be
    "all".

    Args:
        form: "code": the windows read the characters, as in the released code; "text": they read 64
            channels of other windows over the characters, pooled by two, as in the paper.
        copy: roles with the same number share a network; roles with different numbers do not.
        max_length: the most characters that are read; longer texts are truncated.

    Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), doi
    10.18653/v1/2021.naacl-main.204.
    """

    form: str = "code"
    copy: int = 1
    max_length: int = 256
    encoder_name: ClassVar[str] = "character-cnn"

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ModelError(
                f"encoder 'character-cnn': form must be {' or '.join(FORMS)}, found {self.form!r}"
            )

    @property
    def identity(self) -> str:
        return json.dumps(["character-cnn", self.form, self.copy, self.max_length])

    @property
    def nothing(self) -> int:
        return CharactersEncoder().nothing

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        return CharactersEncoder().pieces(text)

    def prepare(self, contents: Contents) -> Prepared:
        """As for `characters`, with one position per text, whose place is the whole text."""
        characters = super().prepare(contents)
        last = characters.offsets[1:] - 1
        places = characters.places[last].copy()
        places[..., 0] = 0
        return replace(characters, places=places, place_offsets=np.arange(len(contents) + 1))

    def build(self) -> EncoderNetwork:
        return CharacterCnnNetwork(stacked=self.form == "text")


CHARACTERS = 20  # of a word that are read; the first and last ten of a longer word
SPELLING_WIDTH = 32  # of the vector of a character
SPELLING_WINDOWS = (2, 3, 4)


class SpellingNetwork(UntrainedNetwork):
    """The maximum of each channel over a word, from characters (n_contents, length, 20)."""

    drawn = (nn.Embedding, nn.Conv1d)

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.width = channels * len(SPELLING_WINDOWS)
        self.table = nn.Embedding(N_CHARACTERS, SPELLING_WIDTH)
        windows = (nn.Conv1d(SPELLING_WIDTH, channels, window) for window in SPELLING_WINDOWS)
        self.convolutions = nn.ModuleList(windows)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        words = units.flatten(0, 1)  # (n_words, 20)
        characters = self.table(words) * (words > 0).unsqueeze(2)
        maxima = [_spelling_windows(layer, characters).amax(dim=1) for layer in self.convolutions]
        return torch.cat(maxima, dim=1).view(*units.shape[:2], self.width)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.table, self.convolutions]


def _spelling_windows(convolution: nn.Module, characters: Tensor) -> Tensor:
    """The convolution around each character (n_words, 20, 32), after a ReLU.

    Written as one matrix product: on a CPU twice as fast as torch's convolution, and more than that
    in a stack, where torch would use groups of channels.
    """
    assert isinstance(convolution, nn.Conv1d)
    window, length = convolution.kernel_size[0], characters.shape[1]
    padded = F.pad(characters, (0, 0, window // 2, window - 1 - window // 2))
    near = torch.cat([padded[:, at : at + length] for at in range(window)], dim=2)
    weight = convolution.weight.transpose(1, 2).flatten(1)  # (channels, window * 32)
    return F.linear(near, weight, convolution.bias).relu()


@dataclass(frozen=True)
class SpellingEncoder(UntrainedEncoder, TableEncoder):
    """A small convolutional network over the characters of each word: its capitals, its ending.

    It complements another encoder, as in "minilm&spelling": MiniLM reads lower case only. A
    position is a word (text between spaces). The network is not pretrained, so `tune` must be
    "all".

    Args:
        channels: for each of the windows of 2, 3 and 4 characters; a vector is three times as wide.
        max_length: the most words that are read; longer texts are truncated.
    """

    channels: int = 64
    max_length: int = 256
    encoder_name: ClassVar[str] = "spelling"

    @property
    def identity(self) -> str:
        return json.dumps(["spelling", self.channels, self.max_length])

    @property
    def nothing(self) -> np.ndarray:
        return np.zeros(CHARACTERS, np.int32)

    def build(self) -> EncoderNetwork:
        return SpellingNetwork(self.channels)

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        matches = list(re.finditer(r"\S+", text))
        units = np.zeros((len(matches), CHARACTERS), np.int32)
        for unit, match in zip(units, matches, strict=True):
            word, half = match[0], CHARACTERS // 2
            if len(word) > CHARACTERS:
                word = word[:half] + word[-half:]
            characters, _ = CharactersEncoder().pieces(word)
            unit[: len(characters)] = characters
        places = [match.span() for match in matches]
        return units, np.array(places, np.float32).reshape(-1, 2)
