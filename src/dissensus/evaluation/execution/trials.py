"""Trials: which settings are tried, by which metric they are scored, and which are best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.aggregation import Mace
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.evaluation.fit import number
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import Choices, changed, settings_of
from dissensus.metrics import GOLD, METRICS
from dissensus.metrics.annotators import surprise
from dissensus.metrics.soft import SMALLEST
from dissensus.prediction import Prediction
from dissensus.scales import Scale

WEIGHED = "cross-entropy"  # the metric whose answers are weighed if settings are chosen by it


def leading_metric(scale: Scale) -> str:
    """The main metric of a scale: the first in tables, and the one that settings are chosen by.

    Example:
        >>> from dissensus.scales import Interval, Nominal
        >>> leading_metric(Nominal(("no", "yes"))), leading_metric(Interval(0, 1))
        ('cross-entropy', 'CCC')
    """
    return next(name for name, metric in METRICS.items() if scale.kind in metric.scales)


def chosen_by(corpus: Corpus, questions: Sequence[str], scoring: str | None) -> dict[str, str]:
    """The metric that settings are chosen by, for each question that it applies to."""
    scales = {question: corpus[question].scale for question in questions}
    if scoring is None:
        return {question: leading_metric(scale) for question, scale in scales.items()}
    metric = METRICS[scoring.removesuffix(GOLD)]
    return {
        question: scoring
        for question, scale in scales.items()
        if scale.kind in metric.scales and (metric.name == scoring or question in corpus.gold)
    }


def weighed_questions(
    corpus: Corpus, questions: Sequence[str], scoring: str | None
) -> tuple[str, ...]:
    """The questions whose answers are weighed by the competence of annotators when settings are
    chosen: those with a truth, as gold labels show, where annotators are known."""
    metrics = chosen_by(corpus, questions, scoring)
    return tuple(
        question
        for question, metric in metrics.items()
        if scoring is None
        and metric == WEIGHED
        and question in corpus.gold
        and corpus[question].annotator is not None
        and corpus[question].scale.kind == "nominal"
    )


def competences(train: Corpus, questions: Sequence[str]) -> dict[str, np.ndarray]:
    """How likely each annotator knows the answer, (n_annotators,), as MACE estimates it from the
    answers of a training part, for each question."""
    return {question: Mace().fit(train[question]).competence_ for question in questions}


def weighed_cross_entropy(
    prediction: Prediction, answers: Annotations, weight: np.ndarray, *, by_annotator: bool
) -> float:
    """The mean of -ln q over answers, weighed by their annotators; nan without any weight.

    Args:
        weight: of each annotator, (n_annotators,).
        by_annotator: whether q is what was predicted for the annotator, or for the item.
    """
    if by_annotator:
        rows, of_answers = surprise(prediction, answers)
    else:
        item = prediction.items.find(answers.items)[answers.item]
        rows = np.flatnonzero(item >= 0)
        answer = answers.to(prediction.scale).answer[rows]
        mass = prediction.distribution[item[rows], answer].astype(float)
        of_answers = -np.log(np.maximum(mass, SMALLEST))
    of_rows = weight[answers.annotator_codes(WEIGHED)[rows]]
    return float((of_rows * of_answers).sum() / of_rows.sum()) if of_rows.sum() > 0 else math.nan


def drawn(method: Method, choices: Choices, n: int, seed: int) -> list[dict[str, Any]]:
    """n different settings: the method's own, then some drawn at random from the choices.

    Methods with the same choices try the same settings.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> drawn(AnnotatorMajority(), {"smoothing": (0.5, 1.0, 2.0)}, n=3, seed=0)
        [{'smoothing': 1.0}, {'smoothing': 2.0}, {'smoothing': 0.5}]
    """
    changed(
        method, {name: values[0] for name, values in choices.items()}
    )  # an error if one does not exist
    known = settings_of(method)
    first = {name: known[name] for name in choices}
    sizes = [len(values) for values in choices.values()]
    settings = [first]
    for code in np.random.default_rng(seed).permutation(math.prod(sizes)):
        place = np.unravel_index(code, sizes) if sizes else ()
        candidate = {
            name: values[k] for (name, values), k in zip(choices.items(), place, strict=True)
        }
        if len(settings) < n and candidate not in settings:
            settings.append(candidate)
    if len(settings) < n:
        raise ModelError(
            f"{method.name} has {len(settings)} settings to try, fewer than {n} trials; use fewer "
            "trials, or add choices"
        )
    return settings


def best(tried: Sequence[Mapping[str, Any]], metrics: Mapping[str, str]) -> int:
    """The index of the settings with the best score; with several questions, the best mean rank.

    Settings without a score come last. Of equal ones the first is taken, so the defaults win ties.

    Args:
        tried: each with `scores`, by question and metric.
        metrics: by which settings are chosen, for each question.
    """
    ranks = np.zeros(len(tried))
    for question, metric in metrics.items():
        scores = np.array([number(one["scores"].get(question, {}).get(metric)) for one in tried])
        lower = -scores if METRICS[metric.removesuffix(GOLD)].higher_is_better else scores
        lower = np.where(np.isnan(lower), np.inf, lower)
        ranks += (lower[:, None] > lower[None, :]).sum(axis=1)
    return int(ranks.argmin())
