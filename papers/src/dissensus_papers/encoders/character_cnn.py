"""The encoder `character-cnn`: one vector per word or short text, from windows of characters."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.contents import Contents
from dissensus.encoders.framework.base import EncoderNetwork, UntrainedEncoder
from dissensus.encoders.framework.inputs import Prepared
from dissensus.encoders.framework.lookup_tables import TableEncoder
from dissensus.errors import ModelError
from dissensus.networks.attention_block import AttentionBlock, Norm
from dissensus.networks.noise import Dropout
from dissensus_papers.encoders.characters import N_CHARACTERS, CharactersEncoder

FORMS = ("code", "text")
WINDOWS = (3, 4, 5)
WIDTH, NARROW, CHANNELS = 300, 64, 128
DROPOUT = 0.1


class CharacterCnnNetwork(EncoderNetwork):
    """Turns characters (n_contents, length) into one vector per content, (n_contents, 1, 384).

    After the end of a content, windows read zeros; no window starts there.
    """

    pretrained: ClassVar[bool] = False

    def __init__(self, stacked: bool) -> None:
        super().__init__()
        self.width = CHANNELS * len(WINDOWS)
        self.table = nn.Embedding(N_CHARACTERS, WIDTH)
        narrow = [nn.Conv1d(WIDTH, NARROW, window) for window in WINDOWS if stacked]
        self.narrow = nn.ModuleList(narrow)
        before = NARROW if stacked else WIDTH
        self.convolutions = nn.ModuleList(nn.Conv1d(before, CHANNELS, w) for w in WINDOWS)
        self.before = Dropout(DROPOUT)
        self.block = AttentionBlock(self.width, layers=1, heads=1, dropout=DROPOUT)
        self.after = Dropout(DROPOUT)

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        inside = (torch.arange(units.shape[1], device=units.device) < lengths[:, None]).unsqueeze(1)
        characters = self.table(units).transpose(1, 2) * inside  # (n_contents, 300, length)
        maxima = []
        for number, convolution in enumerate(self.convolutions):
            channels = characters
            if self.narrow:
                channels = _paired(_windows(self.narrow[number], characters, inside))
            maxima.append(_windows(convolution, channels, inside).amax(dim=2))
        pooled = self.before(torch.cat(maxima, dim=1))  # (n_contents, 384)
        vectors: Tensor = self.after(self.block(pooled))
        return vectors.unsqueeze(1)

    @property
    def blocks(self) -> list[nn.Module]:
        return [self.table, self.narrow, self.convolutions, self.block]

    def initialise(self) -> None:
        for part in self.modules():
            if isinstance(part, nn.Embedding | nn.Conv1d | nn.Linear | Norm):
                part.reset_parameters()


def _paired(channels: Tensor) -> Tensor:
    """The maximum of each number and the next: max pooling of 2 with stride 1."""
    return torch.maximum(channels, F.pad(channels[..., 1:], (0, 1)))


def _windows(convolution: nn.Module, channels: Tensor, inside: Tensor) -> Tensor:
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
