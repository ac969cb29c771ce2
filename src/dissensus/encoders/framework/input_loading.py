"""Inputs of an encoder that is fine-tuned: prepared all at once, or batch by batch if large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dissensus.contents import Contents
from dissensus.encoders.framework.inputs import Inputs, Prepared
from dissensus.encoders.framework.media import Unreadable
from dissensus.errors import ModelError
from dissensus.progress import progress

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import NeuralEncoder

AT_ONCE = 1 << 28  # bytes that stay in memory: 5,000 pictures, 2 hours of speech, any texts
PIECE = 128  # contents read at a time, to measure how large they are


@dataclass(frozen=True, eq=False)
class ByBatch:
    """Contents that are read again for every batch."""

    encoder: NeuralEncoder
    contents: Contents
    cut: np.ndarray  # (n_contents,) booleans: longer than is read

    def inputs(self, codes: np.ndarray) -> Inputs:
        """The contents at these codes as one padded batch of torch tensors."""
        return _part(self.encoder, self.contents, codes).inputs(np.arange(len(codes)))


def prepared(
    encoder: NeuralEncoder, contents: Contents, at_once: int | None = None
) -> Prepared | ByBatch:
    """Contents in the form that the encoder's network expects.

    All of them are read once here, so that a content that cannot be read is an error before the
    training starts.

    Args:
        at_once: bytes (AT_ONCE if left out); if contents take more, they are read again for every
            batch, and stay compressed or on disk in between.
    """
    at_once = AT_ONCE if at_once is None else at_once
    if not len(contents):
        raise ModelError("all contents are blank; there is nothing to encode")
    parts: list[Prepared] = []
    cut, n_bytes = [], 0
    with progress(f"reading {contents.kind}", len(contents)) as advance:
        for first in range(0, len(contents), PIECE):
            codes = np.arange(first, min(first + PIECE, len(contents)))
            part = _part(encoder, contents, codes)
            cut.append(part.cut)
            n_bytes += part.units.nbytes
            parts = [*parts, part] if n_bytes <= at_once else []
            advance(len(codes))
    if n_bytes <= at_once:
        return Prepared.joined(parts)
    return ByBatch(encoder, contents, np.concatenate(cut))


def _part(encoder: NeuralEncoder, contents: Contents, codes: np.ndarray) -> Prepared:
    try:
        return encoder.prepare(contents.take(codes))
    except Unreadable as error:
        raise error.among(contents, codes) from None
