"""Individual annotators (Tavernor et al. 2024) on public ratings, next to our figures.

The paper's own corpora are licensed; its tables can be made by those who have them. Public corpora
in which identified annotators rate two questions take their place: accuracy and fluency of speech,
impressions of voices, complexity and beauty of patterns, valence and arousal of music.
"""

from __future__ import annotations

from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.individual.corpora import SOURCES
from dissensus_papers.individual.protocol import CLAIMS, CONDITIONS, MODELS

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
    notes=(
        "The paper rates activation and valence in MSP-Improv, a licensed corpus, and tests on "
        "three others; its figures stand beside ours where the corpus is the same. Tables name the "
        "questions that were rated. A density is one of means of random subsets of annotators, as "
        "published: the more annotators, the narrower it is. It is read from the predicted ratings "
        "in three ways: (soft) with a temperature of 8, as published; (method) with a temperature "
        "that follows the spread of ratings within training items, or that the model learned; "
        "(plain) by Botev's estimate. The baseline predicts the cells themselves in all three. "
        "Oracle rows read true ratings in the same way: no prediction can be better there."
    ),
)
