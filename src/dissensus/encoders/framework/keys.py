"""Hashes: the key of each content in the feature cache, and of all data that methods learn from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus

KEY = np.dtype("S32")


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
    if contents.kind == "text" or not _are_paths(values):
        return _buffer(values)
    return (contents.bytes_of(code) for code in range(len(values)))


def _are_paths(values: Any) -> bool:
    return pa.types.is_string(values.type) or pa.types.is_large_string(values.type)


def _buffer(values: Any) -> Iterator[memoryview]:
    """The bytes of strings, in the memory of Arrow."""
    values = values.cast(pa.large_binary())
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


def data_digest(corpus: Corpus) -> str:
    """A hash of everything that methods learn from and are scored on."""
    digest = hashlib.sha256()
    for part in ("\n".join(corpus.items), "\n".join(corpus.annotators), corpus.group):
        digest.update(f"{part}\0".encode())
    for kind, tables in (("asked", corpus.questions), ("gold", corpus.gold)):
        for question, answers in sorted(tables.items()):
            digest.update(f"{kind} {question}\0".encode())
            _add_answers(digest, answers)
    for role, contents in sorted(corpus.contents.items()):
        digest.update(f"{role} {contents.kind}\0".encode())
        digest.update(content_keys(contents).tobytes())
        digest.update(corpus.content[role].astype(np.int64).tobytes())
    if corpus.focus is not None:
        digest.update(f"{corpus.focus.role}\0".encode())
        for ends in (corpus.focus.start, corpus.focus.stop):
            digest.update(np.ascontiguousarray(ends, dtype=float).tobytes())
    return digest.hexdigest()


def _add_answers(digest: Any, answers: Annotations) -> None:
    digest.update(json.dumps(answers.scale.to_dict()).encode())
    for column in (answers.item, answers.annotator, answers.answer, answers.count):
        if column is not None:
            digest.update(np.ascontiguousarray(column, dtype=float).tobytes())
        digest.update(b"\0")
