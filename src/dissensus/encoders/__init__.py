"""Encoders: contents to sequences of vectors, `Contents -> Store`; cached on disk if frozen.

An encoder is a file here. What encoders share is in `framework`. Encoders are loaded when they are
first used, so that the cache needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dissensus.encoders.framework.cache import cached_store
from dissensus.encoders.framework.catalogue import (
    DEFAULTS,
    ENCODERS,
    Encoding,
    encode,
    encoder,
    encodings,
    roles_of,
)
from dissensus.encoders.framework.input_loading import ByBatch, prepared
from dissensus.encoders.framework.inputs import Inputs, Prepared
from dissensus.encoders.framework.pooling import mean_vectors, pooling_once
from dissensus.encoders.framework.store import Sequence, Store
from dissensus.encoders.framework.unreadable import without_unreadable

if TYPE_CHECKING:
    from dissensus.encoders.features import FeaturesEncoder
    from dissensus.encoders.framework.base import (
        Encoder,
        EncoderNetwork,
        NeuralEncoder,
        UntrainedEncoder,
    )
    from dissensus.encoders.framework.lookup_tables import TableEncoder, TableNetwork
    from dissensus.encoders.image import ImageEncoder, PictureNetwork
    from dissensus.encoders.text import TextEncoder
    from dissensus.encoders.words import WordsEncoder, read_vectors

__all__ = [
    "ByBatch",
    "DEFAULTS",
    "ENCODERS",
    "Encoder",
    "EncoderNetwork",
    "FeaturesEncoder",
    "Inputs",
    "NeuralEncoder",
    "Prepared",
    "Encoding",
    "Sequence",
    "Store",
    "TextEncoder",
    "UntrainedEncoder",
    "encode",
    "encoder",
    "mean_vectors",
    "pooling_once",
    "prepared",
    "encodings",
    "roles_of",
    "without_unreadable",
    "ImageEncoder",
    "PictureNetwork",
    "TableEncoder",
    "TableNetwork",
    "WordsEncoder",
    "read_vectors",
    "cached_store",
]

_HOMES = {  # what needs torch
    "Encoder": "framework.base",
    "EncoderNetwork": "framework.base",
    "FeaturesEncoder": "features",
    "ImageEncoder": "image",
    "NeuralEncoder": "framework.base",
    "PictureNetwork": "image",
    "TableEncoder": "framework.lookup_tables",
    "TableNetwork": "framework.lookup_tables",
    "TextEncoder": "text",
    "UntrainedEncoder": "framework.base",
    "WordsEncoder": "words",
    "read_vectors": "words",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"dissensus.encoders.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dissensus.encoders' has no attribute {name!r}")
