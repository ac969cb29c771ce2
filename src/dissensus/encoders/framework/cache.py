"""The feature cache: vectors of frozen encoders, stored on disk once per content.

There is a folder per encoder, named by a hash of its identity, with a folder per piece: contents
that were encoded together. A piece is moved into place when it is complete, so a killed process
leaves no incomplete piece behind, and two processes write two pieces. A piece has a checksum of
each of its files; one that is damaged is deleted, and its contents are encoded again. If all pieces
together exceed the limit, the least recently used ones are deleted.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.contents import Contents
from dissensus.encoders.framework.keys import KEY, content_keys
from dissensus.encoders.framework.store import Store, Unreadable
from dissensus.errors import DataError, listed
from dissensus.files.folders import LOCK, lock, reason_of, remove_abandoned, remove_locked

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

PARTS = ("keys", "vectors", "places", "offsets", "cut")
CHECKSUMS = "checksums.json"  # of the other files of a piece
ABOUT = "encoder.json"  # in the folder of an encoder: its name and identity
LIMIT = "20 GB"  # of all pieces together, unless DISSENSUS_CACHE_LIMIT is set
LEFTOVER = 3600  # seconds after which an unfinished piece without a lock is deleted
BLOCK = 4096  # bytes that are summed for a checksum
LARGE = 1 << 30  # bytes above which a joined store is a file on disk
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
         "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Piece:
    """The vectors of some contents that were encoded together."""

    folder: Path
    keys: np.ndarray  # (n_contents,)
    store: Store


@dataclass(frozen=True)
class CachedEncoder:
    """What the cache contains of one encoder."""

    name: str
    identity: str
    folder: Path
    contents: int
    bytes: int
    used: float  # when a piece was last used, in seconds since 1970

    def matches(self, name: str) -> bool:
        """Whether this is the name of the encoder, or the beginning of its folder's name."""
        return self.name == name or (len(name) >= 6 and self.folder.name.startswith(name))


# ---- folder and limit ----


def cache_folder() -> Path:
    """DISSENSUS_CACHE, or dissensus in the user's cache folder."""
    path = os.environ.get("DISSENSUS_CACHE")
    if path:
        return Path(path)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dissensus"


def cache_limit() -> int:
    """DISSENSUS_CACHE_LIMIT in bytes."""
    limit = os.environ.get("DISSENSUS_CACHE_LIMIT") or LIMIT
    try:
        return size(limit)
    except DataError as error:
        raise DataError(f"DISSENSUS_CACHE_LIMIT: {error}") from None


def size(text: str) -> int:
    """A size in bytes.

    Example:
        >>> size("20 GB"), size("1.5kB"), size("2 GiB"), size("0")
        (20000000000, 1500, 2147483648, 0)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([KMGT]?I?)B?", text.strip().upper())
    if not match or match[2] not in UNITS:
        raise DataError(f"a size must be a number and a unit, e.g. '20 GB', found {text!r}")
    return int(float(match[1]) * UNITS[match[2]])


# ---- read and write ----


def cached_store(encoder: Encoder, contents: Contents) -> Store:
    """The vectors of contents; only contents that are not in the cache are encoded."""
    limit = cache_limit()
    folder = _folder_of(encoder)
    keys = content_keys(contents)
    pieces = list(_pieces(folder, keys))
    known = np.concatenate([keys[:0], *(piece.keys for piece in pieces)])
    missing = np.flatnonzero(~np.isin(keys, known))
    missing = missing[np.sort(np.unique(keys[missing], return_index=True)[1])]
    for first in range(0, len(missing), encoder.piece):
        codes = missing[first : first + encoder.piece]
        try:
            store = encoder.encode(contents.take(codes))
        except Unreadable as error:
            raise error.among(contents, codes) from None
        pieces.append(_written(folder, encoder, keys[codes], store))
        trim(limit, in_use=[piece.folder for piece in pieces])
    return _joined(folder, keys, pieces)


def is_cached(encoder: Encoder, contents: Contents) -> np.ndarray:
    """Which of the contents are in the cache of this encoder, (n_contents,) booleans."""
    keys = content_keys(contents)
    pieces = _pieces(_folder_of(encoder), keys)
    return np.isin(keys, np.concatenate([keys[:0], *(piece.keys for piece in pieces)]))


def _folder_of(encoder: Encoder) -> Path:
    return cache_folder() / hashlib.sha256(encoder.identity.encode()).hexdigest()[:24]


def _pieces(folder: Path, keys: np.ndarray) -> Iterator[Piece]:
    """The pieces that contain some of these keys; damaged pieces are deleted."""
    for piece in sorted(folder.glob("piece-*")):
        try:
            with (piece / "keys.npy").open("rb") as file:
                in_piece = np.load(file)
            if in_piece.dtype == keys.dtype and not np.isin(in_piece, keys).any():
                continue
            _check(piece)
            loaded = _loaded(piece)
        except (FileNotFoundError, NotADirectoryError):
            _remove(piece)
            continue
        except OSError:  # no permission to read it, but it may be undamaged
            continue
        except Exception:  # numpy raises errors of many kinds if an array is damaged
            _remove(piece)
            continue
        with suppress(OSError):  # the cache may be read-only
            os.utime(piece)
        yield loaded


def _loaded(folder: Path) -> Piece:
    """A piece, memory-mapped; ValueError if its parts do not match."""
    keys, vectors, places, offsets, cut = (
        np.load(folder / f"{part}.npy", mmap_mode="r") for part in PARTS
    )
    keys, offsets, cut = np.array(keys), np.array(offsets), np.array(cut)
    n_positions = offsets[-1] if offsets.ndim == 1 and len(offsets) else -1
    valid = (
        keys.dtype == KEY
        and (vectors.ndim, places.ndim) == (2, 3)
        and len(keys) == len(offsets) - 1 == len(cut)
        and n_positions == len(vectors) == len(places)
        and offsets[0] == 0
        and bool((np.diff(offsets) >= 0).all())
    )
    if not valid:
        raise ValueError(f"{folder}: keys, offsets and vectors do not match")
    return Piece(folder, keys, Store(vectors, places, offsets, cut))


def _written(folder: Path, encoder: Encoder, keys: np.ndarray, store: Store) -> Piece:
    """Write a store as a piece; returns it memory-mapped."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _temporary(folder) as temporary:
            _write_about(folder, encoder, temporary)
            new = temporary / "piece"
            new.mkdir()
            cut = np.zeros(len(store), bool) if store.cut is None else store.cut
            arrays = keys, store.vectors, store.places, store.offsets, cut
            for part, array in zip(PARTS, arrays, strict=True):
                _save(new / f"{part}.npy", array)
            sums = {part: _checksum(new / f"{part}.npy") for part in PARTS}
            (new / CHECKSUMS).write_text(json.dumps(sums), encoding="utf-8")
            piece = _loaded(new)  # before other processes can delete it
            target = folder / f"piece-{temporary.name.removeprefix('.new-')}"
            os.replace(new, target)
    except OSError as error:
        raise DataError(
            f"{folder}: features cannot be written ({reason_of(error)}); set "
            "DISSENSUS_CACHE to another folder, or free space with `dissensus cache --clear`"
        ) from None
    return Piece(target, piece.keys, piece.store)


def _save(path: Path, array: np.ndarray) -> None:
    """Write an array to the disk, not only to the buffers of the system."""
    with path.open("wb") as file:
        np.save(file, array)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """A folder for a new piece, locked by this process so that no other one deletes it."""
    path = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    handle = lock(path / "begun")
    os.replace(path / "begun", path / LOCK)
    try:
        yield path
    finally:
        remove_locked(path)
        os.close(handle)


def _write_about(folder: Path, encoder: Encoder, temporary: Path) -> None:
    if not (folder / ABOUT).is_file():
        name = str(getattr(encoder, "name", encoder.identity))
        text = json.dumps({"name": name, "identity": encoder.identity})
        (temporary / ABOUT).write_text(text, encoding="utf-8")
        os.replace(temporary / ABOUT, folder / ABOUT)


def _check(folder: Path) -> None:
    """ValueError if a file of a piece is not as it was written."""
    written = json.loads((folder / CHECKSUMS).read_text(encoding="utf-8"))
    if written != {part: _checksum(folder / f"{part}.npy") for part in PARTS}:
        raise ValueError(f"{folder}: damaged")


def _checksum(path: Path) -> str:
    """A checksum that is as fast as memory: the sum of each block of the file, then a CRC of the
    sums. It does not detect numbers that change places within a block."""
    content = np.memmap(path, np.uint8, mode="r")
    n_blocks = len(content) // BLOCK
    blocks = content[: n_blocks * BLOCK].view(np.uint64).reshape(n_blocks, BLOCK // 8)
    of_blocks = zlib.crc32(blocks.sum(axis=1).tobytes())
    return f"{zlib.crc32(content[n_blocks * BLOCK :].tobytes(), of_blocks):08x}"


# ---- join pieces ----


def _joined(folder: Path, keys: np.ndarray, pieces: list[Piece]) -> Store:
    """One store in the order of `keys`, from the pieces that contain them."""
    for piece in pieces:
        if np.array_equal(piece.keys, keys):
            return piece.store
    every = np.concatenate([piece.keys for piece in pieces])  # of all contents of all pieces
    order = np.argsort(every, kind="stable")
    at = order[np.searchsorted(every, keys, sorter=order)]  # where each key is among them
    number = np.repeat(np.arange(len(pieces)), [len(piece.keys) for piece in pieces])[at]
    start = np.concatenate([piece.store.offsets[:-1] for piece in pieces])[at]
    lengths = np.concatenate([np.diff(piece.store.offsets) for piece in pieces])[at]
    cut = np.concatenate([np.asarray(piece.store.cut) for piece in pieces])[at]
    offsets = np.r_[0, np.cumsum(lengths)]
    first = pieces[0].store
    vectors = _empty(folder, (int(offsets[-1]), first.width), first.vectors.dtype)
    places = np.empty((int(offsets[-1]), *first.places.shape[1:]), dtype=first.places.dtype)
    stores = [piece.store for piece in pieces]
    breaks = np.flatnonzero((np.diff(number) != 0) | (start[1:] != start[:-1] + lengths[:-1])) + 1
    edges = np.r_[0, breaks, len(keys)]  # contents that follow one another in a piece as well
    for a, b in itertools.pairwise(edges.tolist()):
        target = slice(offsets[a], offsets[b])
        source = slice(start[a], start[a] + offsets[b] - offsets[a])
        vectors[target] = stores[number[a]].vectors[source]
        places[target] = stores[number[a]].places[source]
    return Store(vectors, places, offsets, cut)


def _empty(folder: Path, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """An array to fill: in memory, or if it is large in a temporary file."""
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    with suppress(OSError):  # the folder is read-only: in memory
        if n_bytes > LARGE and shutil.disk_usage(folder).free > 2 * n_bytes:
            with tempfile.TemporaryFile(prefix=".new-", dir=folder) as file:
                return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    return np.empty(shape, dtype=dtype)


# ---- list and delete ----


def cached_encoders() -> list[CachedEncoder]:
    """The encoders in the cache, the most recently used first."""
    encoders = [_cached_encoder(folder) for folder in _encoder_folders()]
    return sorted((one for one in encoders if one.bytes), key=lambda one: -one.used)


def clear(name: str | None = None) -> int:
    """Delete the vectors of one encoder, or of all; returns the number of freed bytes.

    Args:
        name: of an encoder, or the beginning of its folder's name.
    """
    encoders = cached_encoders()
    chosen = [one for one in encoders if name is None or one.matches(name)]
    if name is not None and not chosen:
        names = listed(sorted({one.name for one in encoders})) or "nothing"
        raise DataError(f"{cache_folder()}: nothing of encoder {name!r}; choose from {names}")
    for one in chosen:
        for piece in one.folder.glob("piece-*"):
            _remove(piece)
    _remove_leftovers()
    return sum(one.bytes for one in chosen)


def trim(limit: int, in_use: list[Path] | None = None) -> int:
    """Delete the least recently used pieces until all together have at most `limit` bytes; returns
    the number of freed bytes. Pieces in use are kept."""
    _remove_leftovers()
    pieces = [
        (_used(piece), _bytes(piece), piece)
        for folder in _encoder_folders()
        for piece in folder.glob("piece-*")
    ]
    total = before = sum(n_bytes for _, n_bytes, _ in pieces)
    kept = set(in_use or ())
    for _, n_bytes, piece in sorted(pieces):
        if total <= limit:
            break
        if piece not in kept:
            _remove(piece)
            total -= n_bytes
    return before - total


def _encoder_folders() -> list[Path]:
    paths = cache_folder().glob("*")
    return sorted(path for path in paths if re.fullmatch("[0-9a-f]{24}", path.name))


def _cached_encoder(folder: Path) -> CachedEncoder:
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        name, identity = str(about["name"]), str(about["identity"])
    except (OSError, ValueError, LookupError, TypeError):
        name, identity = folder.name, ""
    pieces = list(folder.glob("piece-*"))
    return CachedEncoder(
        name,
        identity,
        folder,
        sum(_n_contents(piece) for piece in pieces),
        sum(_bytes(piece) for piece in pieces),
        max((_used(piece) for piece in pieces), default=0.0),
    )


def _n_contents(piece: Path) -> int:
    try:
        return len(np.load(piece / "keys.npy", mmap_mode="r"))
    except Exception:  # numpy raises errors of many kinds if an array is damaged
        return 0


def _bytes(piece: Path) -> int:
    total = 0
    for path in piece.glob("*"):
        with suppress(OSError):  # another process has just deleted it
            total += path.stat().st_size
    return total


def _used(piece: Path) -> float:
    with suppress(OSError):
        return piece.stat().st_mtime
    return 0.0


def _remove(piece: Path) -> None:
    """Rename a piece, then delete it, so that no process reads an incomplete one."""
    old = piece.with_name(f".old-{piece.name}")
    with suppress(OSError):
        os.replace(piece, old)
    shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers() -> None:
    """Delete what killed processes left behind, but nothing of a process that is running."""
    for folder in _encoder_folders():
        for path in folder.glob(".old-*"):
            shutil.rmtree(path, ignore_errors=True)
        for path in folder.glob(".new-*"):
            if (path / LOCK).exists():
                remove_abandoned(path)
            elif time.time() - _used(path) > LEFTOVER:  # of an earlier version
                shutil.rmtree(path, ignore_errors=True)
                with suppress(OSError):
                    path.unlink(missing_ok=True)
