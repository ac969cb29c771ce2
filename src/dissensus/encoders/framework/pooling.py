"""Mean vectors of contents, kept in memory while several fits use the same ones."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dissensus.block_cache import cached_within
from dissensus.contents import Contents
from dissensus.encoders.framework.catalogue import encode
from dissensus.encoders.framework.keys import content_keys
from dissensus.encoders.framework.media import Unreadable

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

MOST = 1 << 28  # bytes of vectors that are kept per encoder


class Means(NamedTuple):
    """The mean vector of each content, and which are longer than the encoder reads."""

    vectors: np.ndarray  # (n_contents, width) float32
    cut: np.ndarray  # (n_contents,) booleans

    def take(self, codes: np.ndarray) -> Means:
        return Means(self.vectors[codes], self.cut[codes])

    def joined(self, other: Means) -> Means:
        """These, followed by the other ones."""
        return Means(*(np.concatenate(both) for both in zip(self, other, strict=True)))


_Kept = dict[
    str, tuple[np.ndarray, Means]
]  # identity of encoder -> sorted keys of contents, and their means
_KEPT: ContextVar[_Kept | None] = ContextVar("pooled", default=None)


def pooling_once() -> AbstractContextManager[None]:
    """Within the block, the mean vector of a content is computed once for all fits."""
    return cached_within(_KEPT)


def mean_vectors(encoder: Encoder, contents: Contents) -> Means:
    """The vector of each content: the mean over its positions."""
    kept = _KEPT.get()
    if kept is None or not encoder.cached or not len(contents):
        return _computed(encoder, contents)
    keys = content_keys(contents)
    if encoder.identity not in kept:
        known, means = _sorted(keys, _computed(encoder, contents))
    else:
        known, means = kept[encoder.identity]
        missing = np.flatnonzero(~np.isin(keys, known))
        if len(missing):
            try:
                new = _computed(encoder, contents.take(missing))
            except Unreadable as error:
                raise error.among(contents, missing) from None
            known, means = _sorted(np.concatenate([known, keys[missing]]), means.joined(new))
    if means.vectors.nbytes <= MOST:
        kept[encoder.identity] = known, means
    return means.take(np.searchsorted(known, keys))


def _computed(encoder: Encoder, contents: Contents) -> Means:
    store = encode(encoder, contents)
    cut = np.zeros(len(store), bool) if store.cut is None else np.asarray(store.cut)
    return Means(store.pooled(), cut)


def _sorted(keys: np.ndarray, means: Means) -> tuple[np.ndarray, Means]:
    """Sorted by key, each key once."""
    known, at = np.unique(keys, return_index=True)
    return known, means.take(at)
