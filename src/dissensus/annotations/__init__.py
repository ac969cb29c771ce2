"""Annotations: which annotator gave which answer to which item, for one question."""

from __future__ import annotations

from dissensus.annotations.annotations import Annotations, narrow_codes
from dissensus.annotations.blocks import AnnotationBlocks, SplitAnnotations
from dissensus.annotations.labels import Ties
from dissensus.annotations.packing import PackedAnnotations, packed
from dissensus.annotations.repeats import Repeats, count_pairs

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
