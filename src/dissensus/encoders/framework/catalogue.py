"""ENCODERS: all encoders by name."""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Mapping
from dataclasses import Field, fields
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from dissensus.contents import Kind
from dissensus.encoders.framework.pretrained import kinds_of_model
from dissensus.errors import ModelError, listed

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

TEXT, IMAGE = ("text", "TextEncoder"), ("image", "ImageEncoder")
SPEECH, VIDEO = ("speech", "SpeechEncoder"), ("video", "VideoEncoder")
FEATURES = ("features", "FeaturesEncoder")
# kind of content -> name -> module and class, the default first; a name that ends in ":" is
# followed by a path; "" is any other name: a folder or a model on the hub
ENCODERS: dict[Kind, dict[str, tuple[str, str]]] = {
    "text": {"minilm": TEXT, "words:": ("words", "WordsEncoder"), "": TEXT},
    "image": {"efficientnet-lite0": IMAGE, "features": FEATURES, "": IMAGE},
    "audio": {"whisper-tiny": SPEECH, "": SPEECH},
    "video": {"efficientnet-lite0": VIDEO, "": VIDEO},
    "features": {"features": FEATURES},
}
AND = "&"  # between the names of several encoders of one role
OBJECT = "object:"  # how names of encoders begin that are objects of a program,
OBJECTS: dict[str, Encoder] = {}  # and these; see `encoders.register`
DEFAULTS: dict[Kind, str] = {kind: next(iter(names)) for kind, names in ENCODERS.items()}


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


def encoder(name: str, kind: str) -> Encoder:
    """The encoder of this name for contents of this kind.

    Args:
        name: an entry of ENCODERS, "auto" for the default of the kind, "words:PATH" for a file of
            word vectors, a folder with a transformers model, the name of a model on the hub, or
            that of a registered object. Options follow the name, as in "minilm:max_length=64".
    """
    return _object(name, kind) if name.startswith(OBJECT) else known_encoder(name, kind)


@functools.cache
def known_encoder(name: str, kind: Kind) -> Encoder:
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


def _object(name: str, kind: str) -> Encoder:
    if name not in OBJECTS:
        raise ModelError(
            f"encoder {name!r} is an object of the program that trained the model; call "
            "dissensus.encoders.register(object) first, with the same weights"
        )
    if kind not in OBJECTS[name].kinds:
        raise ModelError(f"encoder {name!r} reads {listed(OBJECTS[name].kinds)}, not {kind}")
    return OBJECTS[name]


def _split_options(name: str) -> tuple[str, dict[str, str]]:
    """A name without its options, and the options."""
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
    installed = plain == "auto" or plain.startswith(OBJECT) or _is_entry(plain)
    return None if installed else plain


def _is_entry(name: str) -> bool:
    return any(_entry(name) in names for names in known_encoders().values())


def kinds_of(name: str, kinds: set[Kind]) -> set[Kind]:
    """The kinds of content, among these, that the encoder of this name reads."""
    plain = _split_options(name)[0]
    if plain == "auto":
        return kinds
    if plain.startswith(OBJECT):
        return {kind for kind in kinds if plain not in OBJECTS or kind in OBJECTS[plain].kinds}
    if _is_entry(plain):
        return {kind for kind in kinds if _entry(plain) in known_encoders()[kind]}
    possible = {kind for kind in kinds if "" in ENCODERS[kind]}
    return possible & set(kinds_of_model(plain)) if len(possible) > 1 else possible
