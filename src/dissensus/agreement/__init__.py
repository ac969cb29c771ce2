"""How much do they agree? `Annotations -> float`.

A measure is a file and an entry of `MEASURES`.
"""

from __future__ import annotations

from dissensus.agreement.difference import mean_difference
from dissensus.agreement.krippendorff import krippendorff_alpha
from dissensus.agreement.measure import Measure
from dissensus.agreement.percent import percent_agreement
from dissensus.annotations import Annotations

__all__ = [
    "MEASURES",
    "Measure",
    "at_a_glance",
    "krippendorff_alpha",
    "mean_difference",
    "percent_agreement",
]

MEASURES: dict[str, Measure] = {
    "percent": Measure(
        percent_agreement,
        ("nominal", "ordinal", "multi-label"),
        "share of pairs of answers about an item that are equal, mean over items",
    ),
    "krippendorff-alpha": Measure(
        krippendorff_alpha,
        ("nominal", "ordinal", "interval"),
        "agreement beyond chance; 1 is perfect, 0 is chance",
    ),
    "mean-difference": Measure(
        mean_difference,
        ("interval",),
        "how far apart two ratings of an item are, mean over items, in own units",
    ),
}


def at_a_glance(annotations: Annotations) -> dict[str, float]:
    """Every measure that is for these answers' scale, by name; nan where undefined.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> found = at_a_glance(Annotations.from_rows(rows))
        >>> {name: round(value, 3) for name, value in found.items()}
        {'percent': 0.667, 'krippendorff-alpha': 0.444}
    """
    kind = annotations.scale.kind
    return {
        name: measure.function(annotations)
        for name, measure in MEASURES.items()
        if kind in measure.scales
    }
