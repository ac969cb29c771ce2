"""Annotations: which annotator gave which answer to which item, for one question."""

from __future__ import annotations

from dissensus.annotations.annotations import Annotations, Repeats, Ties, count_pairs

__all__ = ["Annotations", "Repeats", "Ties", "count_pairs"]
