"""Features of frozen encoders, computed once before many fits use them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Method


def encode(corpus: Corpus, methods: Iterable[Method]) -> None:
    """Fill the feature cache, so that several processes do not all compute the same."""
    from dissensus.encoders import encodings

    names = {}
    for method in methods:
        if hasattr(method, "encoder") and getattr(method, "tune", "nothing") == "nothing":
            names[json.dumps(method.encoder, sort_keys=True)] = method.encoder
    for name in names.values():
        for encoding in encodings(corpus, name).values():
            if encoding.encoder.cached:
                encoding.store()


def has_features_only(corpus: Corpus) -> bool:
    """Whether all contents are features."""
    kinds = {contents.kind for contents in corpus.contents.values()}
    return kinds == {"features"}
