"""Choices: settings by trials on training folds, a variant on the first corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation.fit import Key, folder_name
from dissensus_papers.framework.outcomes import load_outcomes
from dissensus_papers.seedbert.conditions import CONDITIONS
from dissensus_papers.seedbert.corpora import FIRST
from dissensus_papers.seedbert.items import Items
from dissensus_papers.seedbert.models import MODELS, VARIANTS, trials
from dissensus_papers.seedbert.outcome import Outcome
from dissensus_papers.seedbert.scoring import READ_OUTS, score_of_items

BY = "cross-entropy"  # how "nearest to the annotators' answers" is measured


def outcomes(folder: str | Path, condition: str | None = None) -> list[Outcome]:
    """The outcomes of all fits in a folder, or of one condition."""

    def wanted(name: str) -> bool:
        return condition is None or name.rsplit("@", 1)[1] == folder_name(Key("", 0, condition))[3:]

    return load_outcomes(folder, Outcome.load, CONDITIONS, MODELS, wanted)


def tried(folder: str | Path, condition: str, model: str) -> list[Outcome]:
    """The trials of a model that are done, in their order."""
    fits = Path(folder) / "fits"
    keys = [Key(model, number, condition) for number in range(len(trials(model)))]
    there = [fits / folder_name(key) for key in keys]
    return [Outcome.load(path) for path in there if (path / "fit.json").exists()]


def chosen(folder: str | Path, condition: str, model: str) -> dict[str, Any]:
    """The settings under which the labels of held-out training items were likeliest."""
    done = tried(folder, condition, model)
    if len(done) < len(trials(model)):
        raise DataError(f"{folder}: {condition} is not done for {model}; run it first")
    best = min(done, key=lambda outcome: float(np.mean(outcome.scores)))
    return dict(best.settings)


def best_variant(folder: str | Path) -> tuple[str, str]:
    """The variant and read-out that are nearest to the annotators' answers, on the first corpus.

    By cross-entropy, the mean over items and all repetitions that every variant has.
    """
    items = Items.load(folder, FIRST)
    done = [o for o in outcomes(folder, FIRST) if o.model in VARIANTS]
    shared = set.intersection(*({o.repeat for o in done if o.model == v} for v in VARIANTS))
    if not shared:
        raise DataError(f"{folder}: no repetition of {FIRST} has every variant yet")
    scores: dict[tuple[str, str], list[float]] = {}
    for outcome in done:
        for read in READ_OUTS if outcome.repeat in shared else ():
            score = score_of_items(outcome, items, read)[BY].mean()
            scores.setdefault((outcome.model, read), []).append(float(score))
    return min(scores, key=lambda which: float(np.mean(scores[which])))
