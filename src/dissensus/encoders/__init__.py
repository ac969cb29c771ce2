"""Contents to sequences of vectors: `Contents -> Store`, frozen encoders cached on disk."""

from __future__ import annotations

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.encoders.base import Encoder
from dissensus.encoders.cache import cached_store
from dissensus.encoders.features import FeaturesEncoder
from dissensus.encoders.store import Sequence, Store
from dissensus.encoders.text import TextEncoder
from dissensus.errors import ModelError, listed

__all__ = ["Encoder", "FeaturesEncoder", "Sequence", "Store", "TextEncoder", "encode", "encoder"]


def encoder(name: str) -> Encoder:
    """The encoder of this name: "minilm", "features", a folder or a transformers model's name."""
    return FeaturesEncoder() if name == "features" else TextEncoder(name)


def encoders_of(corpus: Corpus, name: str | dict[str, str]) -> dict[str, Encoder]:
    """Which encoder reads which role: the roles it can read, or as the dict says."""
    if isinstance(name, dict):
        strange = [role for role in name if role not in corpus.contents]
        if strange:
            raise ModelError(
                f"{corpus.name}: no role {listed(strange)}; there are {listed(corpus.contents)}"
            )
        chosen = {role: encoder(of_role) for role, of_role in name.items()}
    else:
        reader = encoder(name)
        roles = [role for role, held in corpus.contents.items() if held.kind in reader.kinds]
        chosen = dict.fromkeys(roles, reader)
    for role, reader in chosen.items():
        kind = corpus.contents[role].kind
        if kind not in reader.kinds:
            raise ModelError(
                f"{corpus.name}: {role!r} is {kind}, this encoder reads {listed(reader.kinds)}"
            )
    if not chosen:
        held = {role: contents.kind for role, contents in corpus.contents.items()}
        raise ModelError(
            f"{corpus.name}: encoder {name!r} reads nothing of {held or 'no contents'}"
        )
    return chosen


def encode(reader: Encoder, contents: Contents) -> Store:
    """What an encoder makes of contents, from the cache where it was made before."""
    if not len(contents):
        raise ModelError("no contents to encode")
    return cached_store(reader, contents) if reader.cached else reader.encode(contents)
