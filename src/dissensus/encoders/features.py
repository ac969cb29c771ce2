"""The encoder `features`: arrays unchanged, and pictures as their pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import Encoder
from dissensus.encoders.framework.store import Store
from dissensus.errors import DataError
from dissensus.progress import progress


@dataclass(frozen=True)
class FeaturesEncoder(Encoder):
    """Feature vectors, or sequences of them, unchanged. A picture becomes one vector of its pixels,
    red, green and blue from 0 to 1, so all pictures must have the same size."""

    kinds: ClassVar[tuple[Kind, ...]] = ("features", "image")
    cached: ClassVar[bool] = False

    @property
    def identity(self) -> str:
        return "features"

    def encode(self, contents: Contents) -> Store:
        if contents.kind == "image":
            return Store.of_vectors(_pixels(contents))
        values = contents.values
        flat = values.flatten()
        nested = hasattr(flat.type, "value_type")  # a list of lists: sequences of vectors
        numbers = (flat.flatten() if nested else flat).to_numpy(zero_copy_only=False)
        lengths = flat.value_lengths() if nested else values.value_lengths()
        widths = np.unique(lengths.to_numpy(zero_copy_only=False))
        if len(widths) != 1:
            some = ", ".join(str(width) for width in widths[:5])
            raise DataError(f"feature vectors must have the same width, found {some}")
        vectors = np.asarray(numbers, dtype=np.float32).reshape(-1, int(widths[0]))
        if not np.isfinite(vectors).all():
            raise DataError("features contain nan or infinite numbers; leave such contents out")
        if not nested:
            return Store.of_vectors(vectors)
        offsets = np.r_[0, np.cumsum(values.value_lengths().to_numpy())]
        frame = np.arange(len(vectors)) - np.repeat(offsets[:-1], np.diff(offsets))
        places = np.stack([frame, frame + 1], axis=1)[:, None].astype(np.float32)
        return Store(vectors, places, offsets)


def _pixels(contents: Contents) -> np.ndarray:
    from dissensus.encoders.framework.media import picture

    pictures: list[np.ndarray] = []
    with progress("decoding pictures", len(contents)) as advance:
        for code in range(len(contents)):
            pixels = np.asarray(picture(contents, code).image, dtype=np.float32) / 255
            if pictures and pixels.shape != pictures[0].shape:
                raise DataError(
                    f"picture {code} is {pixels.shape[0]} x {pixels.shape[1]}, the first is "
                    f"{pictures[0].shape[0]} x {pictures[0].shape[1]}; as features they "
                    "must have the same size"
                )
            pictures.append(pixels)
            advance(1)
    return np.stack([pixels.reshape(-1) for pixels in pictures])
