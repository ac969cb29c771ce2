"""Simulated annotators with known tendencies: sizes and a seed in, a `Corpus` out."""

from __future__ import annotations

from collections.abc import Callable

from dissensus.corpus import Corpus
from dissensus.simulate.image import image
from dissensus.simulate.ratings import ratings
from dissensus.simulate.sequence import sequence
from dissensus.simulate.text import text
from dissensus.simulate.truth import ChoiceTruth, RatingsTruth, Truth, truth

PRESETS: dict[str, Callable[..., Corpus]] = {
    "text": text,
    "image": image,
    "sequence": sequence,
    "ratings": ratings,
}

__all__ = [
    "PRESETS",
    "ChoiceTruth",
    "RatingsTruth",
    "Truth",
    "image",
    "ratings",
    "sequence",
    "text",
    "truth",
]
