"""Encoders with a table that has a vector for each word or character of a text."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import EncoderNetwork, NeuralEncoder
from dissensus.encoders.framework.inputs import Prepared


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
