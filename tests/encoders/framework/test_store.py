"""Stores pool and pad as a plain loop would."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.encoders import Store
from dissensus.encoders.framework import store as store_module


@pytest.fixture(params=[1 << 18, 7], ids=["one block", "many blocks"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(store_module, "BLOCK", request.param)
    generator = np.random.default_rng(0)
    lengths = np.array([3, 1, 5, 2, 4])
    offsets = np.r_[0, np.cumsum(lengths)]
    starts = np.concatenate([np.arange(n) * 2 for n in lengths]).astype(np.float32)
    places = np.stack([starts, starts + 2], axis=1)[:, None]
    return Store(generator.normal(size=(15, 6)).astype(np.float32), places, offsets)


def test_pooled_is_the_mean_of_each_content(store: Store) -> None:
    expected = [store.vectors[a:b].mean(axis=0) for a, b in _spans(store)]
    np.testing.assert_allclose(store.pooled(), expected, atol=1e-6)


def test_pooled_at_means_the_positions_that_overlap(store: Store) -> None:
    codes = np.array([2, 2, 0, 4, 3, 2])
    start = np.array([[3.0], [0.0], [np.nan], [4.0], [90.0], [4.0]])
    stop = np.array([[5.0], [10.0], [np.nan], [5.0], [95.0], [4.0]])
    pooled, empty = store.pooled_at(codes, start, stop)
    for row, code, a, b in zip(pooled, codes, start[:, 0], stop[:, 0], strict=True):
        first, last = _spans(store)[code]
        inside = [
            i for i in range(first, last) if store.places[i, 0, 0] < b and store.places[i, 0, 1] > a
        ] or range(first, last)  # no focus, or one that overlaps nothing: the whole content
        np.testing.assert_allclose(row, store.vectors[list(inside)].mean(axis=0), atol=1e-6)
    assert empty == 2  # the focus at 90, and the one from 4 to 4


def test_sequence_is_padded_and_masked(store: Store) -> None:
    cut = store.sequence(np.array([2, 1]))
    assert cut.vectors.shape == (2, 5, 6)
    assert cut.mask.sum(dim=1).tolist() == [5, 1]
    np.testing.assert_array_equal(cut.vectors[0].numpy(), store.vectors[4:9])
    assert not cut.vectors[1, 1:].any() and not cut.places[1, 1:].any()


def test_of_vectors_has_sequences_of_length_one() -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    store = Store.of_vectors(vectors)
    np.testing.assert_array_equal(store.pooled(), vectors)
    assert len(store) == 3 and store.width == 2


def _spans(store: Store) -> list[tuple[int, int]]:
    return list(zip(store.offsets[:-1].tolist(), store.offsets[1:].tolist(), strict=True))
