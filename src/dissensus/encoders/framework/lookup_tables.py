"""What encoders share that look the pieces of a text up in a table: words and characters."""

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
    """A row of the table for each unit."""

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

    A text without any has one position all the same, the unit `nothing` with an empty place. Of
    texts that are read together, those of the first come first; a place is then the number of the
    text, and characters in it.
    """

    max_length: int
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    units_per_batch: ClassVar[int] = 1 << 15

    @property
    @abstractmethod
    def nothing(self) -> int | np.ndarray:
        """The unit of a text that has none."""

    @abstractmethod
    def pieces(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The units of a text, (n_units, ...), and their places in characters, (n_units, 2)."""

    def prepare(self, contents: Contents) -> Prepared:
        together = pa.types.is_list(contents.values.type)
        read = self._together if together else self._alone
        found = [read(value) for value in contents.values.to_pylist()]
        lengths = np.array([len(units) for units, _ in found], dtype=np.int64)
        offsets = np.r_[0, np.cumsum(lengths.clip(max=self.max_length))]
        nothing = np.zeros((0, *np.shape(self.nothing)), np.int32)
        nowhere = np.zeros((0, 2 if together else 1, 2), np.float32)
        return Prepared(
            np.concatenate([nothing, *(units[: self.max_length] for units, _ in found)]),
            offsets,
            np.concatenate([nowhere, *(places[: self.max_length] for _, places in found)]),
            offsets,
            lengths > self.max_length,
        )

    def _alone(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        units, places = self.pieces(text)
        if not len(units):
            return np.array([self.nothing], np.int32), np.zeros((1, 1, 2), np.float32)
        return units.astype(np.int32), places[:, None].astype(np.float32)

    def _together(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        found = [self.pieces(text) for text in texts]
        units = np.concatenate([of_text for of_text, _ in found])
        if not len(units):
            return np.array([self.nothing], np.int32), np.zeros((1, 2, 2), np.float32)
        number = np.repeat(np.arange(len(found)), [len(of_text) for of_text, _ in found])
        text = np.stack([number, number + 1], axis=1)
        characters = np.concatenate([places for _, places in found])
        places = np.stack([text, characters], axis=1)  # (n_units, 2, 2)
        return units.astype(np.int32), places.astype(np.float32)
