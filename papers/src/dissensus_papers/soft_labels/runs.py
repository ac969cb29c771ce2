"""The fits of the paper: which there are, and those that are done in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.evaluation.fit import Key
from dissensus_papers.framework.fitted_paper import Plan
from dissensus_papers.framework.outcomes import load_outcomes
from dissensus_papers.framework.runs import InTurn
from dissensus_papers.soft_labels.conditions import (
    CONDITIONS,
    SEEDS,
    SoftLabelsCondition,
    with_automatic,
)
from dissensus_papers.soft_labels.items import Items
from dissensus_papers.soft_labels.outcome import Outcome
from dissensus_papers.soft_labels.printed import MODELS


def plan(
    corpora: Mapping[str, Corpus],
    conditions: Sequence[SoftLabelsCondition],
    out: Path,
    runs: int,
    settings: Sequence[tuple[str, str]],
    *,
    glove: str | Path | None = None,
    stack: bool = True,
) -> Plan:
    """Four models with `runs` seeds in these conditions; a fit is one of them, on all folds.

    Args:
        corpora: "pos_tweets" and "stemming", as `datasets.read` returns them.
        glove: a file of word vectors for POS tags (`make glove`).
        stack: whether folds of stems are stacked on a GPU.
    """
    from dissensus_papers.soft_labels.fits import Opened, Task
    from dissensus_papers.soft_labels.networks import methods, saved_settings

    _check_vectors(glove)
    ready = {name: with_automatic(corpus) for name, corpus in corpora.items()}
    task = Task({c.name: methods(c, glove, settings) for c in conditions}, stack)
    keys = [
        Key(model, seed, condition.name)
        for condition in conditions
        for seed in SEEDS[:runs]
        for model in MODELS
    ]
    items = []
    for condition in conditions:
        known = {
            model: saved_settings(method) for model, method in task.methods[condition.name].items()
        }
        items.append(Items.of(ready[condition.corpus], condition, known, glove))
    return Plan(
        items, ready, task, Opened(ready), lambda place: InTurn(place.missing(keys), len(keys))
    )


def _check_vectors(glove: str | Path | None) -> None:
    """Refuse a file of word vectors that cannot be read."""
    from dissensus.encoders.words import WordsEncoder

    if glove is not None:
        _ = WordsEncoder(str(glove)).table


def outcomes(folder: str | Path) -> list[Outcome]:
    """The outcomes of all fits in a folder, by condition, seed and model."""
    loaded = load_outcomes(folder, Outcome.load, CONDITIONS, MODELS)
    order = list(MODELS)
    return sorted(loaded, key=lambda o: (o.condition, o.seed, order.index(o.model)))
