"""The encoder `spelling`: a vector per word from its characters, yet to learn."""

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
from dissensus.encoders.studies.characters import N_CHARACTERS, CharactersEncoder

CHARACTERS = 20  # of a word that are read: of a longer one its first and last ten
WIDTH = 32  # numbers for a character
WINDOWS = (2, 3, 4)


class SpellingNetwork(EncoderNetwork):
    """The largest value of each window's channels: (n_contents, length, 20) characters in."""

    pretrained: ClassVar[bool] = False

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.width = channels * len(WINDOWS)
        self.table = nn.Embedding(N_CHARACTERS, WIDTH)
        self.convolutions = nn.ModuleList(nn.Conv1d(WIDTH, channels, w) for w in WINDOWS)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        words = units.flatten(0, 1)  # (n_words, 20)
        seen = self.table(words) * (words > 0).unsqueeze(2)
        found = [_windows(convolution, seen).amax(dim=1) for convolution in self.convolutions]
        return torch.cat(found, dim=1).view(*units.shape[:2], self.width)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.table, self.convolutions]

    def initialise(self) -> None:
        for part in self.modules():
            if isinstance(part, nn.Embedding | nn.Conv1d):
                part.reset_parameters()


def _windows(convolution: nn.Module, seen: Tensor) -> Tensor:
    """What is found around each character (n_words, 20, 32), never below 0.

    As one product of matrices: alone twice as fast as torch's convolution on a CPU, side by side
    with others more than that, where torch has groups of channels.
    """
    assert isinstance(convolution, nn.Conv1d)
    window, length = convolution.kernel_size[0], seen.shape[1]
    padded = F.pad(seen, (0, 0, window // 2, window - 1 - window // 2))
    near = torch.cat([padded[:, at : at + length] for at in range(window)], dim=2)
    weight = convolution.weight.transpose(1, 2).flatten(1)  # (channels, window * 32)
    return F.linear(near, weight, convolution.bias).relu()


@dataclass(frozen=True)
class SpellingEncoder(UntrainedEncoder, TableEncoder):
    """A small convolutional network over the characters of each word: its capitals, its ending.

    It is there to stand beside another encoder, as in "minilm&spelling": MiniLM reads lower case
    only. A position is a run without spaces. Nothing of it has learned anything before, so `tune`
    is "all" or an error.

    Args:
        channels: of windows of 2, 3 and 4 characters each; a vector is three times as wide.
        max_length: words that are read; the rest is cut off.
    """

    channels: int = 64
    max_length: int = 256
    called: ClassVar[str] = "spelling"

    @property
    def identity(self) -> str:
        return json.dumps(["spelling", self.channels, self.max_length])

    @property
    def nothing(self) -> np.ndarray:
        return np.zeros(CHARACTERS, np.int32)

    def made(self) -> EncoderNetwork:
        return SpellingNetwork(self.channels)

    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        found = list(re.finditer(r"\S+", text))
        units = np.zeros((len(found), CHARACTERS), np.int32)
        for unit, match in zip(units, found, strict=True):
            word, half = match[0], CHARACTERS // 2
            if len(word) > CHARACTERS:
                word = word[:half] + word[-half:]
            spelled, _ = CharactersEncoder().pieces(word)
            unit[: len(spelled)] = spelled
        places = [match.span() for match in found]
        return units, np.array(places, np.float32).reshape(-1, 2)
