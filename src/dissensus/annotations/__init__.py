"""Annotations: which annotator gave which answer to which item, for one question."""

from __future__ import annotations

from dissensus.annotations.annotations import Annotations
from dissensus.annotations.blocks import AnnotationBlocks, SplitAnnotations, block_bounds
from dissensus.annotations.labels import Ties
from dissensus.annotations.packing import PackedAnnotations, packed
from dissensus.annotations.repeats import Repeats, in_order

__all__ = [
    "AnnotationBlocks",
    "Annotations",
    "PackedAnnotations",
    "Repeats",
    "SplitAnnotations",
    "Ties",
    "block_bounds",
    "in_order",
    "packed",
]
