"""Mean vectors that many fits ask for are computed once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus.contents import Contents
from dissensus.encoders import Store, mean_vectors, pooling_once
from tests.encoders.framework.test_cache import Letters, texts_of

TEXTS = "ab", "b", "cab", "d"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many contents were pooled, each time."""
    seen: list[int] = []
    before = Store.pooled

    def counted(store: Store) -> np.ndarray:
        seen.append(len(store))
        return before(store)

    monkeypatch.setattr(Store, "pooled", counted)
    return seen


def expected(contents: Contents) -> np.ndarray:
    return np.array([[np.mean([ord(c) for c in t])] * 2 for t in contents.values.to_pylist()]) * (
        1,
        -1,
    )


def test_only_what_is_new_is_pooled(pooled: list[int]) -> None:
    reader, arguments = Letters(), [TEXTS[:2], TEXTS[1:], TEXTS[::-1], TEXTS[2:3]]
    with pooling_once():
        for texts in arguments:
            contents = texts_of(*texts)
            np.testing.assert_allclose(mean_vectors(reader, contents).vectors, expected(contents))
    assert pooled == [2, 2]
    mean_vectors(reader, texts_of("b"))
    assert pooled == [2, 2, 1]


def test_encoders_are_told_apart(pooled: list[int]) -> None:
    with pooling_once():
        for reader in (Letters("one"), Letters("other"), Letters("one")):
            mean_vectors(reader, texts_of(*TEXTS))
    assert pooled == [4, 4]


def test_what_is_too_large_is_not_kept(pooled: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dissensus.encoders.framework.encoding.MOST", 8)
    contents = texts_of(*TEXTS)
    with pooling_once():
        for _ in range(2):
            result = mean_vectors(Letters(), contents)
            np.testing.assert_allclose(result.vectors, expected(contents))
    assert pooled == [4, 4]
