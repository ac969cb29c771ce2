"""Outcomes -> report: scores, the paper's test and ours, cells of errors, gaps of losses.

A report is plain data: the tables are written from it alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import (
    Difference,
    corrected,
    here,
    over_both,
    over_items,
    over_seeds,
    published,
    statistic_over_both,
    statistic_over_items,
)
from dissensus.evaluation.fit import plain
from dissensus.evaluation.place import FRONT
from dissensus.evaluation.resampling import macro_f1
from dissensus.folders import read_json
from dissensus.papers.soft_labels.conditions import CONDITIONS, Condition
from dissensus.papers.soft_labels.items import Items
from dissensus.papers.soft_labels.outcome import Outcome
from dissensus.papers.soft_labels.printed import BASELINE, CELLS, MODELS
from dissensus.papers.soft_labels.running import outcomes
from dissensus.progress import progress

KIND = "soft-labels"


def report(path: str | Path) -> dict[str, Any]:
    """What a folder of outcomes says, or a kept file that says it already."""
    path = Path(path)
    if path.is_file():
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise DataError(f"{path}: damaged ({error})") from None
        if kept.get("paper") != KIND:
            raise DataError(f"{path}: no report on {KIND}; it was not written by us")
        return kept
    front = read_json(path, FRONT)
    found = outcomes(path)
    if not found:
        raise DataError(f"{path}: nothing is trained yet; go on with: {front['command']}")
    names = [name for name in CONDITIONS if any(o.condition == name for o in found)]
    items = {name: Items.load(path, name) for name in names}
    judged = {}
    with progress("testing", len(names)) as advance:
        for name in names:
            of_condition = [outcome for outcome in found if outcome.condition == name]
            judged[name] = _judged(CONDITIONS[name], items[name], of_condition)
            advance(1)
    _correct(judged)
    about = {
        "paper": KIND,
        "command": front["command"],
        "commits": front["commits"],
        "date": here()["date"],
        "machines": sorted({outcome.machine for outcome in found}),
        "seeds": sorted({outcome.seed for outcome in found}),
    }
    return dict(plain(about)) | {"conditions": plain(judged)}


def to_json(content: dict[str, Any]) -> str:
    """A report as a text that is the same each time, an entry of a list in a line."""
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


# ---- one condition ----


def _judged(condition: Condition, items: Items, found: Sequence[Outcome]) -> dict[str, Any]:
    """Every model that was trained, and each MTL model beside STL on the seeds that both have."""
    said = {
        model: {o.seed: _pooled(o, items) for o in found if o.model == model} for model in MODELS
    }
    models = {}
    for model in MODELS:
        fits = [outcome for outcome in found if outcome.model == model]
        if fits:
            models[model] = {
                "pooled": {
                    kind: _scores(items.label(kind), list(said[model].values()))
                    for kind in condition.tested
                },
                "fits": [_figures(condition, items, outcome) for outcome in fits],
                "settings": items.settings.get(model, {}),
            }
    against = {}
    for model in MODELS:
        seeds = sorted(said[BASELINE].keys() & said[model].keys())
        if model != BASELINE and seeds:
            mine, theirs = (np.stack([said[m][s] for s in seeds]) for m in (model, BASELINE))
            against[model] = {
                "seeds": seeds,
                "tests": {
                    kind: _tests(condition, items, items.label(kind), mine, theirs)
                    for kind in condition.tested
                },
                "cells": _cells(items, mine, theirs),
                "gap": _gap_test(found, model, seeds),
            }
    return {"n_items": len(items.gold), "models": models, "against": against}


def _pooled(outcome: Outcome, items: Items) -> np.ndarray:
    """What it answered to every test item, one fold after the other."""
    by_fold = {trained.fold: trained.codes for trained in outcome.folds}
    found = np.concatenate([by_fold[fold] for fold in items.folds])
    if len(found) != len(items.gold):
        raise DataError(
            f"{outcome.condition}, {outcome.model}, seed {outcome.seed}: {len(found)} answers to "
            f"{len(items.gold)} items"
        )
    return found


def _scores(wanted: np.ndarray, said: Sequence[np.ndarray]) -> dict[str, float]:
    """Over the predictions of all runs thrown together, as the paper scores."""
    label, answers = np.tile(wanted, len(said)), np.concatenate(said)
    f1 = macro_f1(label, answers)(np.ones((1, len(label))))[0, 0]
    return {"accuracy": round(float((label == answers).mean()), 6), "f1": round(float(f1), 6)}


def _figures(condition: Condition, items: Items, outcome: Outcome) -> dict[str, Any]:
    """A run by itself."""
    said = _pooled(outcome, items)
    return {
        "seed": outcome.seed,
        "seconds": round(outcome.seconds, 1),
        "scores": {kind: _scores(items.label(kind), [said]) for kind in condition.tested},
        "epochs": [trained.best_epoch for trained in outcome.folds],
        "gap": {when: round(_gap(outcome, when), 6) for when in ("chosen", "last")},
    }


# ---- tests ----


def _tests(
    condition: Condition, items: Items, wanted: np.ndarray, mine: np.ndarray, theirs: np.ndarray
) -> dict[str, Any]:
    """The paper's test and ours, of accuracy and of macro-F1."""
    right, right_theirs = (mine == wanted).astype(float), (theirs == wanted).astype(float)
    label = np.tile(wanted, len(mine))
    pooled = [macro_f1(label, side.reshape(1, -1)) for side in (mine, theirs)]
    runs = [macro_f1(wanted, side) for side in (mine, theirs)]
    if len(mine) > 1:
        ours = {
            "accuracy": over_both(right, right_theirs, groups=items.groups),
            "f1": statistic_over_both(*runs, groups=items.groups),
        }
    else:
        ours = {
            "accuracy": over_items(right, right_theirs, groups=items.groups),
            "f1": statistic_over_items(*runs, groups=items.groups, resamples=1000),
        }
    draws = condition.draws
    return {
        "published": {
            "accuracy": published(right, right_theirs, resamples=draws).p,
            "f1": published(*pooled, resamples=draws).p,
        },
        "ours": {metric: difference.to_dict() for metric, difference in ours.items()},
    }


def _correct(judged: dict[str, Any]) -> None:
    """Holm's correction over every comparison of the report."""
    places = [
        (tests["ours"], metric)
        for condition in judged.values()
        for against in condition["against"].values()
        for tests in against["tests"].values()
        for metric in tests["ours"]
    ]
    made = [_difference(held[metric]) for held, metric in places]
    for (held, metric), difference in zip(places, corrected(made), strict=True):
        held[metric] = _short(difference)


def _difference(content: dict[str, Any]) -> Difference:
    return Difference(**content | {"notes": tuple(content["notes"])})


def _short(difference: Difference) -> dict[str, Any]:
    """What tables say of a difference."""
    names = ("test", "effect", "low", "high", "p", "adjusted", "n_runs", "n_groups", "reason")
    return {name: getattr(difference, name) for name in names}


# ---- the analysis of errors ----


def _cells(items: Items, mine: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """Who is right where, the mean measure of the soft label there, and whether it differs where
    only one is."""
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
    found = {name: values[cell & known] for name, cell in zip(CELLS, inside, strict=True)}
    mixed = found["only MTL right"], found["only STL right"]
    p = float(mannwhitneyu(*mixed).pvalue) if all(map(len, mixed)) else float("nan")
    return {
        "n": {name: len(held) for name, held in found.items()},
        "mean": {name: _mean(held) for name, held in found.items()},
        "mann_whitney": p,
    }


def _mean(values: np.ndarray) -> float:
    return round(float(values.mean()), 6) if len(values) else float("nan")


# ---- overfitting ----


def _gap(outcome: Outcome, when: str) -> float:
    """How much higher the main task's loss is on the development part than in training."""
    return float(np.mean([t.main[when][1] - t.main[when][0] for t in outcome.folds]))


def _gap_test(found: Sequence[Outcome], model: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The gap of an MTL model less that of STL, over seeds."""
    made = {}
    for when in ("chosen", "last"):
        gaps = {(o.model, o.seed): _gap(o, when) for o in found}
        mine, theirs = (np.array([gaps[m, s] for s in seeds]) for m in (model, BASELINE))
        difference = over_seeds(mine, theirs)
        made[when] = _short(replace(difference, n_groups=0))
    return made
