"""ENCODERS: all encoders by name; and the encoder of each role of a corpus."""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Container, Mapping
from dataclasses import Field, dataclass, fields
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

# by kind of content, then by name: the module and class; what ends in ":" is followed by a path;
# "" is any other name, a folder or a model of the hub
ENCODERS: dict[Kind, dict[str, tuple[str, str]]] = {
    "text": {
        "minilm": ("text", "TextEncoder"),
        "words:": ("words", "WordsEncoder"),
        "characters": ("studies.characters", "CharactersEncoder"),
        "tagger:": ("studies.tagger", "TaggerEncoder"),
        "character-cnn": ("studies.character_cnn", "CharacterCnnEncoder"),
        "spelling": ("studies.spelling", "SpellingEncoder"),
        "word-forms": ("studies.word_forms", "WordFormsEncoder"),
        "word-forms:": ("studies.word_forms", "WordFormsEncoder"),
        "": ("text", "TextEncoder"),
    },
    "image": {
        "efficientnet-lite0": ("image", "ImageEncoder"),
        "last-block:": ("studies.last_block", "LastBlockEncoder"),
        "features": ("features", "FeaturesEncoder"),
        "": ("image", "ImageEncoder"),
    },
    "audio": {"whisper-tiny": ("speech", "SpeechEncoder"), "": ("speech", "SpeechEncoder")},
    "video": {
        "efficientnet-lite0": ("video", "VideoEncoder"),
        "": ("video", "VideoEncoder"),
    },
    "features": {
        "features": ("features", "FeaturesEncoder"),
        "last-block:": ("studies.last_block", "LastBlockEncoder"),
    },
}
WITH_PATH = ("words:", "tagger:", "word-forms:", "last-block:")
BESIDE = "&"  # between the names of encoders that read one role
DEFAULTS: dict[Kind, str] = {
    "text": "minilm",
    "image": "efficientnet-lite0",
    "audio": "whisper-tiny",
    "video": "efficientnet-lite0",
    "features": "features",
}


@dataclass(frozen=True, eq=False)
class Encoding:
    """An encoder with the distinct contents that it encodes, and the content of each item."""

    encoder: Encoder
    contents: Contents
    content: np.ndarray  # (n_items,) codes, -1 absent

    def store(self) -> Store:
        """The vectors of the contents."""
        return encode(self.encoder, self.contents)


def encode(reader: Encoder, contents: Contents) -> Store:
    """The vectors of contents, from the feature cache if they were encoded before."""
    if not len(contents):
        raise ModelError("all contents are blank; there is nothing to encode")
    return cached_store(reader, contents) if reader.cached else reader.encode(contents)


@functools.cache
def encoder(name: str, kind: Kind) -> Encoder:
    """The encoder of this name for contents of this kind.

    Args:
        name: of an entry of ENCODERS, "auto" for the kind's default, "words:PATH", "tagger:PATH" or
            "word-forms:PATH" for a file of word vectors, "last-block:efficientnet-lite0", a folder
            that holds a transformers model, or a model's name on the hub; its options stand
            behind it, as in "minilm:max_length=64".
    """
    ours = ENCODERS[kind]
    plain, options = _parted(name)
    plain = DEFAULTS[kind] if plain == "auto" else plain
    if _entry(plain) not in ours and ("" not in ours or _is_ours(plain)):
        known = [known for known in ours if known]
        raise ModelError(f"no encoder {plain!r} reads {kind}; there are {listed(known)}")
    module, cls = ours.get(_entry(plain)) or ours[""]
    found = getattr(importlib.import_module(f"dissensus.encoders.{module}"), cls)
    known_options = {field.name: field for field in fields(found)}
    with_path = _entry(plain).endswith(":")
    path = plain.removeprefix(_entry(plain)) if with_path else plain
    named = (path,) if with_path or "name" in known_options else ()
    for field in ("name", "vectors"):  # what is typed as the name or behind it
        known_options.pop(field, None)
    made: Encoder = found(*named, **_read_options(plain, options, known_options))
    return made


def _parted(name: str) -> tuple[str, dict[str, str]]:
    """A name, and the options behind it.

    Example:
        >>> _parted("minilm:max_length=64"), _parted("words:glove.txt")
        (('minilm', {'max_length': '64'}), ('words:glove.txt', {}))
    """
    found = re.fullmatch(r"(.*?)((?::\w+=[^:=]*)*)", name, re.DOTALL)
    assert found is not None  # it matches whatever there is
    return found[1], dict(option.split("=") for option in found[2].split(":")[1:])


def _read_options(
    name: str, options: Mapping[str, str], known: Mapping[str, Field[Any]]
) -> dict[str, Any]:
    """Options as numbers or words, as the encoder's fields say."""
    read: dict[str, Any] = {}
    for option, text in options.items():
        if option not in known:
            raise ModelError(
                f"encoder {name!r} has no option {option!r}; it has {listed(known) or 'none'}"
            )
        if known[option].type == "str":
            read[option] = text  # the encoder says which words it knows
            continue
        whole = known[option].type != "float"
        try:
            read[option] = int(text) if whole else float(text)
        except ValueError:
            read[option] = 0
        if not 0 < read[option] < math.inf:
            kind = "an integer" if whole else "a number"
            raise ModelError(f"encoder {name!r}: {option} must be {kind} above 0, found {text!r}")
    return read


def _entry(name: str) -> str:
    """The entry that a name belongs to: "words:" for "words:glove.txt"."""
    return next((entry for entry in WITH_PATH if name.startswith(entry)), name)


def _is_ours(name: str) -> bool:
    """Whether it is the name of one of our encoders, for one kind or another."""
    return any(_entry(name) in names for names in ENCODERS.values())


def encodings(corpus: Corpus, name: str | Mapping[str, str]) -> dict[str, Encoding]:
    """What is read of a corpus, and by which encoder.

    Args:
        name: one encoder for all roles it can read ("auto": each role's default), or a name for
            each role; "premise+hypothesis" are texts that are read together. Of a corpus with
            several kinds of contents, a model by folder or hub name reads the kind it is made for.
            "minilm&spelling" are two encoders for one role; what the second one reads of "text"
            has the key "text&spelling".
    """
    if isinstance(name, Mapping):
        return {
            key: _reading(corpus, role, one)
            for role, of_role in name.items()
            for key, one in _beside(role, of_role)
        }
    held_kinds = {role: held.kind for role, held in corpus.contents.items()}
    kinds = set(held_kinds.values())
    for one in name.split(BESIDE):
        kinds &= _kinds(one, set(held_kinds.values()))
    of_roles = {role: name for role, kind in held_kinds.items() if kind in kinds}
    by_role = encodings(corpus, of_roles)
    if not by_role:
        if not held_kinds:
            raise ModelError(
                f"{corpus.name}: the corpus has no contents for encoder {name!r} to read; name the "
                "column of the texts (text=, --text), or choose a method that ignores contents "
                "(prior, annotator-majority)"
            )
        shown = ", ".join(f"{role!r} ({kind})" for role, kind in held_kinds.items())
        raise ModelError(f"{corpus.name}: encoder {name!r} does not read {shown}")
    return by_role


def _beside(role: str, name: str) -> list[tuple[str, str]]:
    """The keys of all that read a role, and their names.

    Example:
        >>> _beside("text", "minilm&spelling:channels=8")
        [('text', 'minilm'), ('text&spelling:channels=8', 'spelling:channels=8')]
    """
    first, *others = name.split(BESIDE)
    if "" in (first, *others) or len({first, *others}) <= len(others):
        raise ModelError(
            f"encoder {name!r}: the names on both sides of {BESIDE!r} must be of "
            "encoders, each once"
        )
    return [(role, first), *((f"{role}{BESIDE}{one}", one) for one in others)]


def roles_of(key: str, known: Container[str]) -> list[str]:
    """The roles that are read under a key.

    Example:
        >>> roles_of("premise+hypothesis&spelling", {"premise", "hypothesis"})
        ['premise', 'hypothesis']
    """
    plain = key if key in known else key.split(BESIDE)[0]
    return [plain] if plain in known else plain.split("+")


def _kinds(name: str, held: set[Kind]) -> set[Kind]:
    """Those of the kinds that are there which the encoder of this name reads."""
    plain = _parted(name)[0]
    if plain == "auto":
        return held
    if _is_ours(plain):
        return {kind for kind in held if _entry(plain) in ENCODERS[kind]}
    able = {kind for kind in held if "" in ENCODERS[kind]}
    return able & set(hub.kinds(plain)) if len(able) > 1 else able


def _reading(corpus: Corpus, roles: str, name: str) -> Encoding:
    parts = roles.split("+") if roles not in corpus.contents else [roles]
    strange = [role for role in parts if role not in corpus.contents]
    if strange:
        raise ModelError(
            f"{corpus.name}: no role {listed(strange)}; there are {listed(corpus.contents)}"
        )
    if len(parts) == 1:
        held = corpus.contents[roles]
        return Encoding(encoder(name, held.kind), held, corpus.content[roles])
    return Encoding(encoder(name, "text"), *_together(corpus, parts))


def _together(corpus: Corpus, roles: list[str]) -> tuple[Contents, np.ndarray]:
    """Distinct tuples of texts, and the one of each item; an absent text is an empty one."""
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
