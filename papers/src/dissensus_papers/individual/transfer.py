"""Conditions of transfer: trained on one part of a corpus, tested on another as it is.

And those of densities alone, where annotators are unknown.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dissensus.corpus import Corpus
from dissensus_papers.framework.conditions import ComparisonCondition, Figures
from dissensus_papers.individual.figures import (
    CCC,
    READINGS,
    agreement_of_annotators,
    figures_of_crowd,
)
from dissensus_papers.individual.folds import (
    SEEDS,
    Folds,
    adults_to_children,
    item_folds,
    perspective,
    tasks,
)
from dissensus_papers.individual.models import CONSENSUS, GRID_BASELINE, HEADS, MT, OH

TRANSFERRED = (
    GRID_BASELINE,
    *(f"{MT}-{objective}" for objective in ("answers", "density", "both")),
    f"{OH}-both",
    CONSENSUS,
    HEADS,
    "prior",
    "annotator-median",
)
OF_ALL = ("soft@all", "plain@all")
DENSITIES_ALONE = ("soft", "soft:bins=8")
MODELS_OF_DENSITIES = (GRID_BASELINE, f"{GRID_BASELINE}-8", "grid-ours", CONSENSUS, "prior")
SENTENCES = ("V", "A")
TASKS = tasks(("snli", "mnli"), ("dnc", "joci"))


def of_test_items(
    folds: Folds, figures: Callable[[Corpus], Figures]
) -> Callable[[Corpus], Figures]:
    """Figures of the items that are tested, instead of all."""

    def of_items(corpus: Corpus) -> Figures:
        return figures(corpus.select(items=np.concatenate([f.test for f in folds(corpus)])))

    return of_items


def _sentences(name: str, title: str, train: str, test: str) -> ComparisonCondition:
    return ComparisonCondition(
        name,
        title,
        "emobank",
        models=MODELS_OF_DENSITIES,
        metrics=("CCC",),
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=perspective(train, test),
        questions=SENTENCES,
        densities=DENSITIES_ALONE,
    )


TRANSFER: tuple[ComparisonCondition, ...] = (
    ComparisonCondition(
        "children",
        "Trained on adults, tested on children",
        "speechocean762",
        models=TRANSFERRED,
        metrics=CCC,
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=adults_to_children,
        questions=("accuracy", "fluency"),
        by="speaker",
        densities=READINGS,
        figures=of_test_items(adults_to_children, agreement_of_annotators),
    ),
    ComparisonCondition(
        "tasks",
        "Trained on SNLI and MNLI, tested on DNC and JOCI",
        "nli_variation",
        models=TRANSFERRED,
        metrics=CCC,
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=TASKS,
        questions=("rating",),
        densities=READINGS + OF_ALL,
        figures=of_test_items(TASKS, figures_of_crowd(("rating",), READINGS + OF_ALL)),
    ),
    _sentences("writers", "Trained on readers, tested on writers", "reader", "writer"),
)
DENSITIES_ONLY: tuple[ComparisonCondition, ...] = (
    _sentences("readers", "Densities of readers", "reader", "reader"),
    _sentences("writers-own", "Densities of writers", "writer", "writer"),
    ComparisonCondition(
        "music",
        "Valence and arousal of pieces of music",
        "vgmidi",
        models=MODELS_OF_DENSITIES,
        metrics=("CCC",),
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=item_folds("valence"),
        questions=("valence", "arousal"),
        densities=DENSITIES_ALONE,
        figures=figures_of_crowd(("valence", "arousal"), DENSITIES_ALONE),
    ),
)
