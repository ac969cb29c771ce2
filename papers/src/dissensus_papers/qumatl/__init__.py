"""QuMATL (Zhang et al. 2025) on public corpora, next to our figures.

The paper's own corpora, STREET and AMER, are not public. Panels whose annotators saw the same items
take their place.
"""

from __future__ import annotations

from dissensus_papers.framework.comparison_paper import ComparisonPaper
from dissensus_papers.framework.reports import to_json
from dissensus_papers.qumatl.claims import CLAIMS
from dissensus_papers.qumatl.conditions import CONDITIONS
from dissensus_papers.qumatl.corpora import SOURCES
from dissensus_papers.qumatl.models import MODELS

PAPER = ComparisonPaper(
    name="qumatl",
    title=(
        "Zhang, Lian, Liu, Takebe & Nakashima (2025), QuMATL: Query-based Multi-annotator Tendency "
        "Learning"
    ),
    sources=SOURCES,
    models=MODELS,
    blocks=CONDITIONS,
    claims=CLAIMS,
    notes=(
        "The paper's figures are means over the five questions of STREET, which is not public; "
        "ours are of other corpora. All models read the same frozen encoder; the settings of each "
        "are chosen on training data, with the same number of trials."
    ),
)
named, report, run, shown = PAPER.named, PAPER.report, PAPER.run, PAPER.shown

__all__ = ["CONDITIONS", "MODELS", "PAPER", "SOURCES", "named", "report", "run", "shown", "to_json"]
