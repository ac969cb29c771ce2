"""Outcomes -> report: scores, the paper's test and ours, cells of errors, gaps of losses.

A report is plain data: the tables are written from it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import over_seeds, published, resampling
from dissensus.progress import progress
from dissensus_papers.framework.reports import (
    accuracy_and_f1,
    begun_with,
    correct,
    head,
    macro_f1,
    short,
)
from dissensus_papers.soft_labels.outcomes import Items, Outcome, outcomes
from dissensus_papers.soft_labels.protocol import (
    BASELINE,
    CELLS,
    CONDITIONS,
    MODELS,
    SoftLabelsCondition,
)

KIND = "soft-labels"


def judged(path: Path) -> dict[str, Any]:
    """The report on a folder of outcomes."""
    front = begun_with(path, KIND)
    done = outcomes(path)
    outcomes_of = {
        name: _in_every_model([o for o in done if o.condition == name]) for name in CONDITIONS
    }
    names = [name for name, of_condition in outcomes_of.items() if of_condition]
    about = head(path, front, (outcome.machine for outcome in done if names))
    items = {name: Items.load(path, name) for name in names}
    conditions = {}
    with progress("testing", len(names)) as advance:
        for name in names:
            conditions[name] = _judged(CONDITIONS[name], items[name], outcomes_of[name])
            advance(1)
    correct(
        tests["ours"]
        for condition in conditions.values()
        for against in condition["against"].values()
        for tests in against["tests"].values()
    )
    return about | {
        "seeds": sorted({seed for condition in conditions.values() for seed in condition["seeds"]}),
        "left_out": len(done) - sum(map(len, outcomes_of.values())),
        "conditions": conditions,
    }


def _in_every_model(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes of the seeds that every model is done with, so that all are scored on the same
    runs; a model that is not begun yet does not count."""
    done = {model: {o.seed for o in outcomes if o.model == model} for model in MODELS}
    seeds = set.intersection(*(own for own in done.values() if own)) if outcomes else set()
    return [outcome for outcome in outcomes if outcome.seed in seeds]


# ---- one condition ----


def _judged(
    condition: SoftLabelsCondition, items: Items, outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """The scores of every model, and each MTL model compared with STL."""
    seeds = sorted({outcome.seed for outcome in outcomes})
    answers_of = {
        model: np.stack(
            [_pooled(o, items) for o in outcomes if o.model == model]
        )  # (n_runs, n_items)
        for model in MODELS
        if any(o.model == model for o in outcomes)
    }
    models = {
        model: {
            "pooled": {kind: _scores(items.label(kind), answers) for kind in condition.tested},
            "fits": [_figures(condition, items, o) for o in outcomes if o.model == model],
            "settings": items.settings.get(model, {}),
            "words": _by_vector(items, answers),
        }
        for model, answers in answers_of.items()
    }
    against = {
        model: _compared(condition, items, answers, answers_of[BASELINE])
        | {"gap": _gap_test(outcomes, model, seeds)}
        for model, answers in answers_of.items()
        if model != BASELINE and BASELINE in answers_of
    }
    known = float(items.known.mean()) if len(items.known) else float("nan")
    return {
        "n_items": len(items.gold),
        "seeds": seeds,
        "with_vector": known,
        "majority": {kind: _most_frequent(items.label(kind)) for kind in condition.tested},
        "models": models,
        "against": against,
    }


def _compared(
    condition: SoftLabelsCondition, items: Items, mine: np.ndarray, theirs: np.ndarray
) -> dict[str, Any]:
    """An MTL model's answers compared with those of STL."""
    tests = {
        kind: _tests(condition, items, items.label(kind), mine, theirs) for kind in condition.tested
    }
    return {"tests": tests, "cells": _cells(items, mine, theirs)}


def _most_frequent(labels: np.ndarray) -> float:
    """The accuracy of always answering the most frequent label."""
    return round(float(np.unique(labels, return_counts=True)[1].max() / len(labels)), 6)


def _by_vector(items: Items, answers: np.ndarray) -> dict[str, float]:
    """Accuracy on words with and without a vector; empty where that is not known."""
    if not len(items.known):
        return {}
    right = answers == items.gold
    cells = {"with": right[:, items.known == 1], "without": right[:, items.known == 0]}
    return {name: _mean(cell) for name, cell in cells.items()}


def _pooled(outcome: Outcome, items: Items) -> np.ndarray:
    """The predicted answers of all test items, one fold after another."""
    by_fold = {trained.fold: trained.codes for trained in outcome.folds}
    sizes = {fold: len(by_fold.get(fold, ())) for fold in items.folds}
    if sizes != items.folds:
        raise DataError(
            f"{outcome.condition}, {outcome.model}, seed {outcome.seed}: {sum(sizes.values())} "
            f"answers to {len(items.gold)} items; take its folder away and run the paper again"
        )
    return np.concatenate([by_fold[fold] for fold in items.folds])


def _scores(wanted: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Over the predictions of all runs, (n_runs, n_items), pooled as in the paper."""
    label, answers = np.tile(wanted, len(predicted)), predicted.ravel()
    f1 = macro_f1(label, answers)
    return {"accuracy": round(float((label == answers).mean()), 6), "f1": round(f1, 6)}


def _figures(condition: SoftLabelsCondition, items: Items, outcome: Outcome) -> dict[str, Any]:
    """The scores of one run."""
    predicted = _pooled(outcome, items)
    return {
        "seed": outcome.seed,
        "seconds": round(outcome.seconds, 1),
        "scores": {kind: _scores(items.label(kind), predicted[None]) for kind in condition.tested},
        "epochs": [trained.best_epoch for trained in outcome.folds],
        "gap": {when: round(_gap(outcome, when), 6) for when in ("chosen", "last")},
    }


# ---- tests ----


def _tests(
    condition: SoftLabelsCondition,
    items: Items,
    wanted: np.ndarray,
    mine: np.ndarray,
    theirs: np.ndarray,
) -> dict[str, Any]:
    """The paper's test and ours, of accuracy and of macro-F1."""
    right, right_theirs = (mine == wanted).astype(float), (theirs == wanted).astype(float)
    label = np.tile(wanted, len(mine))
    pooled = [resampling.macro_f1(label, side.reshape(1, -1)) for side in (mine, theirs)]
    draws = condition.draws
    return {
        "published": {
            "accuracy": published(right, right_theirs, resamples=draws).p,
            "f1": published(*pooled, resamples=draws).p,
        },
        "ours": accuracy_and_f1(wanted, mine, theirs, items.groups),
    }


# ---- the analysis of errors ----


def _cells(items: Items, mine: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """Which model is right, the mean measure of the soft label there, and whether it differs
    where only one is right."""
    from scipy.stats import mannwhitneyu

    right, right_theirs = mine == items.gold, theirs == items.gold
    inside = (
        right & right_theirs,
        ~right & right_theirs,
        right & ~right_theirs,
        ~right & ~right_theirs,
    )
    known = ~np.isnan(items.measure)
    values = np.broadcast_to(items.measure, mine.shape)
    measures = {name: values[cell & known] for name, cell in zip(CELLS, inside, strict=True)}
    mixed = measures["only MTL right"], measures["only STL right"]
    p = float(mannwhitneyu(*mixed).pvalue) if all(map(len, mixed)) else float("nan")
    return {
        "n": {name: len(measured) for name, measured in measures.items()},
        "mean": {name: _mean(measured) for name, measured in measures.items()},
        "mann_whitney": p,
    }


def _mean(values: np.ndarray) -> float:
    return round(float(values.mean()), 6) if len(values) else float("nan")


# ---- overfitting ----


def _gap(outcome: Outcome, when: str) -> float:
    """How much higher the main task's loss is on the development part than in training."""
    return float(np.mean([t.main[when][1] - t.main[when][0] for t in outcome.folds]))


def _gap_test(outcomes: Sequence[Outcome], model: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The gap of an MTL model less that of STL, over seeds."""
    tests = {}
    for when in ("chosen", "last"):
        gaps = {(o.model, o.seed): _gap(o, when) for o in outcomes}
        mine, theirs = (np.array([gaps[m, s] for s in seeds]) for m in (model, BASELINE))
        difference = over_seeds(mine, theirs)
        tests[when] = short(difference)
    return tests
