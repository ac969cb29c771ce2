"""A crowd with known tendencies, and what it was shown: sizes and a seed in, a `Corpus` out."""

from __future__ import annotations

from collections.abc import Callable

from dissensus.corpus import Corpus
from dissensus.simulate.text import text
from dissensus.simulate.truth import Truth, truth

PRESETS: dict[str, Callable[..., Corpus]] = {"text": text}

__all__ = ["PRESETS", "Truth", "text", "truth"]
