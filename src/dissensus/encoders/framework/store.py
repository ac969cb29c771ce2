"""Contents as ragged arrays: `Prepared` for an encoder, and `Store`, its vectors.

`Inputs` and `Sequence` are padded batches of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Parts
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.contents import Contents, Kind
from dissensus.errors import DataError, DissensusError, ModelError, cut

if TYPE_CHECKING:
    import torch
    from torch import Tensor

BLOCK = 1 << 18  # positions that are pooled at a time, to save memory
NOUNS: dict[Kind, str] = {
    "text": "text", "image": "picture", "audio": "recording", "video": "video",
    "features": "feature array",
}  # fmt: skip


class Unreadable(DataError):
    """A content that cannot be read: a damaged file, or something else than its kind.

    Args:
        code: of the content; the error names a content by its path, or by this number if it is
            bytes.
        reason: what is wrong with it.
    """

    def __init__(self, contents: Contents, code: int, reason: str) -> None:
        self.code, self.reason = int(code), reason
        value = contents[self.code]
        name = value if isinstance(value, str) else f"{NOUNS[contents.kind]} {self.code}"
        super().__init__(f"{name} cannot be read: {reason}; leave it out with --skip-bad")

    def among(self, contents: Contents, codes: np.ndarray) -> Unreadable:
        """The same error for the contents that these codes were taken from."""
        return Unreadable(contents, int(codes[self.code]), self.reason)


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
                places = self.places[positions]
                start, stop = (end[rows][owner] for end in focus)
                inside = ((places[:, :, 0] < stop) & (places[:, :, 1] > start)).all(axis=1)
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

    def sequence(self, codes: np.ndarray) -> Sequence:
        """The contents at these codes as one padded batch of torch tensors."""
        import torch

        vectors, lengths = _padded(self.vectors, self.offsets, codes)
        places, _ = _padded(self.places, self.offsets, codes)
        mask = torch.arange(vectors.shape[1]) < lengths[:, None]
        return Sequence(vectors.float(), mask, places)

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

    def to(self, device: torch.device) -> Sequence:
        return Sequence(*(part.to(device) for part in vars(self).values()))


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
    def joined(cls, parts: Parts[Prepared]) -> Prepared:
        """All parts, concatenated."""
        units, places, cut = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("units", "places", "cut")
        )
        offsets, place_offsets = (
            np.r_[0, np.cumsum(np.concatenate([np.diff(getattr(part, name)) for part in parts]))]
            for name in ("offsets", "place_offsets")
        )
        return cls(units, offsets, places, place_offsets, cut)


@dataclass(frozen=True, eq=False)
class Inputs:
    """A padded batch of distinct contents, before the encoder."""

    units: Tensor  # (n_contents, length, ...)
    lengths: Tensor  # (n_contents,) units of each
    n_positions: Tensor  # (n_contents,) positions of each, after the encoder
    places: Tensor  # (n_contents, most positions, n_axes, 2)

    def to(self, device: torch.device) -> Inputs:
        return Inputs(*(part.to(device) for part in vars(self).values()))


def _padded(values: np.ndarray, offsets: np.ndarray, codes: np.ndarray) -> tuple[Tensor, Tensor]:
    """Ragged values, padded with zeros to (n_codes, length, ...), and the length of each."""
    import torch

    lengths = np.diff(offsets)[codes]
    padded = np.zeros((len(codes), int(lengths.max(initial=0)), *values.shape[1:]), values.dtype)
    starts, ends = offsets[codes].tolist(), (offsets[codes] + lengths).tolist()
    for row, (first, last) in enumerate(zip(starts, ends, strict=True)):
        padded[row, : last - first] = values[first:last]
    return torch.from_numpy(padded), torch.from_numpy(lengths)


@contextmanager
def usable(encoder: Any) -> Iterator[None]:
    """Within the block, any error of a model in a folder is one line: its files can cause any."""
    try:
        yield
    except Exception as error:
        name = getattr(encoder, "name", None)
        if isinstance(error, DissensusError) or not (isinstance(name, str) and Path(name).is_dir()):
            raise
        raise ModelError(
            f"encoder {name!r}: its files cannot be used ({reason_of(error)}); choose an undamaged "
            "copy"
        ) from None


def reason_of(error: Exception) -> str:
    """What an error says, in its first line."""
    return cut((str(error).strip().splitlines() or [""])[0] or type(error).__name__)
