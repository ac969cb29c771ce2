"""Which encoder reads which role of a corpus."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.encoders.base import Encoder
from dissensus.encoders.cache import cached_store
from dissensus.encoders.store import Store
from dissensus.errors import ModelError, listed

# by kind of content, then by name: the module and class; "words:" is followed by a path; "" is
# any other name, a folder or a model of the hub
ENCODERS: dict[Kind, dict[str, tuple[str, str]]] = {
    "text": {
        "minilm": ("text", "TextEncoder"),
        "words:": ("words", "WordsEncoder"),
        "characters": ("characters", "CharactersEncoder"),
        "": ("text", "TextEncoder"),
    },
    "image": {
        "efficientnet-lite0": ("image", "ImageEncoder"),
        "features": ("features", "FeaturesEncoder"),
        "": ("image", "ImageEncoder"),
    },
    "audio": {"whisper-tiny": ("speech", "SpeechEncoder"), "": ("speech", "SpeechEncoder")},
    "video": {
        "efficientnet-lite0": ("video", "VideoEncoder"),
        "": ("video", "VideoEncoder"),
    },
    "features": {"features": ("features", "FeaturesEncoder")},
}
DEFAULTS: dict[Kind, str] = {
    "text": "minilm",
    "image": "efficientnet-lite0",
    "audio": "whisper-tiny",
    "video": "efficientnet-lite0",
    "features": "features",
}


@dataclass(frozen=True, eq=False)
class Reading:
    """What an encoder reads: distinct contents, and which of them each item shows."""

    encoder: Encoder
    contents: Contents
    content: np.ndarray  # (n_items,) codes, -1 absent

    def store(self) -> Store:
        """What the encoder makes of the contents."""
        return encode(self.encoder, self.contents)


def encode(reader: Encoder, contents: Contents) -> Store:
    """What an encoder makes of contents, from the cache where it was made before."""
    if not len(contents):
        raise ModelError("no contents to encode")
    return cached_store(reader, contents) if reader.cached else reader.encode(contents)


@functools.cache
def encoder(name: str, kind: Kind) -> Encoder:
    """The encoder of this name for contents of this kind.

    Args:
        name: one of ours, "auto" for the kind's default, "words:PATH" for a file of word vectors,
            a folder that holds a transformers model, or a model's name on the hub.
    """
    ours = ENCODERS[kind]
    name = DEFAULTS.get(kind, name) if name == "auto" else name
    if _entry(name) not in ours and ("" not in ours or _belongs_elsewhere(name)):
        known = [known for known in ours if known]
        raise ModelError(f"no encoder {name!r} reads {kind}; there are {listed(known) or 'none'}")
    module, cls = ours.get(_entry(name)) or ours[""]
    found = getattr(importlib.import_module(f"dissensus.encoders.{module}"), cls)
    alone = name in ("features", "characters")
    made: Encoder = found() if alone else found(name.removeprefix("words:"))
    return made


def _entry(name: str) -> str:
    """The entry that a name belongs to: "words:" for "words:glove.txt"."""
    return "words:" if name.startswith("words:") else name


def _belongs_elsewhere(name: str) -> bool:
    """Whether it is the name of one of our encoders, for another kind."""
    return any(_entry(name) in names for names in ENCODERS.values())


def readings(corpus: Corpus, name: str | Mapping[str, str]) -> dict[str, Reading]:
    """What is read of a corpus, and by which encoder.

    Args:
        name: one encoder for all roles it can read ("auto": each role's default), or a name for
            each role; "premise+hypothesis" are texts that are read together.
    """
    if isinstance(name, Mapping):
        return {role: _reading(corpus, role, of_role) for role, of_role in name.items()}
    found = {}
    for role, held in corpus.contents.items():
        ours = ENCODERS[held.kind]
        if name == "auto" or _entry(name) in ours or ("" in ours and not _belongs_elsewhere(name)):
            found[role] = _reading(corpus, role, name)
    if not found:
        held_kinds = {role: held.kind for role, held in corpus.contents.items()}
        raise ModelError(
            f"{corpus.name}: encoder {name!r} reads nothing of {held_kinds or 'no contents'}"
        )
    return found


def _reading(corpus: Corpus, roles: str, name: str) -> Reading:
    parts = roles.split("+") if roles not in corpus.contents else [roles]
    strange = [role for role in parts if role not in corpus.contents]
    if strange:
        raise ModelError(
            f"{corpus.name}: no role {listed(strange)}; there are {listed(corpus.contents)}"
        )
    if len(parts) == 1:
        held = corpus.contents[roles]
        return Reading(encoder(name, held.kind), held, corpus.content[roles])
    return Reading(encoder(name, "text"), *_together(corpus, parts))


def _together(corpus: Corpus, roles: list[str]) -> tuple[Contents, np.ndarray]:
    """Distinct tuples of texts, and the one of each item; an absent text is an empty one."""
    other = [role for role in roles if corpus.contents[role].kind != "text"]
    if other:
        raise ModelError(f"{corpus.name}: only texts are read together, {listed(other)} is not one")
    codes = np.stack([corpus.content[role] for role in roles], axis=1)
    distinct, content = np.unique(codes, axis=0, return_inverse=True)
    texts = [["", *corpus.contents[role].values.to_pylist()] for role in roles]
    tuples = [[of_role[c + 1] for of_role, c in zip(texts, row, strict=True)] for row in distinct]
    return Contents("text", pa.array(tuples, pa.list_(pa.string()))), content.reshape(-1)
