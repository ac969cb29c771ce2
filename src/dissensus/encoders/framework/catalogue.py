"""ENCODERS: all encoders by name, and the encoders of the roles of a corpus."""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Container, Mapping
from dataclasses import Field, dataclass, fields
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.encoders.framework import hub
from dissensus.encoders.framework.cache import cached_store
from dissensus.encoders.framework.store import Store
from dissensus.errors import ModelError, listed

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

# kind of content -> name -> module and class; a name that ends in ":" is followed by a path; "" is
# any other name: a folder or a model on the hub
ENCODERS: dict[Kind, dict[str, tuple[str, str]]] = {
    "text": {
        "minilm": ("text", "TextEncoder"),
        "words:": ("words", "WordsEncoder"),
        "": ("text", "TextEncoder"),
    },
    "image": {
        "efficientnet-lite0": ("image", "ImageEncoder"),
        "features": ("features", "FeaturesEncoder"),
        "": ("image", "ImageEncoder"),
    },
    "audio": {
        "whisper-tiny": ("speech", "SpeechEncoder"),
        "whisper-base": ("speech", "SpeechEncoder"),
        "": ("speech", "SpeechEncoder"),
    },
    "video": {
        "efficientnet-lite0": ("video", "VideoEncoder"),
        "": ("video", "VideoEncoder"),
    },
    "features": {
        "features": ("features", "FeaturesEncoder"),
    },
}
AND = "&"  # between the names of several encoders of one role
DEFAULTS: dict[Kind, str] = {
    "text": "minilm",
    "image": "efficientnet-lite0",
    "audio": "whisper-tiny",
    "video": "efficientnet-lite0",
    "features": "features",
}


@functools.cache
def known_encoders() -> dict[Kind, dict[str, tuple[str, str]]]:
    """ENCODERS, and those that other packages declare (entry points `dissensus_encoders`)."""
    known = {
        kind: {name: (f"dissensus.encoders.{module}", cls) for name, (module, cls) in names.items()}
        for kind, names in ENCODERS.items()
    }
    for entry in entry_points(group="dissensus_encoders"):
        for kind, names in entry.load().items():
            known[kind] |= {k: v for k, v in names.items() if k not in known[kind]}
    return known


@dataclass(frozen=True, eq=False)
class Encoding:
    """An encoder with the distinct contents that it encodes, and the content of each item."""

    encoder: Encoder
    contents: Contents
    content: np.ndarray  # (n_items,) codes, -1 absent

    def store(self) -> Store:
        """The vectors of the contents."""
        return encode(self.encoder, self.contents)


def encode(frozen: Encoder, contents: Contents) -> Store:
    """The vectors of contents, from the feature cache if they were encoded before."""
    if not len(contents):
        raise ModelError("all contents are blank; there is nothing to encode")
    return cached_store(frozen, contents) if frozen.cached else frozen.encode(contents)


@functools.cache
def encoder(name: str, kind: Kind) -> Encoder:
    """The encoder of this name for contents of this kind.

    Args:
        name: an entry of ENCODERS, "auto" for the default of the kind, "words:PATH" for a file of
            word vectors, a folder with a transformers model, or the name of a model on the hub.
            Options follow the name, as in "minilm:max_length=64".
    """
    entries = known_encoders()[kind]
    plain, options = _split_options(name)
    plain = DEFAULTS[kind] if plain == "auto" else plain
    if _entry(plain) not in entries and ("" not in entries or _is_entry(plain)):
        known = [known for known in entries if known]
        raise ModelError(f"no encoder {plain!r} reads {kind}; there are {listed(known)}")
    module, class_name = entries.get(_entry(plain)) or entries[""]
    cls = getattr(importlib.import_module(module), class_name)
    known_options = {field.name: field for field in fields(cls)}
    with_path = _entry(plain).endswith(":")
    path = plain.removeprefix(_entry(plain)) if with_path else plain
    arguments = (path,) if with_path or "name" in known_options else ()
    for field in ("name", "vectors"):  # part of the name, not options
        known_options.pop(field, None)
    of_name: Encoder = cls(*arguments, **_read_options(plain, options, known_options))
    return of_name


def _split_options(name: str) -> tuple[str, dict[str, str]]:
    """A name without its options, and the options.

    Example:
        >>> _split_options("minilm:max_length=64"), _split_options("words:glove.txt")
        (('minilm', {'max_length': '64'}), ('words:glove.txt', {}))
    """
    match = re.fullmatch(r"(.*?)((?::\w+=[^:=]*)*)", name, re.DOTALL)
    assert match is not None  # the pattern matches any text
    return match[1], dict(option.split("=") for option in match[2].split(":")[1:])


def _read_options(
    name: str, options: Mapping[str, str], known: Mapping[str, Field[Any]]
) -> dict[str, Any]:
    """Options as numbers or text, by the types of the encoder's fields."""
    values: dict[str, Any] = {}
    for option, text in options.items():
        if option not in known:
            raise ModelError(
                f"encoder {name!r} has no option {option!r}; it has {listed(known) or 'none'}"
            )
        if known[option].type == "str":
            values[option] = text  # checked by the encoder
            continue
        whole = known[option].type != "float"
        try:
            values[option] = int(text) if whole else float(text)
        except ValueError:
            values[option] = 0
        if not 0 < values[option] < math.inf:
            kind = "an integer" if whole else "a number"
            raise ModelError(f"encoder {name!r}: {option} must be {kind} above 0, found {text!r}")
    return values


def _entry(name: str) -> str:
    """The entry that a name belongs to: "words:" for "words:glove.txt"."""
    entries = {entry for names in known_encoders().values() for entry in names}
    with_path = (entry for entry in entries if entry.endswith(":"))
    return next((entry for entry in with_path if name.startswith(entry)), name)


def outside_source(name: str) -> str | None:
    """The file, folder or model of the hub that an encoder is read from; None if it is installed.

    Example:
        >>> outside_source("minilm:max_length=64"), outside_source("words:glove.txt")
        (None, 'glove.txt')
    """
    plain = _split_options(name)[0]
    if _entry(plain).endswith(":"):
        path = plain.removeprefix(_entry(plain))
        return None if _is_entry(path) else path
    return None if plain == "auto" or _is_entry(plain) else plain


def _is_entry(name: str) -> bool:
    """Whether a name is known, for any kind of content."""
    return any(_entry(name) in names for names in known_encoders().values())


def encodings(corpus: Corpus, name: str | Mapping[str, str]) -> dict[str, Encoding]:
    """The encodings of the roles of a corpus, by key: a role, or several roles or encoders joined.

    Args:
        name: one encoder for all roles it can read ("auto": each role's default), or a name for
            each role. "premise+hypothesis" are texts that are read together. In a corpus with
            several kinds of contents, a model by folder or hub name reads the kind that its
            configuration names. "minilm&spelling" are two encoders of one role; the key of the
            second is then "text&spelling".
    """
    if isinstance(name, Mapping):
        return {
            key: _encoding(corpus, role, one)
            for role, of_role in name.items()
            for key, one in _keys_and_names(role, of_role)
        }
    kind_of_role = {role: contents.kind for role, contents in corpus.contents.items()}
    kinds = set(kind_of_role.values())
    for one in name.split(AND):
        kinds &= _kinds(one, set(kind_of_role.values()))
    of_roles = {role: name for role, kind in kind_of_role.items() if kind in kinds}
    by_role = encodings(corpus, of_roles)
    if not by_role:
        if not kind_of_role:
            raise ModelError(
                f"{corpus.name}: the corpus has no contents for encoder {name!r} to read; name the "
                "column of the texts (text=, --text), or choose a method that ignores contents "
                "(prior, annotator-majority)"
            )
        roles = ", ".join(f"{role!r} ({kind})" for role, kind in kind_of_role.items())
        raise ModelError(f"{corpus.name}: encoder {name!r} does not read {roles}")
    return by_role


def _keys_and_names(role: str, name: str) -> list[tuple[str, str]]:
    """The key and the name of each encoder of a role.

    Example:
        >>> _keys_and_names("text", "minilm&spelling:channels=8")
        [('text', 'minilm'), ('text&spelling:channels=8', 'spelling:channels=8')]
    """
    first, *others = name.split(AND)
    if "" in (first, *others) or len({first, *others}) <= len(others):
        raise ModelError(
            f"encoder {name!r}: the names on both sides of {AND!r} must be of encoders, each once"
        )
    return [(role, first), *((f"{role}{AND}{one}", one) for one in others)]


def roles_of(key: str, known: Container[str]) -> list[str]:
    """The roles of a key.

    Example:
        >>> roles_of("premise+hypothesis&spelling", {"premise", "hypothesis"})
        ['premise', 'hypothesis']
    """
    plain = key if key in known else key.split(AND)[0]
    return [plain] if plain in known else plain.split("+")


def _kinds(name: str, kinds: set[Kind]) -> set[Kind]:
    """The kinds of content, among these, that the encoder of this name reads."""
    plain = _split_options(name)[0]
    if plain == "auto":
        return kinds
    if _is_entry(plain):
        return {kind for kind in kinds if _entry(plain) in known_encoders()[kind]}
    possible = {kind for kind in kinds if "" in ENCODERS[kind]}
    return possible & set(hub.kinds(plain)) if len(possible) > 1 else possible


def _encoding(corpus: Corpus, roles: str, name: str) -> Encoding:
    parts = roles.split("+") if roles not in corpus.contents else [roles]
    unknown = [role for role in parts if role not in corpus.contents]
    if unknown:
        raise ModelError(
            f"{corpus.name}: no role {listed(unknown)}; there are {listed(corpus.contents)}"
        )
    if len(parts) == 1:
        contents = corpus.contents[roles]
        return Encoding(encoder(name, contents.kind), contents, corpus.content[roles])
    return Encoding(encoder(name, "text"), *_joined_texts(corpus, parts))


def _joined_texts(corpus: Corpus, roles: list[str]) -> tuple[Contents, np.ndarray]:
    """Distinct tuples of texts, and the code of each item's; an absent text is empty."""
    other = [role for role in roles if corpus.contents[role].kind != "text"]
    if other:
        raise ModelError(
            f"{corpus.name}: only texts can be read together, {listed(other)} is not one"
        )
    codes = np.stack([corpus.content[role] for role in roles], axis=1)
    distinct, content = np.unique(codes, axis=0, return_inverse=True)
    texts = [["", *corpus.contents[role].values.to_pylist()] for role in roles]
    tuples = [[of_role[c + 1] for of_role, c in zip(texts, row, strict=True)] for row in distinct]
    return Contents("text", pa.array(tuples, pa.list_(pa.string()))), content.reshape(-1)
