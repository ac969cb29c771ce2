"""Base of QuMATL: a classifier for each annotator over a frozen encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dissensus.methods.annotator_heads import AnnotatorHeads


@dataclass(eq=False)
class BaseHeads(AnnotatorHeads):
    """`AnnotatorHeads` with the settings of QuMATL's Base: one shared hidden layer of 256 over the
    pooled vectors of the encoder, and an independent classifier for each annotator.

    Prefer `AnnotatorHeads` itself, whose common head helps annotators with few answers.

    Reference: Zhang et al. (2025), QuMATL, arXiv 2503.15237.
    """

    common: bool = False
    hidden: tuple[int, ...] = (256,)
    name: ClassVar[str] = "base-heads"
