"""Annotations: which annotator gave which answer to which item, for one question."""

from __future__ import annotations

from dissensus.annotations.annotations import Annotations
from dissensus.annotations.blocks import AnnotationBlocks, SplitAnnotations
from dissensus.annotations.labels import Ties
from dissensus.annotations.repeats import Repeats, in_order

__all__ = ["AnnotationBlocks", "Annotations", "Repeats", "SplitAnnotations", "Ties", "in_order"]
