"""Post hoc: is an ensemble closer than one network if both have a temperature, and what did the
choice on the first corpus depend on?

The chosen variant remains the one that is tested (`analysis`). What this study finds is tested
again, on items that were not used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dissensus.evaluation import Difference, corrected
from dissensus_papers.seedbert.conditions import N_FOLDS
from dissensus_papers.seedbert.corpora import FIRST
from dissensus_papers.seedbert.figures import Figures, in_short, nearer
from dissensus_papers.seedbert.models import DEEP, SEEDS, SINGLE, VARIANTS
from dissensus_papers.seedbert.outcome import Outcome
from dissensus_papers.seedbert.scoring import CAUTIOUS, DISTANCES, TEMPERED, VOTES, temperatures
from dissensus_papers.seedbert.selection import BY

ENSEMBLES = (SEEDS, DEEP)
MEMBER = "member"  # the first one of an ensemble


def calibrated(of_corpus: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> ensemble -> its distances less those of one network, all with a temperature.

    Less a single one, which has its own settings, and less the ensemble's first member, so that
    the effect of settings can be separated from that of members. Cross-entropies less a single one
    are corrected (Holm) over all corpora but the first.
    """
    counted = {c: figures for c, figures in of_corpus.items() if figures.condition.source.counted}
    return _less_one(counted, TEMPERED)


def again(of_corpus: Mapping[str, Figures]) -> dict[str, Any]:
    """The same on other items, as methods choose a temperature: at least 1."""
    return _less_one(of_corpus, CAUTIOUS)


def _less_one(of_corpus: Mapping[str, Figures], read: str) -> dict[str, Any]:
    tests_of: dict[str, dict[str, dict[str, dict[str, Difference]]]] = {}
    for corpus, figures in of_corpus.items():
        for model in ENSEMBLES:
            if figures.shared(model, SINGLE):
                tests_of.setdefault(corpus, {})[model] = _less_one_network(figures, model, read)
    counted = [
        less[SINGLE] for corpus in tests_of if corpus != FIRST for less in tests_of[corpus].values()
    ]
    tests = corrected([less[BY] for less in counted])
    for less, test in zip(counted, tests, strict=True):
        less[BY] = test
    return {
        corpus: {
            model: {other: in_short(tests) for other, tests in less.items()}
            for model, less in of_model.items()
        }
        for corpus, of_model in tests_of.items()
    }


def _less_one_network(figures: Figures, model: str, read: str) -> dict[str, dict[str, Difference]]:
    mine = model, read
    return {
        SINGLE: nearer(figures, mine, (SINGLE, read), *DISTANCES),
        MEMBER: nearer(figures, mine, mine, *DISTANCES, n_members=1),
    }


# ---- temperatures ----


def tempering(of_corpus: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> by how many labels a temperature is chosen, and its effect in each fit.

    "items": held out in a fit, mean over fits; "rare": the fewest and most of them in a fit
    whose label is not the corpus's most frequent one.
    """
    by_corpus = {}
    for corpus, figures in of_corpus.items():
        models = [model for model in (SINGLE, *VARIANTS) if model in figures.done]
        if models and figures.condition.source.counted:
            sizes, rare = _set_aside(figures)
            by_corpus[corpus] = {
                "items": float(np.mean(sizes)),
                "rare": [min(rare), max(rare)],
                "models": {model: _tempered(figures, model) for model in models},
            }
    return by_corpus


def _set_aside(figures: Figures) -> tuple[list[int], list[int]]:
    """How many items, and how many with a rare label, of every fit."""
    label = figures.items.label
    often = np.bincount(label[label >= 0]).argmax()
    folds = [
        label[outcome.aside[1][outcome.aside[0] == fold]]
        for of_model in figures.done.values()
        for outcome in of_model.values()
        for fold in np.unique(outcome.aside[0])
    ]
    return [len(labels) for labels in folds], [int((labels != often).sum()) for labels in folds]


def _tempered(figures: Figures, model: str) -> dict[str, Any]:
    """Of all fits of a model: the ends of its temperatures, and cross-entropies where one is below
    1 (more confident because of few labels) and where it is not; "votes": those of its votes there;
    "cautious": those of all fits if no temperature were below 1."""
    chosen, crossed, votes, cautious = [], [], [], []
    for repeat, outcome in figures.done[model].items():
        chosen += temperatures(outcome, figures.items)
        crossed += _of_folds(figures, outcome, TEMPERED, repeat)
        votes += _of_folds(figures, outcome, VOTES, repeat)
        cautious += _of_folds(figures, outcome, CAUTIOUS, repeat)
    below = np.array(chosen) < 1
    return {
        "low": min(chosen),
        "high": max(chosen),
        "fits": len(chosen),
        "below": int(below.sum()),
        "there": _mean(np.array(crossed)[below]),
        "elsewhere": _mean(np.array(crossed)[~below]),
        "votes": _mean(np.array(votes)[~below]),
        "cautious": _mean(np.array(cautious)),
    }


def _of_folds(figures: Figures, outcome: Outcome, read: str, repeat: int) -> list[float]:
    """The mean cross-entropy of each fold."""
    scores = figures.scores(outcome.model, read, BY, [repeat])[0]
    of_item = figures.items.folds[repeat]
    return [float(scores[of_item == fold].mean()) for fold in range(N_FOLDS)]


def _mean(values: np.ndarray) -> float:
    """nan of none."""
    return float(values.mean()) if len(values) else float("nan")
