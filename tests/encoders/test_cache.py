"""What was encoded once is read from disk, and damage is noticed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from dissensus.contents import Contents, Kind
from dissensus.encoders import Encoder, Store, encode


@dataclass(eq=False)
class Letters(Encoder):
    """A vector per letter; it remembers what it was asked to encode."""

    name: str = "letters"
    asked: list[str] = field(default_factory=list)
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    @property
    def identity(self) -> str:
        return self.name

    def encode(self, contents: Contents) -> Store:
        texts = contents.values.to_pylist()
        self.asked += texts
        letters = np.array([ord(c) for text in texts for c in text], np.float32)
        at = np.concatenate([np.arange(len(text)) for text in texts]).astype(np.float32)
        places = np.stack([at, at + 1], axis=1)[:, None]
        offsets = np.r_[0, np.cumsum([len(text) for text in texts])]
        return Store(np.stack([letters, -letters], axis=1), places, offsets)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _texts(*texts: str) -> Contents:
    return Contents.distinct("text", list(texts))[0]


def _spelled(store: Store) -> list[str]:
    letters = "".join(chr(int(v)) for v in store.vectors[:, 0])
    pairs = zip(store.offsets[:-1], store.offsets[1:], strict=True)
    return [letters[a:b] for a, b in pairs]


def test_nothing_is_encoded_twice() -> None:
    letters = Letters()
    encode(letters, _texts("ab", "cde"))
    again = encode(letters, _texts("fg", "cde", "h", "ab"))
    assert letters.asked == ["ab", "cde", "fg", "h"]
    assert _spelled(again) == ["fg", "cde", "h", "ab"]
    assert again.places[:, 0, 0].tolist() == [0, 1, 0, 1, 2, 0, 0, 1]


def test_another_process_reads_what_this_one_wrote() -> None:
    encode(Letters(), _texts("ab", "cde"))
    other = Letters()
    assert _spelled(encode(other, _texts("ab", "cde"))) == ["ab", "cde"]
    assert other.asked == []


def test_the_cache_is_memory_mapped() -> None:
    encode(Letters(), _texts("ab", "cde"))
    assert isinstance(encode(Letters(), _texts("ab", "cde")).vectors, np.memmap)


def test_another_encoder_has_a_cache_of_its_own() -> None:
    encode(Letters(), _texts("ab"))
    other = Letters("other letters")
    encode(other, _texts("ab"))
    assert other.asked == ["ab"]


def test_a_damaged_piece_is_made_again(cache: Path) -> None:
    encode(Letters(), _texts("ab"))
    (vectors,) = cache.glob("*/piece-*/vectors.npy")
    vectors.write_bytes(vectors.read_bytes()[:-4])
    letters = Letters()
    assert _spelled(encode(letters, _texts("ab"))) == ["ab"]
    assert letters.asked == ["ab"]


def test_a_piece_that_was_never_finished_is_not_there(cache: Path) -> None:
    encode(Letters(), _texts("ab"))
    (piece,) = cache.glob("*/piece-*")
    (piece.parent / ".new-killed").mkdir()
    (piece.parent / ".new-killed" / "keys.npy").write_bytes(b"half")
    letters = Letters()
    encode(letters, _texts("ab"))
    assert letters.asked == []
