"""Contents to sequences of vectors: `Contents -> Store`, frozen encoders cached on disk."""

from __future__ import annotations

from dissensus.encoders.base import Encoder, EncoderNetwork, NeuralEncoder, UntrainedEncoder
from dissensus.encoders.choice import (
    DEFAULTS,
    ENCODERS,
    Reading,
    encode,
    encoder,
    readings,
    roles_of,
)
from dissensus.encoders.features import FeaturesEncoder
from dissensus.encoders.pooling import mean_vectors, pooling_once
from dissensus.encoders.prepared import Inputs, Prepared
from dissensus.encoders.preparing import ByBatch, prepared
from dissensus.encoders.skipping import without_unreadable
from dissensus.encoders.store import Sequence, Store
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
