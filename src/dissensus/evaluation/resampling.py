"""Bootstrap samples of items, and the statistics that are computed on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

import numpy as np

from dissensus.metrics.statistics import Sums as Sums
from dissensus.metrics.statistics import concordance as concordance
from dissensus.metrics.statistics import correlation as correlation
from dissensus.metrics.statistics import macro_f1 as macro_f1
from dissensus.metrics.statistics import mean as mean
from dissensus.metrics.statistics import nothing as nothing
from dissensus.metrics.statistics import ratio as ratio
from dissensus.within import cached_within

BLOCK = 1 << 22  # weights at a time
_Arguments = tuple[int, int, int, int | None, int]  # of `draws`
_CACHE: ContextVar[dict[_Arguments, list[np.ndarray]] | None] = ContextVar("drawn", default=None)


def draws(
    n: int, resamples: int, seed: int, size: int | None = None, key: int = 0
) -> Iterator[np.ndarray]:
    """How often each of n is drawn with replacement, in blocks of (n_draws, n).

    Args:
        size: the number of draws in a resample; n if left out.
        key: another key gives other resamples for the same seed.
    """
    cache = _CACHE.get()
    if cache is None:
        yield from _draws(n, resamples, seed, size, key)
        return
    arguments = n, resamples, seed, size, key
    if arguments not in cache and resamples * max(n, size or n, 1) <= BLOCK:
        cache.clear()  # for one test at a time
        cache[arguments] = list(_draws(*arguments))
    yield from cache[arguments] if arguments in cache else _draws(*arguments)


def drawing_once() -> AbstractContextManager[None]:
    """Within the block, resamples are cached if the next test uses the same ones."""
    return cached_within(_CACHE)


def _draws(n: int, resamples: int, seed: int, size: int | None, key: int) -> Iterator[np.ndarray]:
    size = n if size is None else size
    generator = np.random.default_rng([key + 1, seed])
    step = max(1, BLOCK // max(n, size, 1))
    for begin in range(0, resamples, step):
        rows = min(step, resamples - begin)
        place = generator.integers(n, size=(rows, size)) + n * np.arange(rows)[:, None]
        yield np.bincount(place.ravel(), minlength=rows * n).reshape(rows, n).astype(float)
