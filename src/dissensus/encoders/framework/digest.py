"""A hash of all data that methods learn from."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders.framework.cache import content_keys


def data_digest(corpus: Corpus) -> str:
    """A hash of everything that methods learn from and are scored on."""
    digest = hashlib.sha256()
    for part in ("\n".join(corpus.items), "\n".join(corpus.annotators), corpus.group):
        digest.update(f"{part}\0".encode())
    for kind, tables in (("asked", corpus.questions), ("gold", corpus.gold)):
        for question, answers in sorted(tables.items()):
            digest.update(f"{kind} {question}\0".encode())
            digest.update(json.dumps(answers.scale.to_dict()).encode())
            for column in (answers.item, answers.annotator, answers.answer, answers.count):
                if column is not None:
                    digest.update(np.ascontiguousarray(column, dtype=float).tobytes())
                digest.update(b"\0")
    for role, contents in sorted(corpus.contents.items()):
        digest.update(f"{role} {contents.kind}\0".encode())
        digest.update(content_keys(contents).tobytes())
        digest.update(corpus.content[role].astype(np.int64).tobytes())
    if corpus.focus is not None:
        digest.update(f"{corpus.focus.role}\0".encode())
        for ends in (corpus.focus.start, corpus.focus.stop):
            digest.update(np.ascontiguousarray(ends, dtype=float).tobytes())
    return digest.hexdigest()
