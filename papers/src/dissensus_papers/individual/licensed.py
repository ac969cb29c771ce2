"""Conditions on the paper's own corpora, for those who have a licence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dissensus.corpus import Corpus
from dissensus.evaluation import Fold
from dissensus_papers.framework.conditions import ComparisonCondition, Printed
from dissensus_papers.individual.figures import CCC, READINGS, figures_of_crowd, reading
from dissensus_papers.individual.folds import SEEDS
from dissensus_papers.individual.models import FLOORS, GRID_BASELINE, OF_PAPER, OURS
from dissensus_papers.individual.printed import CONCORDANCES, DISTANCES

QUESTIONS = ("activation", "valence")
DENSITIES = (*READINGS, "soft@all", "plain@all")


def parts_of(split: str, train: str, validation: str, test: str) -> Callable[[Corpus], list[Fold]]:
    """One fold: the parts of a split that the corpus is distributed with."""

    def folds(corpus: Corpus) -> list[Fold]:
        of_item = np.array(corpus.splits[split].to_pylist(), dtype=object)
        of_train, of_test, of_validation = (
            np.flatnonzero(of_item == part) for part in (train, test, validation)
        )
        return [Fold(test, of_train, of_test, of_validation)]

    return folds


def _published(
    name: str,
    title: str,
    corpus: str,
    folds: Callable[[Corpus], list[Fold]],
    printed: Mapping[str, Printed],
) -> ComparisonCondition:
    return ComparisonCondition(
        name,
        title,
        corpus,
        models=(*OF_PAPER, *OURS, *FLOORS),
        metrics=CCC,
        seeds=SEEDS,
        reference=GRID_BASELINE,
        folds=folds,
        questions=QUESTIONS,
        densities=DENSITIES,
        printed_in=printed,
        figures=figures_of_crowd(QUESTIONS, DENSITIES),
    )


LICENSED: tuple[ComparisonCondition, ...] = (
    _published(
        "improv",
        "MSP-Improv, as published",
        "msp_improv",
        parts_of("paper", "train", "validation", "test"),
        {
            **{question: CONCORDANCES[at] for at, question in enumerate(QUESTIONS)},
            **{reading(QUESTIONS, text): DISTANCES[text] for text in DISTANCES},
        },
    ),
    _published(
        "podcast",
        "MSP-Podcast 1.11, first test part",
        "msp_podcast",
        parts_of("official", "train", "dev", "test1"),
        {},
    ),
)
