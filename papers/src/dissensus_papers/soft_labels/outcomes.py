"""Outcomes of fits, and facts about the test items of a condition; and from these the report:
scores, the paper's test and ours, cells of errors, gaps of losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus
from dissensus.aggregation import AGGREGATORS
from dissensus.errors import DataError
from dissensus.evaluation import over_seeds, plain, published, resampling
from dissensus.metrics import entropy, excess_kurtosis
from dissensus.progress import progress
from dissensus_papers.framework import reports
from dissensus_papers.framework.fitted import SavedItems, SavedOutcome
from dissensus_papers.soft_labels.protocol import (
    BASELINE,
    CELLS,
    CONDITIONS,
    MODELS,
    STEMS,
    SoftLabelsCondition,
    folds,
    labels,
)


@dataclass(frozen=True, eq=False)
class Outcome(SavedOutcome):
    """A model's trainings with one seed on all folds of a condition; lists have an entry for each.

    Example:
        >>> Outcome("stl", 1000, "pos-test").key
        Key(method='stl', seed=1000, fold='pos-test')
    """

    # (n_items,) codes of the answers to all test items, one fold after the other
    predicted: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    best_epochs: list[int] = field(default_factory=list)
    f1: list[list[float]] = field(default_factory=list)  # on the development part, by epoch
    loss: list[list[float]] = field(default_factory=list)  # that was minimised, by epoch
    # losses of the main task alone in training and development, at the chosen and the last epoch
    chosen: list[list[float]] = field(default_factory=list)
    last: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Items(SavedItems):
    """The test items of all folds of a condition, one fold after the other."""

    gold: np.ndarray  # (n_items,) codes
    consensus: np.ndarray  # (n_items,) the crowd's majority, -1 without answers
    groups: np.ndarray  # (n_items,) the tweet or word
    measure: np.ndarray  # (n_items,) kurtosis of the soft label, of two answers its entropy
    settings: dict[str, Any]  # of every model
    known: np.ndarray  # (n_items,) 1 where the word has a vector, else 0; empty without vectors

    @classmethod
    def of(
        cls, corpus: Corpus, condition: SoftLabelsCondition, settings: Mapping[str, Any],
        glove: str | Path | None = None,
    ) -> Items:  # fmt: skip
        tested = np.concatenate([fold.test for fold in folds(corpus, condition)])
        question = condition.question
        soft = AGGREGATORS["softmax-vote"]().fit(corpus[question]).distribution_[tested]
        gold, consensus = (labels(corpus, question, k)[tested] for k in ("gold", "consensus"))
        groups = np.unique(corpus.units()[tested], return_inverse=True)[1].reshape(-1)
        measure = entropy(soft) if condition.corpus == STEMS else excess_kurtosis(soft)
        known = known_words(corpus, tested, glove)
        return cls(condition.name, gold, consensus, groups, measure, plain(settings), known)


def known_words(corpus: Corpus, items: np.ndarray, glove: str | Path | None) -> np.ndarray:
    """1 where the word that an item is about has a vector in the file, else 0, (n_items,); empty
    without a file, and for items that are about no word of a text."""
    from dissensus.encoders import WordsEncoder

    focus = corpus.focus
    if focus is None or glove is None:
        return np.zeros(0, np.int64)
    words = WordsEncoder(str(glove))
    texts = corpus.contents[focus.role].values.to_pylist()
    ends = (end[items, 0].astype(int) for end in (focus.start, focus.stop))
    shown = zip(corpus.content[focus.role][items], *ends, strict=True)
    numbers = [words.number(texts[code][start:stop]) for code, start, stop in shown]
    return (np.array(numbers) != words.nothing).astype(np.int64)


WHEN = ("chosen", "last")  # epochs


def figures(
    path: Path, facts: reports.Report, outcomes: Mapping[str, Sequence[Outcome]], n_done: int
) -> reports.Report:
    """See `FittedPaper.figures`."""
    items = {name: Items.load(path, name) for name in outcomes}
    conditions = {}
    with progress("testing", len(items)) as advance:
        for name, own in outcomes.items():
            conditions[name] = _judged(CONDITIONS[name], items[name], own)
            advance(1)
    seeds = {outcome.seed for own in outcomes.values() for outcome in own}
    left_out = n_done - sum(map(len, outcomes.values()))
    return {"seeds": sorted(seeds), "left_out": left_out, "conditions": conditions}


def in_every_model(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes of the seeds that every model is done with, so that all are scored on the same
    runs; a model that is not begun yet does not count."""
    done = {model: {o.seed for o in outcomes if o.model == model} for model in MODELS}
    seeds = set.intersection(*(own for own in done.values() if own)) if outcomes else set()
    return [outcome for outcome in outcomes if outcome.seed in seeds]


def _judged(
    condition: SoftLabelsCondition, items: Items, outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """The scores of every model, and each MTL model compared with STL."""
    done = {model: [o for o in outcomes if o.model == model] for model in MODELS}
    for each in outcomes:
        if len(each.predicted) != len(items.gold):
            raise DataError(
                f"{each.condition}, {each.model}, seed {each.seed}: {len(each.predicted)} answers "
                f"to {len(items.gold)} items; take its folder away and run the paper again"
            )
    answers_of = {  # (n_runs, n_items)
        model: np.stack([o.predicted for o in own]) for model, own in done.items() if own
    }
    labels = {kind: getattr(items, kind) for kind in condition.tested}
    sides = (("with", 1), ("without", 0)) if len(items.known) else ()  # words with a vector
    models, against = {}, {}
    for model, answers in answers_of.items():
        fits: list[dict[str, Any]] = []
        for each, own in zip(done[model], answers, strict=True):
            fits.append({"seed": each.seed, "seconds": round(each.seconds, 1)})
            fits[-1]["scores"] = {kind: _scores(label, own) for kind, label in labels.items()}
            gaps = {when: round(float(_gaps([each], when)[0]), 6) for when in WHEN}
            fits[-1] |= {"epochs": each.best_epochs, "gap": gaps}
        right = answers == items.gold
        models[model] = {
            "pooled": {kind: _scores(label, answers) for kind, label in labels.items()},
            "fits": fits,
            "settings": items.settings.get(model, {}),
            "words": {name: _mean(right[:, items.known == side]) for name, side in sides},
        }
        if model != BASELINE and BASELINE in answers_of:
            stl, both = answers_of[BASELINE], (done[model], done[BASELINE])
            tests = {k: _tests(condition, items, v, answers, stl) for k, v in labels.items()}
            seeds = {when: over_seeds(*(_gaps(own, when) for own in both)) for when in WHEN}
            gap = {when: reports.short(test) for when, test in seeds.items()}
            cells = _cells(items, answers, stl)
            against[model] = {"tests": tests, "cells": cells, "gap": gap}
    return {
        "n_items": len(items.gold),
        "seeds": sorted({outcome.seed for outcome in outcomes}),
        "with_vector": float(items.known.mean()) if len(items.known) else float("nan"),
        "majority": {  # the accuracy of always answering the most frequent label
            kind: max(_mean(label == value) for value in np.unique(label))
            for kind, label in labels.items()
        },
        "models": models,
        "against": against,
    }


def _scores(wanted: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Over the predictions of a run, or of all runs pooled as in the paper."""
    answers = predicted.ravel()
    label = np.tile(wanted, len(answers) // len(wanted))
    accuracy = float((label == answers).mean())
    return {"accuracy": round(accuracy, 6), "f1": round(reports.macro_f1(label, answers), 6)}


def _tests(
    condition: SoftLabelsCondition, items: Items, wanted: np.ndarray, mine: np.ndarray,
    theirs: np.ndarray,
) -> dict[str, Any]:  # fmt: skip
    """The paper's test and ours, of accuracy and of macro-F1."""
    both, label = (mine, theirs), np.tile(wanted, len(mine))
    right = [(side == wanted).astype(float) for side in both]
    pooled = [resampling.macro_f1(label, side.reshape(1, -1)) for side in both]
    ours = reports.accuracy_and_f1(wanted, mine, theirs, items.groups)
    accuracy, f1 = (published(*each, resamples=condition.draws).p for each in (right, pooled))
    return {"published": {"accuracy": accuracy, "f1": f1}, "ours": ours}


def _cells(items: Items, mine: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """Which model is right, the mean measure of the soft label there, and whether it differs
    where only one is right."""
    from scipy.stats import mannwhitneyu

    a, b = mine == items.gold, theirs == items.gold
    known = ~np.isnan(items.measure)
    values = np.broadcast_to(items.measure, mine.shape)
    inside = zip(CELLS, (a & b, ~a & b, a & ~b, ~a & ~b), strict=True)
    measures = {name: values[cell & known] for name, cell in inside}
    mixed = measures["only MTL right"], measures["only STL right"]
    p = float(mannwhitneyu(*mixed).pvalue) if all(map(len, mixed)) else float("nan")
    n = {name: len(measured) for name, measured in measures.items()}
    means = {name: _mean(measured) for name, measured in measures.items()}
    return {"n": n, "mean": means, "mann_whitney": p}


def _mean(values: np.ndarray) -> float:
    return round(float(values.mean()), 6) if len(values) else float("nan")


def _gaps(outcomes: Sequence[Outcome], when: str) -> np.ndarray:
    """How much higher the main task's loss is on the development part than in training."""
    return np.array([np.diff(getattr(outcome, when)).mean() for outcome in outcomes])
