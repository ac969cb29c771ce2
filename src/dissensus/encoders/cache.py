"""The feature cache: what a frozen encoder made of a content is kept on disk, once.

A folder per encoder (named by a hash of its identity), in it a folder per piece of work, which
appears whole or not at all; so a killed process leaves nothing half-written behind, and two
processes at once write two pieces.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dissensus.contents import Contents
from dissensus.encoders.base import Encoder
from dissensus.encoders.store import Store

PARTS = ("keys", "vectors", "places", "offsets", "cut")


def cache_folder() -> Path:
    """DISSENSUS_CACHE, or dissensus in the user's cache folder."""
    named = os.environ.get("DISSENSUS_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dissensus"


def cached_store(encoder: Encoder, contents: Contents) -> Store:
    """What `encoder` makes of `contents`; only what was never encoded is computed."""
    folder = cache_folder() / hashlib.sha256(encoder.identity.encode()).hexdigest()[:24]
    keys = np.array([_key(contents, code) for code in range(len(contents))], dtype="S32")
    known = _known(folder)
    missing = np.flatnonzero(~np.isin(keys, np.concatenate([k for k, _ in known] or [keys[:0]])))
    for first in range(0, len(missing), encoder.piece):
        codes = missing[first : first + encoder.piece]
        store = encoder.encode(contents.take(codes))
        known.append((keys[codes], _write(folder, keys[codes], store)))
    return _gathered(keys, known)


def _key(contents: Contents, code: int) -> str:
    value = contents[code]
    if contents.kind in ("text", "features"):
        data = json.dumps(value).encode()
    else:
        data = contents.bytes_of(code)
    return hashlib.sha256(contents.kind.encode() + b"\0" + data).hexdigest()[:32]


def _known(folder: Path) -> list[tuple[np.ndarray, Store]]:
    """Every piece that can be read, with its keys; damaged ones are thrown away."""
    pieces = []
    for piece in sorted(folder.glob("piece-*")):
        try:
            keys, vectors, places, offsets, cut = (
                np.load(piece / f"{part}.npy", mmap_mode="r") for part in PARTS
            )
        except (OSError, ValueError, EOFError):
            shutil.rmtree(piece, ignore_errors=True)
            continue
        pieces.append(
            (np.asarray(keys), Store(vectors, places, np.asarray(offsets), np.asarray(cut)))
        )
    return pieces


def _write(folder: Path, keys: np.ndarray, store: Store) -> Store:
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    try:
        cut = np.zeros(len(store), bool) if store.cut is None else store.cut
        arrays = keys, store.vectors, store.places, store.offsets, cut
        for part, array in zip(PARTS, arrays, strict=True):
            np.save(temporary / f"{part}.npy", array)
        os.replace(temporary, folder / f"piece-{temporary.name.removeprefix('.new-')}")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return store


def _gathered(keys: np.ndarray, known: list[tuple[np.ndarray, Store]]) -> Store:
    """One store in the order of `keys`, out of the pieces that hold them."""
    for piece_keys, store in known:
        if np.array_equal(piece_keys, keys):
            return store
    piece_of, code_of = np.full(len(keys), -1), np.zeros(len(keys), dtype=np.int64)
    for number, (piece_keys, _) in enumerate(known):
        order = np.argsort(piece_keys)
        at = np.searchsorted(piece_keys[order], keys).clip(max=len(order) - 1)
        here = (piece_keys[order][at] == keys) & (piece_of < 0)
        piece_of[here], code_of[here] = number, order[at[here]]
    lengths, cut = np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
    for number, (_, store) in enumerate(known):
        mine = piece_of == number
        lengths[mine] = np.diff(store.offsets)[code_of[mine]]
        if store.cut is not None:
            cut[mine] = store.cut[code_of[mine]]
    offsets = np.r_[0, np.cumsum(lengths)]
    first = known[0][1]
    vectors = np.empty((offsets[-1], first.width), dtype=first.vectors.dtype)
    places = np.empty((offsets[-1], *first.places.shape[1:]), dtype=first.places.dtype)
    for number, (_, store) in enumerate(known):
        for target, source in _ranges(np.flatnonzero(piece_of == number), code_of, offsets, store):
            vectors[target], places[target] = store.vectors[source], store.places[source]
    return Store(vectors, places, offsets, cut)


def _ranges(
    mine: np.ndarray, code_of: np.ndarray, offsets: np.ndarray, store: Store
) -> Iterator[tuple[slice, slice]]:
    """Runs of contents that follow one another in the piece as they do in the result."""
    if not mine.size:
        return
    breaks = np.flatnonzero((np.diff(mine) != 1) | (np.diff(code_of[mine]) != 1)) + 1
    for run in np.split(mine, breaks):
        a, b = code_of[run[0]], code_of[run[-1]] + 1
        target = slice(offsets[run[0]], offsets[run[-1] + 1])
        yield target, slice(store.offsets[a], store.offsets[b])
