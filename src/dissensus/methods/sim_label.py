"""SimLabel: annotator-heads that also learns what annotators did not answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dissensus.methods.annotator_heads import AnnotatorHeads


@dataclass(eq=False)
class SimLabel(AnnotatorHeads):
    """`AnnotatorHeads` with `similar=1`: pairs of item and annotator without an answer are learned
    from annotators who answer alike, and answered the item.

    `annotator-onehot` and `annotator-queries` have the setting too.

    Reference: SimLabel (AAAI 2026), by the authors of QuMATL.
    """

    similar: float = 1.0
    name: ClassVar[str] = "sim-label"
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal")
    instead: ClassVar[str] = "annotator-heads"
