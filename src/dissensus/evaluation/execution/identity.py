"""What identifies a comparison: its corpus, folds, methods and settings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders.framework.digest import data_digest
from dissensus.evaluation.execution.folder import GOLD_CONSENSUS, WEIGHED_IN_TRIALS
from dissensus.evaluation.execution.task import Task
from dissensus.evaluation.execution.trials import weighed_questions
from dissensus.evaluation.protocols import Fold
from dissensus.methods.framework.settings import settings_of


def facts_of(
    corpus: Corpus, task: Task, requested: Mapping[str, Any], protocol: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that determines the results of a comparison, by names that users understand.

    Args:
        requested: all methods by name, including those that are left out.
    """
    facts: dict[str, Any] = {
        "corpus": corpus.name,
        "questions": task.questions,
        "metrics": task.metrics,
        "methods": list(requested),
        "seeds": task.seeds,
        "protocol": dict(protocol),
        "trials": task.trials,
    }
    if task.scoring is not None:
        facts["scoring"] = task.scoring
    weighed = weighed_questions(corpus, task.questions, task.scoring) if task.trials else ()
    if weighed:
        facts[WEIGHED_IN_TRIALS] = weighed
    if task.consensus is not None:
        facts["consensus"] = task.consensus
    elif any(question in corpus.gold for question in task.questions):
        facts[GOLD_CONSENSUS] = "all"  # comparisons of earlier versions had "own"
    if task.densities:
        facts["densities"] = [reading.text for reading in task.densities]
    for name, method in requested.items():
        facts |= {f"{name}'s {key}": value for key, value in settings_of(method).items()}
        if task.trials:
            choices = task.choices.get(name, {}).items()
            facts |= {f"{name}'s choices of {key}": values for key, values in choices}
    if task.trials:
        facts |= {"inner folds": task.inner_folds, "groups by": task.by}
    return facts | {"data": data_digest(corpus), "folds": folds_digest(task.folds)}


def default_settings(requested: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of all settings, by names as in `facts_of`: what a version without the setting
    did."""
    return {
        f"{name}'s {key}": value
        for name, method in requested.items()
        for key, value in settings_of(type(method)()).items()
    }


def folds_digest(folds: Sequence[Fold]) -> str:
    """A hash of the training, test and validation items."""
    digest = hashlib.sha256()
    for fold in folds:
        digest.update(f"{fold.name} {fold.run}\0".encode())
        for codes in (fold.train, fold.test, fold.validation):
            if codes is not None:
                digest.update(codes.astype(np.int64).tobytes())
            digest.update(b"\0")
    return digest.hexdigest()
