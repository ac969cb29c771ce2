"""Which items a model learned from, as hashes in its folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.files.folders import read_table, write_table

TRAINED = "trained_items.parquet"  # in the folder of a model


def save_trained_items(folder: Path, corpus: Corpus) -> None:
    """Write which items a model learned from, as hashes, to its folder."""
    write_table(folder / TRAINED, {"item": np.unique(_item_hashes(corpus))})


def trained_items(folder: Path, corpus: Corpus) -> np.ndarray | None:
    """Which items the model in the folder learned from; None if an earlier version wrote it."""
    if not (folder / TRAINED).exists():
        return None
    return np.isin(_item_hashes(corpus), read_table(folder / TRAINED)["item"].to_numpy())


def _item_hashes(corpus: Corpus) -> np.ndarray:
    """A hash of the contents of each item, (n_items,); without contents, of corpus and item."""
    parts: list[list[str]] = []
    for role, contents in sorted(corpus.contents.items()):
        each = np.array([_content_hash(contents[code]) for code in range(len(contents))] + [""])
        parts.append([f"{role}:{one}" for one in each[corpus.content[role]]])
    if corpus.focus is not None:
        ends = zip(corpus.focus.start, corpus.focus.stop, strict=True)
        parts.append([f"{start}-{stop}" for start, stop in ends])
    if not parts:
        parts = [[f"{corpus.name}/{item}" for item in corpus.items]]
    return np.array([_content_hash("\0".join(each)) for each in zip(*parts, strict=True)])


def _content_hash(content: Any) -> str:
    data = content.tobytes() if isinstance(content, np.ndarray) else content
    data = data if isinstance(data, bytes) else str(data).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()
