"""Encoders that are objects of a program: a network with its tokenizer, or a function of texts."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from dissensus.contents import Contents, Kind
from dissensus.encoders.framework.base import Encoder, EncoderNetwork
from dissensus.encoders.framework.catalogue import OBJECT, OBJECTS
from dissensus.encoders.framework.pretrained import load_pretrained, without_pooler
from dissensus.encoders.framework.store import Prepared, Store
from dissensus.encoders.text import TextEncoder, TextNetwork
from dissensus.errors import DataError, ModelError, cut

PROBE = ["one text", "and a longer one"]  # encoded once, for the shape of the vectors


class ObjectName(str):
    """The name of a registered encoder; the object is pickled and registered with it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _registered, (str(self), OBJECTS[self])

    def __deepcopy__(self, memo: Any) -> ObjectName:
        return self


def register(thing: Any, name: str = "") -> str:
    """The name of an encoder that is an object of this program, as which methods know it.

    `encoder=thing` does the same. A new program must register the object again, with the same
    weights, before it loads a model that was trained with it.

    Args:
        thing: a function that takes a list of texts and returns an array, (n_texts, width); a model
            of sentence-transformers; a model of transformers; a network and its tokenizer, as a
            pair; or an `Encoder`. The network is called with tokens (n_texts, length) and
            `attention_mask`, and returns a vector for each token or for each text, or an object
            with `last_hidden_state`. The tokenizer takes a list of texts and returns a list of
            tokens for each, or a dictionary in which they are `input_ids`.
        name: for a function; that of the function or class if left out.

    Example:
        >>> import numpy as np
        >>> def lengths(texts):
        ...     return np.array([[len(text), text.count(" ")] for text in texts])
        >>> register(lengths)
        'object:lengths'
    """
    weights = thing[0] if isinstance(thing, tuple) else thing
    plain = re.sub(r"\W+", "-", name or getattr(thing, "__qualname__", type(weights).__name__))
    digest = _digest(weights) if isinstance(weights, nn.Module) else ""
    full = OBJECT + plain + f"-{digest[:8]}" * bool(digest)
    encoder: Encoder
    if isinstance(thing, Encoder):
        encoder = thing
    elif callable(getattr(thing, "encode", None)):
        encoder = FunctionEncoder(full, thing.encode, digest)
    elif isinstance(weights, nn.Module):
        encoder = ModuleEncoder.of(full, digest, weights, _tokenizer(thing))
    elif callable(thing):
        encoder = FunctionEncoder(full, thing)
    else:
        raise ModelError(
            "encoder must be a name, a function of texts, a network and its tokenizer as a pair, "
            f"or a model of transformers or sentence-transformers, found {cut(repr(thing))}"
        )
    return _registered(full, encoder)


def named(value: Any) -> Any:
    """The setting `encoder` with the names of the objects in it, which are registered."""
    if isinstance(value, Mapping):
        return {role: named(one) for role, one in value.items()}
    return value if isinstance(value, str) else register(value)


def _registered(name: str, encoder: Encoder) -> str:
    OBJECTS[name] = encoder
    return ObjectName(name)


def _digest(module: nn.Module) -> str:
    """A hash of the weights."""
    digest = hashlib.sha256()
    for name, weights in module.state_dict().items():
        digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}\0".encode())
        flat = weights.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _tokenizer(thing: Any) -> Any:
    """The second of a pair, or the one that a model of transformers was loaded with."""
    if isinstance(thing, tuple):
        return thing[1]
    source = getattr(getattr(thing, "config", None), "_name_or_path", "")
    if not source:
        raise ModelError(
            f"encoder {type(thing).__name__} needs its tokenizer: encoder=(network, tokenizer)"
        )
    from transformers import AutoTokenizer

    return load_pretrained(AutoTokenizer, source, source)


@dataclass(frozen=True, eq=False)
class FunctionEncoder(Encoder):
    """A function of texts; its vectors are cached on disk if it is a model with weights."""

    name: str
    function: Callable[[list[str]], Any]
    digest: str = ""  # of its weights
    known: dict[str, np.ndarray] = field(default_factory=dict, repr=False)  # vectors, by text
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    @property
    def cached(self) -> bool:  # type: ignore[override]
        return bool(self.digest)

    @property
    def identity(self) -> str:
        return json.dumps([self.name, self.digest])

    def encode(self, contents: Contents) -> Store:
        texts = _texts(contents)
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        vectors = np.asarray(self.function(new), np.float32) if new else np.zeros((0, 1))
        if vectors.ndim != 2 or len(vectors) != len(new) or not np.isfinite(vectors).all():
            raise DataError(
                f"encoder {self.name!r} must return finite numbers of the shape ({len(new)}, "
                f"width) for {len(new)} texts, found the shape {vectors.shape}"
            )
        known = dict(self.known) if self.cached else self.known  # on disk, or here
        known.update(zip(new, vectors, strict=True))
        return Store.of_vectors(np.stack([known[text] for text in texts]))


class _ObjectNetwork(TextNetwork):
    @property
    def blocks(self) -> list[nn.Module]:
        lists = [list(part) for part in self.model.modules() if isinstance(part, nn.ModuleList)]
        return max(lists, key=len) if lists else [*self.model.children()]


@dataclass(frozen=True, eq=False)
class ModuleEncoder(TextEncoder):
    """A network over the tokens of texts, frozen or fine-tuned."""

    digest: str = ""
    module: Any = field(default=None, repr=False)
    tokenizer: Any = field(default=None, repr=False)
    width: int = 0

    @classmethod
    def of(cls, name: str, digest: str, module: nn.Module, tokenizer: Any) -> ModuleEncoder:
        """With the width and the number of the vectors that the network returns."""
        module = without_pooler(copy.deepcopy(module)).float().cpu().eval()
        encoder = cls(name, digest=digest, module=module, tokenizer=tokenizer)
        inputs = encoder.prepare(Contents.distinct("text", PROBE)[0]).inputs(np.arange(len(PROBE)))
        n_tokens = inputs.units.shape[1]
        with torch.no_grad():
            mask = torch.arange(n_tokens) < inputs.lengths[:, None]
            outputs = module(inputs.units[..., 0].long(), attention_mask=mask)
        vectors = getattr(outputs, "last_hidden_state", outputs)
        shape = tuple(getattr(vectors, "shape", ()))
        if shape[:-1] not in ((len(PROBE),), (len(PROBE), n_tokens)):
            raise ModelError(
                f"encoder {name!r} must return vectors of the shape ({len(PROBE)}, {n_tokens}, "
                f"width) or ({len(PROBE)}, width) for {len(PROBE)} texts, found {shape}"
            )
        positions = "all" if len(shape) == 3 else "first"
        return cls(name, 256, positions, digest, module, tokenizer, shape[-1])

    _revision = cached_property(lambda self: str(self.digest))

    @property
    def _tokenizer(self) -> Any:
        return self.tokenizer

    def load(self) -> EncoderNetwork:
        return _ObjectNetwork(copy.deepcopy(self.module), self.positions == "first", self.width)

    def prepare(self, contents: Contents) -> Prepared:
        if getattr(self.tokenizer, "is_fast", False):
            return super().prepare(contents)
        texts = _texts(contents)
        rows = self.tokenizer(texts)
        rows = rows["input_ids"] if isinstance(rows, Mapping) else rows
        kept = [np.asarray([*row] or [0], np.int32)[: self.max_length] for row in rows]
        offsets = np.r_[0, np.cumsum([len(row) for row in kept])]
        tokens = np.concatenate(kept)
        units = np.stack([tokens, np.zeros_like(tokens)], axis=1)
        longer = np.array([len(row) > self.max_length for row in rows], dtype=bool)
        each = offsets if self.positions == "all" else np.arange(len(texts) + 1)
        return Prepared(units, offsets, np.zeros((each[-1], 1, 2), np.float32), each, longer)


def _texts(contents: Contents) -> list[str]:
    """The texts; those that are read together are joined by blanks."""
    texts = contents.values.to_pylist()
    return [text if isinstance(text, str) else " ".join(text) for text in texts]
