"""What Fornaciari et al. (2021) print: three tables and what they say about them.

Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), Beyond Black & White: Leveraging
Annotator Disagreement via Soft-Label Multi-Task Learning, doi 10.18653/v1/2021.naacl-main.204.
"""

from __future__ import annotations

from typing import NamedTuple

TITLE = "Fornaciari et al. (2021), soft-label multi-task learning"
MODELS = {  # as users and files spell them, and as the paper does
    "stl": "STL",
    "kl": "MTL + KL regular",
    "inverse-kl": "MTL + KL inverse",
    "ce": "MTL + Cross-Entropy",
}
BASELINE = "stl"
NEAR = 0.015  # within this of a printed accuracy we count as equal


class Printed(NamedTuple):
    """Accuracy and macro-F1 in percent, with the stars they carry over STL."""

    accuracy: float
    f1: float
    stars: str = ""  # of the accuracy
    f1_stars: str = ""


TABLES: dict[str, dict[str, Printed]] = {  # condition -> model
    "pos-cv": {
        "stl": Printed(85.73, 85.00),
        "kl": Printed(86.62, 85.90, "**", "**"),
        "inverse-kl": Printed(86.55, 85.88, "**", "**"),
        "ce": Printed(86.76, 85.98, "**", "**"),
    },
    "pos-test": {
        "stl": Printed(85.84, 74.56),
        "kl": Printed(85.93, 75.04),
        "inverse-kl": Printed(86.29, 75.04, "*"),
        "ce": Printed(86.27, 75.13, "*"),
    },
    "stemming": {
        "stl": Printed(73.59, 57.57),
        "kl": Printed(75.63, 55.58, "**"),
        "inverse-kl": Printed(77.09, 58.41, "**", "*"),
        "ce": Printed(75.26, 55.92, "**"),
    },
    "pos-cv-silver": {
        "stl": Printed(75.22, 67.01),
        "kl": Printed(75.82, 67.66, "**", "**"),
        "inverse-kl": Printed(76.00, 67.76, "**", "**"),
        "ce": Printed(75.99, 67.80, "**", "**"),
    },
    "pos-test-silver": {
        "stl": Printed(77.81, 60.59),
        "kl": Printed(78.61, 61.68, "**", "**"),
        "inverse-kl": Printed(79.16, 61.94, "**", "**"),
        "ce": Printed(78.49, 61.53, "**", "**"),
    },
    "stemming-silver": {
        "stl": Printed(71.34, 58.85),
        "kl": Printed(73.17, 57.75, "**"),
        "inverse-kl": Printed(77.47, 57.85, "**"),
        "ce": Printed(74.41, 57.06, "**"),
    },
}
EARLIER = {  # accuracy of earlier work that the paper prints next to its own
    "pos-cv": ("Jamison and Gurevych", 78.9),
    "pos-test": ("Plank et al.", 83.6),
    "stemming": ("Jamison and Gurevych", 76.6),
}
CELLS = ("both right", "only STL right", "only MTL right", "both wrong")
KURTOSIS = {  # Table 3, of STL and MTL with cross-entropy on POS tags, gold
    "both right": 6.614,
    "only STL right": 5.961,
    "only MTL right": 6.015,
    "both wrong": 5.727,
}
KURTOSIS_MODEL, KURTOSIS_CONDITION = "ce", "pos-cv"
