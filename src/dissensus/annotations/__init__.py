"""Annotations: which annotator gave which answer to which item, for one question."""

from __future__ import annotations

from dissensus.annotations.annotations import Annotations, Repeats, Ties, count_pairs, narrow_codes
from dissensus.annotations.blocks import (
    AnnotationBlocks,
    PackedAnnotations,
    SplitAnnotations,
    packed,
)

__all__ = [
    "AnnotationBlocks",
    "Annotations",
    "PackedAnnotations",
    "Repeats",
    "SplitAnnotations",
    "Ties",
    "count_pairs",
    "narrow_codes",
    "packed",
]
