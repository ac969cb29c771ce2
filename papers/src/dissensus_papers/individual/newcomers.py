"""Annotators whom no model has seen: how well is each way to predict them?

Half of the annotators are known, the others are newcomers. A model learns the answers of known
annotators to the training items, and predicts those of newcomers to the test items: as the mean of
all known ones, as the nearest one by what the newcomer answered to training items, or as an
annotator who learned the consensus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.metrics import DENSITY_METRICS, scores
from dissensus_papers.framework.layout import Block
from dissensus_papers.framework.measurements import Measured, MeasuredCondition
from dissensus_papers.framework.models import Model, Typed
from dissensus_papers.individual.figures import CCC
from dissensus_papers.individual.folds import SEEDS, item_folds
from dissensus_papers.individual.models import INDIVIDUAL

MODELS_OF_NEWCOMERS = {
    "mt": Model("MT", "annotator-heads", INDIVIDUAL | {"common": False, "aggregate": True}),
    "heads": Model("Annotator heads", "annotator-heads", {"aggregate": True}),
}
WAYS = {
    "mean": "the mean of known annotators",
    "nearest, 5": "the nearest by 5 answers",
    "nearest": "the nearest by all answers",
    "aggregate": "the aggregate annotator",
    "known": "known annotators, as themselves",
}
FEW = 5
SCORES = (CCC[1], CCC[2], "density TVD", "density JSD")
READING = "plain"


def measured(question: str, corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """The scores of each model and way on the answers of newcomers to one fold's test items."""
    from dissensus.methods.framework.settings import seeded

    corpus = corpus.select(questions=(question,))
    folds = item_folds(question)(corpus)
    fold = folds[seed % len(folds)]
    known = np.zeros(corpus.n_annotators, dtype=bool)
    order = np.random.default_rng(seed).permutation(corpus.n_annotators)
    known[order[: corpus.n_annotators // 2]] = True
    insiders, newcomers = (corpus.select(annotators=side) for side in (known, ~known))
    train, of_known, validation = fold.parts(insiders)
    enrolment, test, _ = fold.parts(newcomers)
    by_model: dict[str, Any] = {}
    for name, model in MODELS_OF_NEWCOMERS.items():
        method = seeded(model.built({}, typed), seed)
        method.fit(train, (question,), validation)
        predict = partial(method.predict, density=READING)
        by_model[name] = {
            "mean": _scored(predict(test, unknown="mean"), test, question),
            "nearest, 5": _scored(
                predict(test, unknown="nearest", enrolment=_few(enrolment, question)),
                test,
                question,
            ),
            "nearest": _scored(
                predict(test, unknown="nearest", enrolment=enrolment), test, question
            ),
            "aggregate": _scored(predict(test, unknown="aggregate"), test, question),
            "known": _scored(predict(of_known), of_known, question),
        }
    n_answers = np.bincount(enrolment[question].annotator_codes("enrolment"))
    return {
        "scores": by_model,
        "n_newcomers": int((~known).sum()),
        "answers": float(np.median(n_answers[n_answers > 0])),
    }


def _scored(predictions: Any, test: Corpus, question: str) -> dict[str, float]:
    from dissensus.densities import RatingKde, rating_densities

    (density,) = predictions.densities.values()
    observed = rating_densities(test, (question,), RatingKde().bins)
    each = scores(predictions[question], test[question], None, list(CCC[1:]))
    distances = {name: DENSITY_METRICS[name](density, observed) for name in SCORES[2:]}
    return {name: float(score) for name, score in (each | distances).items()}


def _few(corpus: Corpus, question: str) -> Corpus:
    """The first five answers of each annotator."""
    answers = corpus[question]
    annotator = answers.annotator_codes("enrolment")
    order = np.argsort(annotator, kind="stable")
    nth = np.empty(len(order), dtype=int)
    ordered = annotator[order]
    nth[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return replace(corpus, questions={question: answers.take(nth < FEW)})


def tables(title: str, name: str) -> Callable[[Sequence[Measured]], list[Block]]:
    """A row for each model and way."""

    def blocks(by_seed: Sequence[Measured]) -> list[Block]:
        rows = [["", *SCORES]]
        for model, of_model in MODELS_OF_NEWCOMERS.items():
            for way, words in WAYS.items():
                scores_of_seeds = [entry["scores"][model][way] for entry in by_seed]
                cells = [
                    mean_and_spread([each[score] for each in scores_of_seeds]) for score in SCORES
                ]
                rows.append([f"{of_model.title}: {words}", *cells])
        newcomers, answers = (
            np.mean([entry[key] for entry in by_seed]) for key in ("n_newcomers", "answers")
        )
        heading = (
            f"{title} ({name}): {newcomers:.0f} newcomers with {answers:.0f} answers to training "
            f"items, {len(by_seed)} seeds"
        )
        notes = (
            "Newcomers are predicted on test items. Means +- standard deviations over seeds, each "
            f"with other newcomers and another fold; densities are {READING}, of 4 cells."
        )
        return [Block(heading, rows, notes)]

    return blocks


def mean_and_spread(values: Sequence[float | None], digits: int = 3) -> str:
    """A mean over seeds with its standard deviation; undefined values are left out."""
    defined = [value for value in values if value is not None and np.isfinite(value)]
    if not defined:
        return "-"
    spread = f" +- {np.std(defined, ddof=1):.{digits}f}" if len(defined) > 1 else ""
    return f"{np.mean(defined):.{digits}f}{spread}"


def _condition(name: str, title: str, corpus: str, question: str) -> MeasuredCondition:
    measure = partial(measured, question)
    return MeasuredCondition(name, title, corpus, SEEDS, measure, tables(title, name))


NEWCOMERS: tuple[MeasuredCondition, ...] = (
    _condition("newcomers", "Newcomers: how likely a hypothesis is", "nli_variation", "rating"),
    _condition("newcomers-jokes", "Newcomers: how funny jokes are", "jester5k", "rating"),
)
