"""Mean vectors of contents: kept in memory, where many fits ask for the same ones."""

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

MOST = 1 << 28  # bytes of vectors that are kept, of one encoder


class Means(NamedTuple):
    """The mean vector of each content, and which are longer than the encoder reads."""

    vectors: np.ndarray  # (n_contents, width) float32
    cut: np.ndarray  # (n_contents,) booleans

    def take(self, codes: np.ndarray) -> Means:
        return Means(self.vectors[codes], self.cut[codes])

    def beside(self, other: Means) -> Means:
        """These, and after them the other ones."""
        return Means(*(np.concatenate(both) for both in zip(self, other, strict=True)))


_Kept = dict[str, tuple[np.ndarray, Means]]  # by encoder: keys of contents, sorted, and theirs
_KEPT: ContextVar[_Kept | None] = ContextVar("pooled", default=None)


def pooling_once() -> AbstractContextManager[None]:
    """Within it, the mean vector of a content is computed once for all fits, not once for each."""
    return cached_within(_KEPT)


def mean_vectors(reader: Encoder, contents: Contents) -> Means:
    """What an encoder makes of contents, each as the mean over its positions."""
    kept = _KEPT.get()
    if kept is None or not reader.cached or not len(contents):
        return _computed(reader, contents)
    keys = content_keys(contents)
    if reader.identity not in kept:
        known, means = _sorted(keys, _computed(reader, contents))
    else:
        known, means = kept[reader.identity]
        missing = np.flatnonzero(~np.isin(keys, known))
        if len(missing):
            try:
                new = _computed(reader, contents.take(missing))
            except Unreadable as error:
                raise error.among(contents, missing) from None
            known, means = _sorted(np.concatenate([known, keys[missing]]), means.beside(new))
    if means.vectors.nbytes <= MOST:
        kept[reader.identity] = known, means
    return means.take(np.searchsorted(known, keys))


def _computed(reader: Encoder, contents: Contents) -> Means:
    store = encode(reader, contents)
    cut = np.zeros(len(store), bool) if store.cut is None else np.asarray(store.cut)
    return Means(store.pooled(), cut)


def _sorted(keys: np.ndarray, means: Means) -> tuple[np.ndarray, Means]:
    """In the order of keys, each once."""
    known, at = np.unique(keys, return_index=True)
    return known, means.take(at)
