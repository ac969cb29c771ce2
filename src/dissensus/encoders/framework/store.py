"""Store and Sequence: contents as ragged sequences of vectors, and a padded batch of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

BLOCK = 1 << 18  # positions that are pooled at a time, to save memory


@dataclass(frozen=True, eq=False)
class Store:
    """One sequence of vectors per distinct content, one after another in flat arrays.

    `places` contains the place of each position in its content, start and stop on each axis:
    characters of a text, seconds of a clip, frames, or row and column of a picture. A position with
    an empty place (such as BERT's [CLS]) belongs to the whole content.
    """

    vectors: np.ndarray  # (n_positions, width), float16 or float32, may be memory-mapped
    places: np.ndarray  # (n_positions, n_axes, 2)
    offsets: np.ndarray  # (n_contents + 1,)
    cut: np.ndarray | None = None  # (n_contents,) booleans: longer than the encoder reads

    @property
    def n_cut(self) -> int:
        """How many contents are longer than the encoder reads."""
        return 0 if self.cut is None else int(self.cut.sum())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def width(self) -> int:
        return int(self.vectors.shape[1])

    def pooled(self) -> np.ndarray:
        """The mean vector of each content, (n_contents, width) float32."""
        return self._means(np.arange(len(self)), None)

    def pooled_at(
        self, codes: np.ndarray, start: np.ndarray, stop: np.ndarray
    ) -> tuple[np.ndarray, int]:
        """The mean over the positions that overlap a focus, and how many foci overlap no position.

        Args:
            codes: the content of each item, (n_items,).
            start, stop: its focus, (n_items, n_axes); nan means the whole content, and so does a
                focus that overlaps no position (for example, after the length limit).
        """
        pooled = self._means(codes, (start, stop))
        empty = np.isnan(pooled[:, 0])
        if empty.any():
            pooled[empty] = self._means(codes[empty], None)
        return pooled, int((empty & ~np.isnan(start[:, 0])).sum())

    def _means(self, codes: np.ndarray, focus: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        """The mean of each content over all positions, or those in the focus; nan without any."""
        means = np.empty((len(codes), self.width), dtype=np.float32)
        for rows, owner, positions in self._blocks(codes):
            if focus is not None:
                inside = self._inside(positions, focus[0][rows][owner], focus[1][rows][owner])
                owner, positions = owner[inside], positions[inside]
            n = np.bincount(owner, minlength=rows.stop - rows.start)
            sums = np.zeros((len(n), self.width), dtype=np.float32)
            filled = np.flatnonzero(n)
            if filled.size:
                starts = (np.cumsum(n) - n)[filled]
                vectors = self.vectors[positions].astype(np.float32)
                sums[filled] = np.add.reduceat(vectors, starts, axis=0)
            with np.errstate(invalid="ignore"):
                means[rows] = sums / n[:, None]
        return means

    def _blocks(self, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Slices of codes, the code of each of their positions, and the positions."""
        lengths = np.diff(self.offsets)[codes]
        block = np.cumsum(lengths) // BLOCK
        edges = np.flatnonzero(np.diff(block, prepend=-1, append=-2))
        if not len(codes):
            return
        for first, last in zip(edges[:-1], edges[1:], strict=True):
            n = lengths[first:last]
            owner = np.repeat(np.arange(last - first), n)
            within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
            yield slice(first, last), owner, self.offsets[codes[first:last]][owner] + within

    def _inside(self, positions: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        places = self.places[positions]
        return ((places[:, :, 0] < stop) & (places[:, :, 1] > start)).all(axis=1)

    def sequence(self, codes: np.ndarray) -> Sequence:
        """The contents at these codes as one padded batch of torch tensors."""
        import torch

        lengths = np.diff(self.offsets)[codes]
        at = np.arange(lengths.max(initial=0))
        mask = at < lengths[:, None]  # (n_contents, length)
        positions = np.where(mask, self.offsets[codes][:, None] + at, 0)
        vectors = np.where(mask[:, :, None], self.vectors[positions], 0).astype(np.float32)
        places = np.where(mask[:, :, None, None], self.places[positions], 0)
        return Sequence(torch.from_numpy(vectors), torch.from_numpy(mask), torch.from_numpy(places))

    @classmethod
    def of_vectors(cls, vectors: np.ndarray) -> Store:
        """One vector per content: sequences of length one, without a place."""
        n = len(vectors)
        return cls(vectors, np.zeros((n, 1, 2), np.float32), np.arange(n + 1))


@dataclass(frozen=True, eq=False)
class Sequence:
    """A padded batch of distinct contents."""

    vectors: Tensor  # (n_contents, length, width)
    mask: Tensor  # (n_contents, length) booleans, false on padding
    places: Tensor  # (n_contents, length, n_axes, 2)
