"""Prepared and Inputs: contents in the form that a network expects, and a padded batch of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Prepared:
    """Tokens, pictures, frames or samples, one content after another in flat arrays.

    A network turns the units of a content into positions, of which there may be fewer (speech)
    or more (the grid of a picture). `places` contains the place of each position in its content.
    """

    units: np.ndarray  # (n_units, ...), of any type
    offsets: np.ndarray  # (n_contents + 1,) where each content's units begin
    places: np.ndarray  # (n_positions, n_axes, 2)
    place_offsets: np.ndarray  # (n_contents + 1,)
    cut: np.ndarray  # (n_contents,) booleans: longer than is read

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def unit_by_unit(self) -> bool:
        """Whether each unit becomes one position, as tokens do."""
        return bool(np.array_equal(self.offsets, self.place_offsets))

    @property
    def one_position(self) -> bool:
        """Whether each content becomes one position."""
        return bool((np.diff(self.place_offsets) == 1).all())

    def inputs(self, codes: np.ndarray) -> Inputs:
        """The contents at these codes as one padded batch of torch tensors."""
        units, lengths = _padded(self.units, self.offsets, codes)
        places, n_positions = _padded(self.places, self.place_offsets, codes)
        return Inputs(units, lengths, n_positions, places)

    @classmethod
    def joined(cls, parts: Sequence[Prepared]) -> Prepared:
        """All parts, concatenated."""
        return cls(
            np.concatenate([part.units for part in parts]),
            _offsets([np.diff(part.offsets) for part in parts]),
            np.concatenate([part.places for part in parts]),
            _offsets([np.diff(part.place_offsets) for part in parts]),
            np.concatenate([part.cut for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class Inputs:
    """A padded batch of distinct contents, before the encoder."""

    units: Tensor  # (n_contents, length, ...)
    lengths: Tensor  # (n_contents,) units of each
    n_positions: Tensor  # (n_contents,) positions of each, after the encoder
    places: Tensor  # (n_contents, most positions, n_axes, 2)

    def to(self, device: torch.device) -> Inputs:
        return Inputs(
            self.units.to(device),
            self.lengths.to(device),
            self.n_positions.to(device),
            self.places.to(device),
        )


def _padded(values: np.ndarray, offsets: np.ndarray, codes: np.ndarray) -> tuple[Tensor, Tensor]:
    """Ragged values, padded with zeros to (n_codes, length, ...), and the length of each."""
    import torch

    lengths = np.diff(offsets)[codes]
    padded = np.zeros((len(codes), int(lengths.max(initial=0)), *values.shape[1:]), values.dtype)
    for row, (code, n) in enumerate(zip(codes, lengths, strict=True)):
        padded[row, :n] = values[offsets[code] : offsets[code] + n]
    return torch.from_numpy(padded), torch.from_numpy(lengths)


def _offsets(lengths: list[np.ndarray]) -> np.ndarray:
    return np.r_[0, np.cumsum(np.concatenate(lengths))]
