"""Contents to sequences of vectors: `Contents -> Store`, frozen encoders cached on disk.

Encoders themselves are loaded when they are first used, so that the cache needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dissensus.encoders.choice import (
    DEFAULTS,
    ENCODERS,
    Reading,
    encode,
    encoder,
    readings,
    roles_of,
)
from dissensus.encoders.pooling import mean_vectors, pooling_once
from dissensus.encoders.prepared import Inputs, Prepared
from dissensus.encoders.preparing import ByBatch, prepared
from dissensus.encoders.skipping import without_unreadable
from dissensus.encoders.store import Sequence, Store

if TYPE_CHECKING:
    from dissensus.encoders.base import Encoder, EncoderNetwork, NeuralEncoder, UntrainedEncoder
    from dissensus.encoders.features import FeaturesEncoder
    from dissensus.encoders.text import TextEncoder

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
    "Reading",
    "Sequence",
    "Store",
    "TextEncoder",
    "UntrainedEncoder",
    "encode",
    "encoder",
    "mean_vectors",
    "pooling_once",
    "prepared",
    "readings",
    "roles_of",
    "without_unreadable",
]

_HOMES = {  # what needs torch
    "Encoder": "base",
    "EncoderNetwork": "base",
    "FeaturesEncoder": "features",
    "NeuralEncoder": "base",
    "TextEncoder": "text",
    "UntrainedEncoder": "base",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"dissensus.encoders.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dissensus.encoders' has no attribute {name!r}")
