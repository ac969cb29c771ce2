"""The conditions: corpora, models, folds and seeds, and the densities that are scored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.evaluation import Fold, k_fold
from dissensus.evaluation.protocols import nested
from dissensus.metrics.continuous import concordance
from dissensus.papers.framework.conditions import ComparisonCondition, Figures
from dissensus.papers.individual.models import (
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
from dissensus.papers.individual.printed import CONCORDANCES, DISTANCES

SEEDS = (0, 1, 2, 3, 4)
N_FOLDS = 5
CCC = ("CCC", "annotator CCC", "annotator CCC, mean")
READINGS = ("soft", "plain", "fixed")  # at test, from what annotators are predicted to answer
FINER = tuple(f"{reading}:bins=8" for reading in READINGS)


def reading(questions: tuple[str, ...], text: str) -> str:
    """The name of the table of a density reading."""
    return f"{' x '.join(questions)} ({text})"


def speaker_folds(corpus: Corpus) -> list[Fold]:
    """Five folds by speaker; a fifth of the training speakers chooses the epoch."""
    folds = k_fold(corpus, N_FOLDS, by="speaker", stratify=next(iter(corpus.questions)))
    return [_with_validation(corpus, fold) for fold in folds]


def _with_validation(corpus: Corpus, fold: Fold) -> Fold:
    inner = nested(corpus, fold, N_FOLDS, by="speaker")[0]
    return replace(fold, train=inner.train, validation=inner.test)


# ---- what annotators reach ----


def agreement_of_annotators(corpus: Corpus) -> Figures:
    """How well an annotator's ratings agree with the mean of the others, per annotator."""
    return {question: _of_question(corpus[question]) for question in corpus.questions}


def _of_question(answers: Annotations) -> dict[str, dict[str, float]]:
    """Concordance as given, and as if all used the scale alike: then it is the correlation."""
    ratings = _matrix(answers)
    figures, given, alike = {}, [], []
    for at, name in enumerate(answers.annotators):
        there = ~np.isnan(ratings[:, at]) & (np.sum(~np.isnan(ratings), axis=1) > 1)
        own = ratings[there, at]
        others = np.nanmean(np.delete(ratings[there], at, axis=1), axis=1)
        given.append(concordance(own, others))
        alike.append(float(np.corrcoef(own, others)[0, 1]))
        figures[f"annotator {name}, by the mean of the others"] = {CCC[2]: given[-1]}
    mean, correlation = float(np.mean(given)), float(np.mean(alike))
    figures["annotators, by the mean of the others"] = {CCC[0]: mean, CCC[2]: mean}
    figures["the same, if all used the scale alike"] = {CCC[0]: correlation, CCC[2]: correlation}
    return figures


def _matrix(answers: Annotations) -> np.ndarray:
    """Ratings as (n_items, n_annotators), nan where there is none."""
    ratings = np.full((answers.n_items, answers.n_annotators), np.nan)
    ratings[answers.item, answers.annotator_codes("agreement")] = answers.answer
    return ratings


# ---- conditions ----

ASPECTS = ("accuracy", "fluency", "prosodic")
TWO = ASPECTS[:2]
CONDITIONS: tuple[ComparisonCondition, ...] = (
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
)
