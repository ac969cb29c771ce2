"""What Sampath, Lin & Morency (2022) print, and what they say about it.

Reference: SeedBERT: Recovering Annotator Rating Distributions from an Aggregated Label, arXiv
2211.13196.
"""

from __future__ import annotations

from typing import NamedTuple

TITLE = "Sampath, Lin & Morency (2022), SeedBERT"


class Printed(NamedTuple):
    """Accuracy and F1 as shares, averaged over five times five folds."""

    accuracy: float
    f1: float


TABLE: dict[str, Printed] = {  # Table 4, by our names; 500 clips, six emotions
    "single": Printed(0.204, 0.102),
    "soft-label": Printed(0.284, 0.0821),
    "label-and-uncertainty": Printed(0.180, 0.0954),
    "bayesian": Printed(0.150, 0.132),
    "seeds": Printed(0.308, 0.183),
}
KAPPA = {"any": 0.744, "most": 0.410, "all": 0.710}  # Table 1
QUESTIONS = {
    "any": "is any emotion expressed",
    "most": "the emotion most present",
    "all": "all emotions present",
}
