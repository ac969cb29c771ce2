"""The conditions: corpora, models, folds and seeds, and the densities that are scored."""

from __future__ import annotations

from dissensus_papers.framework.conditions import ComparisonCondition
from dissensus_papers.framework.measurements import MeasuredCondition
from dissensus_papers.individual.confirmation import (
    CONFIRMATION,
    FURTHER_VARIANTS,
    LEARNED_TEMPERATURE,
    TUNED,
)
from dissensus_papers.individual.experts import EXPERTS
from dissensus_papers.individual.figures import CCC, READINGS, agreement_of_annotators, reading
from dissensus_papers.individual.folds import SEEDS, speaker_folds
from dissensus_papers.individual.licensed import LICENSED
from dissensus_papers.individual.models import (
    CONSENSUS,
    FLOORS,
    GRID_BASELINE,
    HEADS,
    MT,
    OF_PAPER,
    OH,
    OURS,
    VARIANTS,
)
from dissensus_papers.individual.more_ratings import MORE_RATINGS
from dissensus_papers.individual.newcomers import NEWCOMERS
from dissensus_papers.individual.one_question import ONE_QUESTION
from dissensus_papers.individual.printed import CONCORDANCES, DISTANCES
from dissensus_papers.individual.raters import RATERS
from dissensus_papers.individual.transfer import DENSITIES_ONLY, TRANSFER

FINER = tuple(f"{kind}:bins=8" for kind in READINGS)
ASPECTS = ("accuracy", "fluency", "prosodic")
TWO = ASPECTS[:2]
CONDITIONS: tuple[ComparisonCondition | MeasuredCondition, ...] = (
    ComparisonCondition(
        "speech",
        "Accuracy and fluency of speech",
        "speechocean762",
        models=(*OF_PAPER, *OURS, *FLOORS),
        metrics=CCC,
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=speaker_folds,
        questions=TWO,
        by="speaker",
        densities=READINGS + FINER,
        printed_in={
            **{question: CONCORDANCES[at] for at, question in enumerate(TWO)},
            **{reading(TWO, text): DISTANCES[text] for text in ("soft", "plain")},
        },
        figures=agreement_of_annotators,
    ),
    ComparisonCondition(
        "aspects",
        "Three aspects of speech",
        "speechocean762",
        models=(CONSENSUS, f"{MT}-answers", f"{OH}-answers", HEADS, "onehot", *FLOORS),
        metrics=CCC,
        seeds=SEEDS,
        reference=CONSENSUS,
        folds=speaker_folds,
        questions=ASPECTS,
        by="speaker",
        figures=agreement_of_annotators,
    ),
    ComparisonCondition(
        "variants",
        "Past the paper: calibrated densities",
        "speechocean762",
        models=(GRID_BASELINE, f"{GRID_BASELINE}-8", f"{MT}-both", *VARIANTS, *FLOORS),
        metrics=CCC,
        seeds=SEEDS,
        reference=f"{MT}-both",
        folds=speaker_folds,
        questions=TWO,
        by="speaker",
        densities=("method", "method:bins=8", "fixed", "fixed:bins=8"),
        not_counted="a search for a better way to form densities, not a claim of the paper",
    ),
    FURTHER_VARIANTS,
    LEARNED_TEMPERATURE,
    TUNED,
    *ONE_QUESTION,
    *TRANSFER,
    *DENSITIES_ONLY,
    *CONFIRMATION,
    EXPERTS,
    *NEWCOMERS,
    *RATERS,
    *MORE_RATINGS,
    *LICENSED,
)
