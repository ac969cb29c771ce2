"""One fit of a comparison, from its key: choose settings, learn, answer the test, be judged."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import CheckpointError, DissensusError, ModelError
from dissensus.evaluation.fit import Fit, Key, Status, folder_name, item_table, plain
from dissensus.evaluation.item_scores import item_scores, parts_of
from dissensus.evaluation.protocols import Fold, nested
from dissensus.evaluation.trials import best, drawn, leading_metric
from dissensus.methods.base import Method
from dissensus.methods.choices import Choices
from dissensus.methods.variants import changed, draws, seeded, settings_of
from dissensus.metrics import METRICS, scores
from dissensus.names import Names
from dissensus.prediction import Prediction, Predictions

DIVERGED = "training diverged"


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that decides how fits end, but for the corpus."""

    questions: tuple[str, ...]
    metrics: tuple[str, ...]
    methods: Mapping[str, Method]
    folds: tuple[Fold, ...]
    seeds: tuple[int, ...]
    trials: int
    inner_folds: int
    choices: Mapping[str, Choices]  # of each method
    by: str | None  # what belongs together, in inner folds too
    unfinished: Path  # a folder for what is known of fits that are under way

    def keys(self) -> list[Key]:
        """Every fit, all methods on one fold before the next; one seed where nothing is drawn."""
        return [
            Key(name, seed, fold.name)
            for seed in self.seeds
            for fold in self.folds
            for name, method in self.methods.items()
            if seed == self.seeds[0] or draws(method)
        ]

    def fold(self, name: str) -> Fold:
        return next(fold for fold in self.folds if fold.name == name)

    def state(self, key: Key) -> Path:
        """The folder for what is known of a fit that is under way."""
        return self.unfinished / folder_name(key)

    # ---- for worker processes ----

    def opened(self, folder: Path) -> Corpus:
        return Corpus.load(folder)

    def done(self, opened: Corpus, key: Key) -> Fit:
        return fitted(self, opened, key)

    def died(self, key: Key, why: str) -> Fit:
        run = self.fold(key.fold).run
        return Fit(*key, run=run, status="failed", reason=why)


def fitted(task: Task, corpus: Corpus, key: Key) -> Fit:
    """The fit of this key; whatever goes wrong is kept in it."""
    began, fold = time.monotonic(), task.fold(key.fold)
    fit = Fit(key.method, key.seed, key.fold, fold.run)
    try:
        method = seeded(task.methods[key.method], key.seed)
        if task.trials and task.choices.get(key.method):
            fit = replace(fit, tried=list(_tried(task, corpus, key, method)))
            settings = drawn(method, task.choices[key.method], task.trials, key.seed)
            scales = {question: corpus[question].scale for question in task.questions}
            method = changed(method, settings[best(fit.tried, scales)])
        fit = replace(fit, settings=plain(settings_of(method)))
        train, test, validation = fold.parts(corpus)
        checkpoint = task.state(key) / "training"
        try:
            method.fit(train, task.questions, validation, checkpoint=checkpoint)
        except CheckpointError:  # of an earlier version of the code
            shutil.rmtree(checkpoint, ignore_errors=True)
            method.fit(train, task.questions, validation, checkpoint=checkpoint)
        learning = method.notes_
        said = method.predict(test)
        notes = tuple(dict.fromkeys([*learning, *method.notes_]))
        fit = replace(_judged(fit, task, said, test), notes=notes)
        method.forget_checkpoint()
    except Exception as error:
        status, reason = _why(error)
        fit = replace(fit, status=status, reason=reason)
    return replace(fit, seconds=time.monotonic() - began)


def _why(error: Exception) -> tuple[Status, str]:
    """How a fit ended that did not end well, and why."""
    text = str(error).strip()
    if isinstance(error, ModelError) and text.startswith(DIVERGED):
        return "diverged", text
    if isinstance(error, DissensusError) and text:
        return "failed", text
    first = text.splitlines()[0] if text else "without a message"
    return "failed", f"{type(error).__name__}: {first}"


# ---- the choice of settings ----


def _tried(task: Task, corpus: Corpus, key: Key, method: Method) -> Iterator[dict[str, Any]]:
    """Every setting with its score on folds of the training part; what was known is not done
    again."""
    folds = nested(corpus, task.fold(key.fold), task.inner_folds, key.seed, task.by)
    settings = drawn(method, task.choices[key.method], task.trials, key.seed)
    for at, chosen in enumerate(settings):
        path = task.state(key) / f"trial-{at}.json"
        if path.exists():
            yield json.loads(path.read_text(encoding="utf-8"))
            continue
        scored = plain(_scored(task, corpus, changed(method, chosen), folds))
        entry: dict[str, Any] = {"settings": plain(chosen), **scored}
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(entry), encoding="utf-8")
        os.replace(new, path)
        yield entry


def _scored(task: Task, corpus: Corpus, method: Method, folds: list[Fold]) -> dict[str, Any]:
    """The mean of the leading metrics over inner folds, each fold's, and what went wrong."""
    leading = {question: leading_metric(corpus[question].scale) for question in task.questions}
    each: dict[str, list[float]] = {question: [] for question in leading}
    reason = ""
    try:
        for fold in folds:
            train, test, _ = fold.parts(corpus)
            said = changed(method, {}).fit(train, task.questions).predict(test)
            for question, metric in leading.items():
                _check_numbers(question, said[question], test[question])
                found = scores(said[question], test[question], metrics=[metric])
                each[question].append(found[metric])
    except Exception as error:
        reason = ": ".join(_why(error))
    missing = [np.nan] * len(folds)
    by_fold = {q: {leading[q]: [*found, *missing][: len(folds)]} for q, found in each.items()}
    means = {
        q: {m: float(np.mean(found)) for m, found in known.items()} for q, known in by_fold.items()
    }
    return {"scores": means, "by_fold": by_fold, "reason": reason}


# ---- judging ----


def _judged(fit: Fit, task: Task, said: Predictions, test: Corpus) -> Fit:
    figures: dict[str, dict[str, float]] = {}
    items: dict[str, dict[str, tuple[Names, np.ndarray]]] = {}
    for question in task.questions:
        prediction, people = said[question], test[question]
        gold = test.gold.get(question)
        _check_numbers(question, prediction, people)
        figures[question] = scores(prediction, people, gold, task.metrics)
        items[question] = item_scores(prediction, people, task.metrics)
        if gold is not None:
            items[question] |= _against_gold(prediction, gold, task.metrics)
    return replace(fit, scores=figures, items=item_table(items))


def _check_numbers(question: str, prediction: Prediction, people: Annotations) -> None:
    """Refuse answers that are no numbers, where somebody answered."""
    asked = people.per_item() > 0
    bad = asked & ~np.isfinite(prediction.distribution).all(axis=1)
    if bad.any():
        raise ModelError(
            f"{DIVERGED}: {int(bad.sum())} of {int(asked.sum())} answers to {question!r} are nan"
        )


def _against_gold(
    prediction: Prediction, gold: Annotations, metrics: tuple[str, ...]
) -> dict[str, tuple[Names, np.ndarray]]:
    apply = [
        name
        for name in metrics
        if METRICS[name].gold and gold.scale.kind in METRICS[name].scales
        if parts_of(name) == (name,)
    ]
    return {f"{m} (gold)": found for m, found in item_scores(prediction, gold, apply).items()}
