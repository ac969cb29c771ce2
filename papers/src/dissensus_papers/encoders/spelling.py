"""The encoder `spelling`: a vector per word from its characters, not pretrained."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.encoders.framework.base import EncoderNetwork, UntrainedEncoder
from dissensus.encoders.framework.lookup_tables import TableEncoder
from dissensus_papers.encoders.characters import N_CHARACTERS, CharactersEncoder

CHARACTERS = 20  # of a word that are read; the first and last ten of a longer word
WIDTH = 32  # of the vector of a character
WINDOWS = (2, 3, 4)


class SpellingNetwork(EncoderNetwork):
    """The maximum of each channel over a word, from characters (n_contents, length, 20)."""

    pretrained: ClassVar[bool] = False

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.width = channels * len(WINDOWS)
        self.table = nn.Embedding(N_CHARACTERS, WIDTH)
        self.convolutions = nn.ModuleList(nn.Conv1d(WIDTH, channels, w) for w in WINDOWS)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        words = units.flatten(0, 1)  # (n_words, 20)
        characters = self.table(words) * (words > 0).unsqueeze(2)
        maxima = [_windows(layer, characters).amax(dim=1) for layer in self.convolutions]
        return torch.cat(maxima, dim=1).view(*units.shape[:2], self.width)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.table, self.convolutions]

    def initialise(self) -> None:
        for part in self.modules():
            if isinstance(part, nn.Embedding | nn.Conv1d):
                part.reset_parameters()


def _windows(convolution: nn.Module, characters: Tensor) -> Tensor:
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
