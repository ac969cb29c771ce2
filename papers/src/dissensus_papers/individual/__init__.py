"""Individual annotators (Tavernor et al. 2024) on public ratings, next to our figures.

The paper's own corpora are licensed. `speechocean762` takes their place: five experts rate the
accuracy and fluency of speech, as annotators there rate activation and valence. Other corpora have
one question and many annotators, or densities alone.
"""

from __future__ import annotations

from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.reports import to_json
from dissensus_papers.individual.claims import CLAIMS, power
from dissensus_papers.individual.conditions import CONDITIONS
from dissensus_papers.individual.corpora import SOURCES
from dissensus_papers.individual.models import MODELS

PAPER = ComparisonPaper(
    name="individual",
    title=(
        "Tavernor, El-Tawil & Mower Provost (2024), The Whole Is Bigger Than the Sum of Its Parts: "
        "Modeling Individual Annotators to Capture Emotional Variability"
    ),
    sources=SOURCES,
    models=MODELS,
    blocks=CONDITIONS,
    claims=CLAIMS,
    summaries=(power,),
    notes=(
        "The paper's figures are of activation and valence in MSP-Improv, a licensed corpus; ours "
        "are of accuracy and fluency. All five experts rated every item of speechocean762, so the "
        "annotators of an item are all annotators there. A density is one of means of random "
        "subsets of annotators, as published: the more annotators, the narrower it is."
    ),
)
named, report, run, shown = PAPER.named, PAPER.report, PAPER.run, PAPER.shown

__all__ = ["CONDITIONS", "MODELS", "PAPER", "SOURCES", "named", "report", "run", "shown", "to_json"]
