"""The feature cache: the vectors of contents on disk, so that nothing is encoded twice.

An encoder has a folder, named by a hash of its identity, with a file of safetensors for each piece:
the contents that were encoded together. A file is complete when it has its name, which ends with
its checksum; one that does not match is deleted. Files are read through memory maps. When all of
them exceed the limit, those that were not used for longest are deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from dissensus.contents import Contents
from dissensus.encoders.framework.store import Store, Unreadable
from dissensus.errors import DataError
from dissensus.files.folders import reason_of
from dissensus.files.plain import size_of

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

KEY = np.dtype("S32")
PARTS = ("keys", "vectors", "places", "offsets", "cut")
PIECES = "????????-????????.safetensors"  # a random name, and the checksum
LIMIT = "20 GB"  # of all pieces together, unless DISSENSUS_CACHE_LIMIT is set
LEFTOVER = 3600  # seconds after which an unfinished piece is deleted
BLOCK = 4096  # bytes that are summed for a checksum
LARGE = 1 << 30  # bytes above which a joined store is a file on disk


@dataclass(frozen=True, eq=False)
class Piece:
    """The vectors of some contents that were encoded together."""

    folder: Path
    keys: np.ndarray  # (n_contents,)
    store: Store


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
    return 0 if limit == "0" else size_of(limit, "DISSENSUS_CACHE_LIMIT")


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
    for path in sorted(folder.glob(PIECES)):
        try:
            if not np.isin(_tensor(path, "keys").view(KEY), keys).any():
                continue
            if not path.stem.endswith(_checksum(path)):
                raise ValueError("damaged")
            piece = _loaded(path)
        except FileNotFoundError:  # another process has just deleted it
            continue
        except OSError:  # no permission to read it, but it may be undamaged
            continue
        except (SafetensorError, ValueError):
            _remove(path)
            continue
        with suppress(OSError):  # the cache may be read-only
            os.utime(path)
        yield piece


def _tensor(path: Path, part: str) -> np.ndarray:
    """One of the parts of a piece, memory-mapped."""
    with safe_open(path, framework="pt") as file:
        array: np.ndarray = file.get_tensor(part).numpy()
    return array


def _loaded(path: Path) -> Piece:
    """A piece, of which the vectors and places are memory-mapped."""
    keys, vectors, places, offsets, cut = (_tensor(path, part) for part in PARTS)
    return Piece(path, keys.view(KEY)[:, 0], Store(vectors, places, offsets, cut))


def _written(folder: Path, encoder: Encoder, keys: np.ndarray, store: Store) -> Piece:
    """Write a store as a piece; returns it memory-mapped."""
    cut = np.zeros(len(store), bool) if store.cut is None else store.cut
    arrays = keys[:, None].view(np.uint8), store.vectors, store.places, store.offsets, cut
    tensors = {part: np.ascontiguousarray(array) for part, array in zip(PARTS, arrays, strict=True)}
    about = {"name": getattr(encoder, "name", encoder.identity), "identity": encoder.identity}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, new = tempfile.mkstemp(prefix=".new-", dir=folder)
        os.close(handle)
        try:
            save_file(tensors, new, about)
            piece = _loaded(Path(new))  # before other processes can delete it
            path = folder / f"{Path(new).name[5:]}-{_checksum(Path(new))}.safetensors"
            os.replace(new, path)
        finally:
            Path(new).unlink(missing_ok=True)
    except (OSError, SafetensorError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else error
        raise DataError(
            f"{folder}: features cannot be written ({reason}); set DISSENSUS_CACHE to another "
            "folder, or delete what is in it"
        ) from None
    return Piece(path, piece.keys, piece.store)


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
    for n, piece in enumerate(pieces):
        here = np.flatnonzero(number == n)
        target = _positions(offsets[here], lengths[here])
        source = _positions(start[here], lengths[here])
        vectors[target] = piece.store.vectors[source]
        places[target] = piece.store.places[source]
    return Store(vectors, places, offsets, cut)


def _positions(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The positions of sequences, one sequence after another."""
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + within


def _empty(folder: Path, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """An array to fill: in memory, or if it is large in a temporary file."""
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    with suppress(OSError):  # the folder is read-only: in memory
        if n_bytes > LARGE and shutil.disk_usage(folder).free > 2 * n_bytes:
            with tempfile.TemporaryFile(prefix=".new-", dir=folder) as file:
                return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    return np.empty(shape, dtype=dtype)


# ---- delete ----


def trim(limit: int, in_use: list[Path]) -> None:
    """Delete the least recently used pieces until all together have at most `limit` bytes. Pieces
    in use are kept."""
    _remove_leftovers()
    folders = _encoder_folders()
    pieces = [(*_used(piece), piece) for folder in folders for piece in folder.glob(PIECES)]
    total = sum(n_bytes for _, n_bytes, _ in pieces)
    kept = set(in_use)
    for _, n_bytes, piece in sorted(pieces):
        if total <= limit:
            break
        if piece not in kept:
            _remove(piece)
            total -= n_bytes


def _encoder_folders() -> list[Path]:
    paths = cache_folder().glob("*")
    return sorted(path for path in paths if re.fullmatch("[0-9a-f]{24}", path.name))


def _used(piece: Path) -> tuple[float, int]:
    """When a piece was last used, and its bytes."""
    with suppress(OSError):  # another process has just deleted it
        about = piece.stat()
        return about.st_mtime, about.st_size
    return 0.0, 0


def _remove(piece: Path) -> None:
    with suppress(OSError):
        piece.unlink()


def _remove_leftovers() -> None:
    """Delete what killed processes left behind."""
    for folder in _encoder_folders():
        for path in folder.glob(".new-????????"):
            if time.time() - _used(path)[0] > LEFTOVER:
                _remove(path)


# ---- keys ----


def content_keys(contents: Contents) -> np.ndarray:
    """A hash of each content, which does not depend on where or how the content is stored."""
    together = contents.kind == "text" and pa.types.is_list(contents.values.type)
    kind = "texts" if together else contents.kind
    start = hashlib.sha256(kind.encode() + b"\0")
    keys = []
    for data in _data(contents):
        key = start.copy()
        key.update(data)
        keys.append(key.hexdigest()[:32])
    return np.array(keys, dtype=KEY)


def _data(contents: Contents) -> Iterator[bytes | memoryview]:
    """The bytes of each content that its key is computed from."""
    values = contents.values
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if contents.kind == "features":
        return (_numbers(value.values) for value in values)
    if pa.types.is_list(values.type):  # texts read together
        return (json.dumps(parts).encode() for parts in values.to_pylist())
    strings = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if contents.kind != "text" and strings:  # paths
        return (contents.bytes_of(code) for code in range(len(values)))
    values = values.cast(pa.large_binary())  # in the memory of Arrow
    _, offsets, data = values.buffers()
    edges = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    view = memoryview(data if data is not None else b"")
    return (view[a:b] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _numbers(values: Any) -> bytes:
    """A vector, or a sequence of vectors, with its shape."""
    nested = hasattr(values.type, "value_type")
    lengths = values.value_lengths().to_pylist() if nested else len(values)
    flat = values.flatten() if nested else values
    numbers = flat.to_numpy(zero_copy_only=False).astype(np.float32)
    return repr(lengths).encode() + b"\0" + numbers.tobytes()
