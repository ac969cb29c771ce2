"""What frozen encoders read of a corpus, encoded once before many fits ask for it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Method


def encode(corpus: Corpus, methods: Iterable[Method]) -> None:
    """Fill the feature cache once, before several processes would all do it."""
    from dissensus.encoders import encodings

    names = {}
    for method in methods:
        if hasattr(method, "encoder") and getattr(method, "tune", "nothing") == "nothing":
            names[json.dumps(method.encoder, sort_keys=True)] = method.encoder
    for name in names.values():
        for reading in encodings(corpus, name).values():
            if reading.encoder.cached:
                reading.store()
