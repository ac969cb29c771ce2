"""Conditions of one question: a slider for texts, jokes, and five traits of faces."""

from __future__ import annotations

from dissensus_papers.framework.conditions import ComparisonCondition
from dissensus_papers.individual.figures import CCC, READINGS, figures_of_crowd
from dissensus_papers.individual.folds import SEEDS, item_folds
from dissensus_papers.individual.models import CONSENSUS, GRID_BASELINE, HEADS, MT, OBJECTIVES, OH

FINEST = 16  # cells
DENSITIES = (
    *READINGS,
    *(f"{kind}:bins={FINEST}" for kind in READINGS),
    *(f"{kind}@all" for kind in ("soft", "plain")),
)
MODELS_OF_ONE = (
    GRID_BASELINE,
    f"{GRID_BASELINE}-{FINEST}",
    *(f"{name}-{objective}" for name in (MT, OH) for objective in OBJECTIVES),
    CONSENSUS,
    HEADS,
    "prior",
    "annotator-median",
)
TRAITS = {
    "att": "attractive",
    "dom": "dominant",
    "health": "healthy",
    "sexdim": "feminine or masculine",
    "trust": "trustworthy",
}


def of_one(name: str, title: str, corpus: str, question: str) -> ComparisonCondition:
    """All models of the paper, for the ratings of one question."""
    return ComparisonCondition(
        name,
        title,
        corpus,
        models=MODELS_OF_ONE,
        metrics=CCC,
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=item_folds(question),
        questions=(question,),
        densities=DENSITIES,
        figures=figures_of_crowd((question,), DENSITIES),
    )


ONE_QUESTION: tuple[ComparisonCondition, ...] = (
    of_one("inference", "How likely a hypothesis is", "nli_variation", "rating"),
    of_one("jokes", "How funny jokes are, 250 annotators", "jester5k", "rating"),
    *(
        of_one(f"faces-{trait}", f"Faces: {words}", "faces_3dsk", trait)
        for trait, words in TRAITS.items()
    ),
)
