"""What was encoded once is read from disk, and damage is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from dissensus.contents import Contents, Kind
from dissensus.encoders import Encoder, Store, encode
from dissensus.encoders.framework import cache as module
from dissensus.encoders.framework.cache import content_keys
from tests.error_texts import error_text

ROOT = Path(__file__).parents[3]


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


def texts_of(*texts: str) -> Contents:
    return Contents.distinct("text", list(texts))[0]


def spelled(store: Store) -> list[str]:
    letters = "".join(chr(int(v)) for v in store.vectors[:, 0])
    pairs = zip(store.offsets[:-1], store.offsets[1:], strict=True)
    return [letters[a:b] for a, b in pairs]


def test_nothing_is_encoded_twice() -> None:
    letters = Letters()
    encode(letters, texts_of("ab", "cde"))
    again = encode(letters, Contents("text", pa.array(["fg", "cde", "fg", "ab"])))
    assert letters.asked == ["ab", "cde", "fg"]
    assert spelled(again) == ["fg", "cde", "fg", "ab"]
    assert again.places[:, 0, 0].tolist() == [0, 1, 0, 1, 2, 0, 1, 0, 1]
    other, same = Letters("other letters"), Letters()
    assert not encode(same, texts_of("ab", "cde")).vectors.flags.owndata  # memory-mapped
    encode(other, texts_of("ab"))
    assert other.asked == ["ab"] and same.asked == []


def test_many_pieces_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Letters, "piece", 3)
    texts = [chr(97 + i) * (1 + i % 4) for i in range(20)]
    encode(Letters(), texts_of(*texts))
    order = np.random.default_rng(0).permutation(20)
    letters = Letters()
    result = encode(letters, texts_of(*(texts[i] for i in order)))
    assert spelled(result) == [texts[i] for i in order]
    assert letters.asked == []


def test_what_is_large_lies_on_disk(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(module, "LARGE", 8)
    encode(Letters(), texts_of("ab", "cde"))
    store = encode(Letters(), texts_of("cde", "ab"))
    assert isinstance(store.vectors, np.memmap)
    assert spelled(store) == ["cde", "ab"]
    assert list(cache.glob("*/.new-*")) == []


def test_whether_a_text_is_longer_than_is_read_is_kept() -> None:
    class Short(Letters):
        def encode(self, contents: Contents) -> Store:
            store = super().encode(contents)
            return Store(store.vectors, store.places, store.offsets, np.diff(store.offsets) > 2)

    assert encode(Short("short"), texts_of("ab", "cde")).n_cut == 1
    assert encode(Short("short"), texts_of("cde", "fghi", "ab")).n_cut == 2


# ---- keys ----


def test_equal_contents_have_equal_keys_however_they_are_held() -> None:
    texts = ["naïve", "", "b"]
    expected = content_keys(Contents("text", pa.array(texts))).tolist()
    assert len(set(expected)) == 3
    for values in (
        pa.array(texts, pa.large_string()),
        pa.array(["x", *texts, "y"]).slice(1, 3),
        pa.chunked_array([texts[:1], texts[1:]]),
    ):
        assert content_keys(Contents("text", values)).tolist() == expected


def test_media_have_the_key_of_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"one")
    contents = Contents("image", pa.array([b"one", b"two"]))
    named = Contents("image", pa.array([str(tmp_path / "a.png")]))
    assert content_keys(named)[0] == content_keys(contents)[0]
    assert content_keys(named)[0] != content_keys(contents)[1]
    as_audio = Contents("audio", pa.array([b"one"]))
    assert content_keys(as_audio)[0] != content_keys(contents)[0]


def test_texts_read_together_are_no_text() -> None:
    together = Contents("text", pa.array([["a", "b"], ["a", "", "b"], ["ab"]]))
    alone = Contents("text", pa.array([json.dumps(["a", "b"]), "ab", "a"]))
    keys = [*content_keys(together).tolist(), *content_keys(alone).tolist()]
    assert len(set(keys)) == 6


def test_the_keys_of_features_know_their_shape() -> None:
    rows = Contents.distinct("features", np.array([[1, 2, 3, 4], [1, 2, 3, 5]]))[0]
    sequences = Contents.distinct("features", [np.array([[1, 2], [3, 4]]), np.array([[1, 2]])])[0]
    turned = Contents.distinct("features", [np.array([[1], [2], [3], [4]])])[0]
    keys = [key for values in (rows, sequences, turned) for key in content_keys(values).tolist()]
    assert len(set(keys)) == 5
    again = Contents.distinct("features", [np.array([1.0, 2, 3, 5]), np.array([1.0, 2, 3, 4])])[0]
    assert content_keys(again).tolist() == keys[1::-1]


# ---- damage ----


def _overwrite(path: Path, at: int, content: bytes) -> None:
    data = bytearray(path.read_bytes())
    start = at % len(data)
    data[start : start + len(content)] = content
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "cut": lambda p: p.write_bytes(p.read_bytes()[:-4]),
    "empty": lambda p: p.write_bytes(b""),
    "no safetensors": lambda p: p.write_text("half a file, and no array at all"),
    "zeros at the end": lambda p: _overwrite(p, -12, bytes(8)),
    "another letter": lambda p: _overwrite(p, -1, b"x"),
    "a header that does not end": lambda p: _overwrite(p, 10, b"{[(("),
    "another checksum": lambda p: p.rename(p.with_name("other-00000000.safetensors")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_piece_is_made_again(cache: Path, damage: str) -> None:
    encode(Letters(), texts_of("ab", "cde"))
    (piece,) = cache.glob("*/*.safetensors")
    DAMAGES[damage](piece)
    letters = Letters()
    assert spelled(encode(letters, texts_of("ab", "cde"))) == ["ab", "cde"]
    assert letters.asked == ["ab", "cde"]
    assert piece not in list(cache.glob("*/*.safetensors"))
    assert encode(Letters(), texts_of("ab", "cde")).n_cut == 0


def test_leftovers_are_removed_after_an_hour(cache: Path) -> None:
    encode(Letters(), texts_of("ab"))
    (folder,) = cache.glob("*")
    for name, hours in ((".new-younger1", 0.9), (".new-older123", 1.1)):
        (folder / name).write_bytes(b"half")
        _age(folder / name, hours)
    encode(Letters(), texts_of("cd"))
    assert [path.name for path in folder.iterdir() if path.suffix != ".safetensors"] == [
        ".new-younger1"
    ]


def _age(path: Path, hours: float) -> None:
    then = time.time() - 3600 * hours
    os.utime(path, (then, then))


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "file"))
    assert error_text(encode, Letters(), texts_of("ab")).partition(": ")[2] == (
        "features cannot be written (Not a directory); set DISSENSUS_CACHE to another folder, "
        "or delete what is in it"
    )


# ---- its size ----


def _sizes(cache: Path) -> list[int]:
    return [piece.stat().st_size for piece in sorted(cache.glob("*/*.safetensors"))]


def test_what_is_unused_for_longest_goes_first(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hours, text in ((3, "ab"), (2, "cd"), (1, "ef")):
        encode(Letters(), texts_of(text))
        for piece in cache.glob("*/*.safetensors"):
            if time.time() - piece.stat().st_mtime < 60:
                _age(piece, hours)
    encode(Letters(), texts_of("ab"))  # used again
    monkeypatch.setenv("DISSENSUS_CACHE_LIMIT", str(3 * _sizes(cache)[0]))
    encode(Letters(), texts_of("gh"))
    letters = Letters()
    for text in ("ab", "ef", "gh"):
        encode(letters, texts_of(text))
    assert letters.asked == []
    encode(letters, texts_of("cd"))
    assert letters.asked == ["cd"]


def test_pieces_in_use_stay_however_small_the_limit(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Letters, "piece", 1)
    encode(Letters("other"), texts_of("zz"))
    encode(Letters(), texts_of("ab"))
    monkeypatch.setenv("DISSENSUS_CACHE_LIMIT", "0.5 kB")
    store = encode(Letters(), texts_of("ab", "cd", "ef"))
    assert spelled(store) == ["ab", "cd", "ef"]
    assert len(_sizes(cache)) == 3  # of the three, and none of the other encoder
    mapped = encode(Letters(), texts_of("cd"))
    encode(Letters("other"), texts_of("yy"))
    assert len(_sizes(cache)) == 1
    assert spelled(mapped) == ["cd"]  # was deleted, and can be read all the same


def test_a_limit_that_is_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = Letters()
    monkeypatch.setenv("DISSENSUS_CACHE_LIMIT", "plenty")
    assert error_text(encode, letters, texts_of("ab")) == (
        "DISSENSUS_CACHE_LIMIT must be a size such as 8GB or 500MB, found 'plenty'"
    )
    assert letters.asked == []


# ---- two processes at once ----

WORKER = """
import os, sys, time
from pathlib import Path
import numpy as np
from dissensus.encoders import encode
from tests.encoders.framework.test_cache import Letters, spelled, texts_of

seed, rounds, stop_at = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
saved, replace = 0, os.replace

def counted(*paths):  # before a piece gets its name
    global saved
    saved += 1
    if saved == stop_at:
        print("writing", flush=True)
        time.sleep(60)
    replace(*paths)

os.replace = counted
Letters.piece = 3
generator = np.random.default_rng(seed)
for _ in range(rounds):
    chosen = [chr(97 + i) * (1 + i % 5) for i in generator.permutation(26)[:10]]
    assert spelled(encode(Letters(), texts_of(*chosen))) == chosen
print("done", flush=True)
"""


def _worker(seed: int, rounds: int, stop_at: int = 0) -> subprocess.Popen[str]:
    arguments = [str(number) for number in (seed, rounds, stop_at)]
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.slow
def test_processes_at_once_one_killed_while_it_writes(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISSENSUS_CACHE_LIMIT", "5 kB")  # so that they also throw away
    killed, other = _worker(0, 10**6, stop_at=7), _worker(1, 60)
    assert killed.stdout is not None and killed.stdout.readline() == "writing\n"
    killed.kill()
    assert killed.communicate()[0] == "" and killed.returncode == -9
    assert other.communicate()[0] == "done\n" and other.returncode == 0
    texts = [chr(97 + i) * (1 + i % 5) for i in range(26)]
    assert spelled(encode(Letters(), texts_of(*texts))) == texts
