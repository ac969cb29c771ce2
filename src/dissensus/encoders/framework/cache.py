"""The feature cache: what a frozen encoder made of a content is kept on disk, once.

A folder per encoder (named by a hash of its identity), in it a folder per piece of work, which
appears whole or not at all; so a killed process leaves nothing half-written behind, and two
processes at once write two pieces. Where all pieces together are larger than a limit, those that
were not used for the longest time are thrown away.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.contents import Contents
from dissensus.encoders.framework.keys import KEY, content_keys
from dissensus.encoders.framework.media import Unreadable
from dissensus.encoders.framework.store import Store
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

PARTS = ("keys", "vectors", "places", "offsets", "cut")
ABOUT = "encoder.json"  # in an encoder's folder: which one it is
LIMIT = "20 GB"  # of all pieces together, where DISSENSUS_CACHE_LIMIT says nothing else
LEFTOVER = 3600  # seconds after which a piece that was never finished belongs to nobody
LARGE = 1 << 30  # bytes above which what is put together from pieces lies on disk too
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
         "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Piece:
    """What an encoder made of some contents at one time."""

    folder: Path
    keys: np.ndarray  # (n_contents,)
    store: Store


@dataclass(frozen=True)
class Cached:
    """What the cache holds of one encoder."""

    name: str
    identity: str
    folder: Path
    contents: int
    bytes: int
    used: float  # when a piece was last used, in seconds since 1970

    def is_called(self, name: str) -> bool:
        """Whether this is the encoder's name, or the beginning of its folder's."""
        return self.name == name or (len(name) >= 6 and self.folder.name.startswith(name))


# ---- where it lies, how large it may be ----


def cache_folder() -> Path:
    """DISSENSUS_CACHE, or dissensus in the user's cache folder."""
    named = os.environ.get("DISSENSUS_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dissensus"


def cache_limit() -> int:
    """DISSENSUS_CACHE_LIMIT in bytes."""
    named = os.environ.get("DISSENSUS_CACHE_LIMIT") or LIMIT
    try:
        return size(named)
    except DataError as error:
        raise DataError(f"DISSENSUS_CACHE_LIMIT: {error}") from None


def size(text: str) -> int:
    """A size in bytes.

    Example:
        >>> size("20 GB"), size("1.5kB"), size("2 GiB"), size("0")
        (20000000000, 1500, 2147483648, 0)
    """
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([KMGT]?I?)B?", text.strip().upper())
    if not found or found[2] not in UNITS:
        raise DataError(f"a size must be a number and a unit, e.g. '20 GB', found {text!r}")
    return int(float(found[1]) * UNITS[found[2]])


# ---- reading and writing ----


def cached_store(encoder: Encoder, contents: Contents) -> Store:
    """What `encoder` makes of `contents`; only what was never encoded is computed."""
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
        pieces.append(_kept(folder, encoder, keys[codes], store))
        trim(limit, in_use=[piece.folder for piece in pieces])
    return _gathered(folder, keys, pieces)


def is_cached(encoder: Encoder, contents: Contents) -> np.ndarray:
    """Which of the contents the encoder has read before, (n_contents,) booleans."""
    keys = content_keys(contents)
    pieces = _pieces(_folder_of(encoder), keys)
    return np.isin(keys, np.concatenate([keys[:0], *(piece.keys for piece in pieces)]))


def _folder_of(encoder: Encoder) -> Path:
    return cache_folder() / hashlib.sha256(encoder.identity.encode()).hexdigest()[:24]


def _pieces(folder: Path, keys: np.ndarray) -> Iterator[Piece]:
    """The pieces that hold some of these; damaged ones are thrown away."""
    for piece in sorted(folder.glob("piece-*")):
        try:
            held = np.load(piece / "keys.npy")
            if held.dtype == keys.dtype and not np.isin(held, keys).any():
                continue
            found = _loaded(piece)
        except (FileNotFoundError, ValueError, EOFError):
            _remove(piece)
            continue
        except OSError:  # not ours to read; whole all the same, perhaps
            continue
        with suppress(OSError):  # a cache that may only be read is a cache too
            os.utime(piece)
        yield found


def _loaded(folder: Path) -> Piece:
    """A piece, memory-mapped; ValueError where its parts do not fit one another."""
    keys, vectors, places, offsets, cut = (
        np.load(folder / f"{part}.npy", mmap_mode="r") for part in PARTS
    )
    keys, offsets, cut = np.array(keys), np.array(offsets), np.array(cut)
    n_positions = offsets[-1] if offsets.ndim == 1 and len(offsets) else -1
    whole = (
        keys.dtype == KEY
        and (vectors.ndim, places.ndim) == (2, 3)
        and len(keys) == len(offsets) - 1 == len(cut)
        and n_positions == len(vectors) == len(places)
        and offsets[0] == 0
        and bool((np.diff(offsets) >= 0).all())
    )
    if not whole:
        raise ValueError(f"{folder}: keys, offsets and vectors do not fit one another")
    return Piece(folder, keys, Store(vectors, places, offsets, cut))


def _kept(folder: Path, encoder: Encoder, keys: np.ndarray, store: Store) -> Piece:
    """The store, written as a piece and memory-mapped."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _say_whose(folder, encoder)
        temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
        target = folder / f"piece-{temporary.name.removeprefix('.new-')}"
        try:
            cut = np.zeros(len(store), bool) if store.cut is None else store.cut
            arrays = keys, store.vectors, store.places, store.offsets, cut
            for part, array in zip(PARTS, arrays, strict=True):
                _save(temporary / f"{part}.npy", array)
            piece = _loaded(temporary)  # before others can see it, and throw it away
            os.replace(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise DataError(
            f"{folder}: features cannot be written ({error.strerror or error}); name another "
            "folder in DISSENSUS_CACHE, or make room with `dissensus cache --clear`"
        ) from None
    return Piece(target, piece.keys, piece.store)


def _save(path: Path, array: np.ndarray) -> None:
    """Write an array that is there even after the power fails."""
    with path.open("wb") as file:
        np.save(file, array)
        file.flush()
        os.fsync(file.fileno())


def _say_whose(folder: Path, encoder: Encoder) -> None:
    if not (folder / ABOUT).is_file():
        name = str(getattr(encoder, "name", encoder.identity))
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"name": name, "identity": encoder.identity}, file)
        os.replace(temporary, folder / ABOUT)


# ---- putting together ----


def _gathered(folder: Path, keys: np.ndarray, pieces: list[Piece]) -> Store:
    """One store in the order of `keys`, out of the pieces that hold them."""
    for piece in pieces:
        if np.array_equal(piece.keys, keys):
            return piece.store
    piece_of, code_of = _whereabouts(keys, pieces)
    lengths, cut = np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
    for number, piece in enumerate(pieces):
        mine = piece_of == number
        lengths[mine] = np.diff(piece.store.offsets)[code_of[mine]]
        cut[mine] = 0 if piece.store.cut is None else piece.store.cut[code_of[mine]]
    offsets = np.r_[0, np.cumsum(lengths)]
    first = pieces[0].store
    vectors = _space(folder, (int(offsets[-1]), first.width), first.vectors.dtype)
    places = np.empty((int(offsets[-1]), *first.places.shape[1:]), dtype=first.places.dtype)
    for number, piece in enumerate(pieces):
        mine = np.flatnonzero(piece_of == number)
        for target, source in _runs(mine, code_of[mine], offsets, piece.store.offsets):
            vectors[target] = piece.store.vectors[source]
            places[target] = piece.store.places[source]
    return Store(vectors, places, offsets, cut)


def _whereabouts(keys: np.ndarray, pieces: list[Piece]) -> tuple[np.ndarray, np.ndarray]:
    """The piece that holds each key, and its number in there, (n_keys,) each."""
    held = np.concatenate([piece.keys for piece in pieces])
    sizes = [len(piece.keys) for piece in pieces]
    order = np.argsort(held, kind="stable")
    at = order[np.searchsorted(held, keys, sorter=order)]
    first = np.cumsum(sizes) - sizes
    piece_of = np.repeat(np.arange(len(pieces)), sizes)[at]
    return piece_of, at - first[piece_of]


def _runs(
    codes: np.ndarray, sources: np.ndarray, offsets: np.ndarray, source_offsets: np.ndarray
) -> Iterator[tuple[slice, slice]]:
    """Positions in the result and in a piece of contents that follow one another in both."""
    if not len(codes):
        return
    breaks = np.flatnonzero((np.diff(codes) != 1) | (np.diff(sources) != 1)) + 1
    edges = np.r_[0, breaks, len(codes)]
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        yield (
            slice(offsets[codes[a]], offsets[codes[b - 1] + 1]),
            slice(source_offsets[sources[a]], source_offsets[sources[b - 1] + 1]),
        )


def _space(folder: Path, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """An array to fill: in memory, or where it is large in a file that vanishes with it."""
    taken = shape[0] * shape[1] * np.dtype(dtype).itemsize
    with suppress(OSError):  # nothing may be written there: in memory after all
        if taken > LARGE and shutil.disk_usage(folder).free > 2 * taken:
            with tempfile.TemporaryFile(prefix=".new-", dir=folder) as file:
                return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    return np.empty(shape, dtype=dtype)


# ---- what it holds, and throwing away ----


def held() -> list[Cached]:
    """What the cache holds, what was used last first."""
    found = [_cached(folder) for folder in _encoder_folders()]
    return sorted((one for one in found if one.bytes), key=lambda one: -one.used)


def clear(name: str | None = None) -> int:
    """Throw away what one encoder made, or all; gives the bytes that are free again.

    Args:
        name: of an encoder, or the beginning of its folder's name.
    """
    everything = held()
    chosen = [one for one in everything if name is None or one.is_called(name)]
    if name is not None and not chosen:
        names = listed(sorted({one.name for one in everything})) or "nothing"
        raise DataError(f"{cache_folder()}: nothing of encoder {name!r}; there is {names}")
    for one in chosen:
        for piece in one.folder.glob("piece-*"):
            _remove(piece)
    _remove_leftovers()
    return sum(one.bytes for one in chosen)


def trim(limit: int, in_use: list[Path] | None = None) -> int:
    """Throw away what was not used for longest, until all pieces together have at most `limit`
    bytes; gives the bytes that are free again. Pieces in use stay."""
    _remove_leftovers()
    pieces = [
        (_used(piece), _bytes(piece), piece)
        for folder in _encoder_folders()
        for piece in folder.glob("piece-*")
    ]
    total = before = sum(taken for _, taken, _ in pieces)
    spared = set(in_use or ())
    for _, taken, piece in sorted(pieces):
        if total <= limit:
            break
        if piece not in spared:
            _remove(piece)
            total -= taken
    return before - total


def _encoder_folders() -> list[Path]:
    found = cache_folder().glob("*")
    return sorted(path for path in found if re.fullmatch("[0-9a-f]{24}", path.name))


def _cached(folder: Path) -> Cached:
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        name, identity = str(about["name"]), str(about["identity"])
    except (OSError, ValueError, LookupError, TypeError):
        name, identity = folder.name, ""
    pieces = list(folder.glob("piece-*"))
    return Cached(
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
    except (OSError, ValueError, EOFError):
        return 0


def _bytes(piece: Path) -> int:
    total = 0
    for path in piece.glob("*"):
        with suppress(OSError):  # thrown away by another process just now
            total += path.stat().st_size
    return total


def _used(piece: Path) -> float:
    with suppress(OSError):
        return piece.stat().st_mtime
    return 0.0


def _remove(piece: Path) -> None:
    """Take a piece away at once as a whole, so that nobody reads half of it."""
    old = piece.with_name(f".old-{piece.name}")
    with suppress(OSError):
        os.replace(piece, old)
    shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers() -> None:
    """What killed processes left behind; younger ones may still be at work."""
    for folder in _encoder_folders():
        for path in [*folder.glob(".new-*"), *folder.glob(".old-*")]:
            if time.time() - _used(path) > LEFTOVER:
                shutil.rmtree(path, ignore_errors=True)
                with suppress(OSError):
                    path.unlink(missing_ok=True)
