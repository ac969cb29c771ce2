"""The models of a run: the best method and the best one of annotators, trained and saved; what they
predict for items without answers, and for items that were held out."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import counted
from dissensus.evaluation import Results
from dissensus.evaluation.best_method import (
    Best,
    best_floor,
    best_method,
    best_of_annotators,
    comparison_tables,
)
from dissensus.evaluation.comparison_table import BASELINES, FLOORS, higher_is_better
from dissensus.evaluation.execution.schedule import duration
from dissensus.evaluation.result_tables import comparable_methods
from dissensus.files.folders import delete_own, writing
from dissensus.methods import build
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.model_folder import save_trained_items
from dissensus.methods.framework.settings import common_settings
from dissensus.prediction import Predictions
from dissensus.prediction.answer_files import answers_table, write_answers
from dissensus.report.sections.predictions import is_rating
from dissensus.within import TimeIsUp, check_deadline, deadline
from dissensus.workflow.budget import Budget
from dissensus.workflow.items import to_predict, with_answers
from dissensus.workflow.plan import needs_encoder

HOLD_OUT = 0.2
MOST_WITH_ATTENTION = 20_000  # answers to the items that are held out
WITH_DENSITY = 6  # items whose density is predicted
MOST_PAIRS = 1_000_000  # of item and annotator, in predictions-by-annotator.csv
SINGLE = 2.0  # times as long as a fit of the comparison takes one by itself, on all items
CARD = """{before}

## Scores

This model was trained on {n_items:,} items with answers. In a comparison, models of \
this method were trained on a part of the items and scored on the others:

{scores}
## Limits

It says what these annotators would answer to contents like those of the corpus, not what \
is true, nor what other people would say. It has the annotators' names and tendencies: \
share it only if you may share their answers. The licence of the corpus applies.
"""
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Steps:
    """What the steps of a run share."""

    corpus: Corpus
    out: Path
    budget: Budget
    encoder: str | None
    command: str  # that does the same again
    message: Callable[[str], None]
    left_out: list[str] = field(default_factory=list)

    def leave_out(self, line: str) -> None:
        """Say that something is left out, and why."""
        self.left_out.append(line)
        self.message(line)

    def in_time(
        self, otherwise: str, work: Callable[..., Result], *arguments: Any
    ) -> Result | None:
        """The result of some work; None if it takes too long, and a line on what is missing."""
        try:
            with deadline(self.budget.end):
                check_deadline()
                return work(*arguments)
        except TimeIsUp:
            self.leave_out(f"time limit reached: {otherwise}; give a longer budget")
            return None


@dataclass(frozen=True, eq=False)
class Models:
    """The models that were saved, and the best method on items that it was not trained on."""

    saved: Best | None = None  # None if there is no model
    of_annotators: Best | None = None  # None if there is no further model
    tested: Corpus | None = None
    predictions: Predictions | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""  # if the model is not that of the best method


def train_best(steps: Steps, learned: Corpus, results: Results, methods: Sequence[str]) -> Models:
    """Train and save the best method, and the best one that predicts each annotator.

    Args:
        learned: the items that methods were compared on.
        methods: as the user chose them.
    """
    best, note = to_save(results, steps.budget, methods)
    if best is not None and best.method in BASELINES and not note:
        if any(name not in BASELINES for name in comparable_methods(results)):
            note = "no network is better than logistic regression"
    if best is not None and best.method not in FLOORS:
        chosen = best_method(results)
        if note and chosen != best:
            steps.leave_out(note)
        line = ", the best of the comparison" * (chosen == best)
        steps.message(f"training {best.method}{line}")
        missing = f"training {best.method} is not finished"
        method = steps.in_time(missing, _saved, steps, best, learned, results, "model")
        if method is None:
            best, note = _floor(results)
    if best is None:
        return Models()
    if best.method in FLOORS:
        if note:
            steps.leave_out(note)
        method = _saved(steps, best, learned, results, "model")
    n, n_answered = learned.n_items, with_answers(steps.corpus).n_items
    items = f"all {n:,}" if n == n_answered else f"{n:,} of {n_answered:,}"
    facts = {"model": f"{best}, trained on {items} items with answers"}
    if best.method in FLOORS:
        return Models(best, facts=facts, note=note)
    bare, lines = to_predict(steps.corpus)
    for line in lines:
        steps.leave_out(line)
    if bare is not None:
        places = (steps.out / name for name in ("model", "corpus", "predictions.csv"))
        model, corpus, path = (shlex.quote(str(place)) for place in places)
        later = f"for predictions, dissensus predict {model} {corpus} -o {path}"
        missing = f"{counted(bare.n_items, 'item')} without answers: {later}"
        steps.in_time(missing, _write_predictions, steps, method, bare)
    missing = "the report has no section on predicted answers"
    fresh = seeded_method(best.method, steps.encoder)
    tested, predictions = steps.in_time(missing, held_out, learned, fresh) or (None, None)
    own, why_none = best_of_annotators(results, learned)
    if why_none:
        steps.message(why_none)
    if own is None or own.method == best.method:
        delete_own(steps.out / "annotator-model", "config")  # of an unfinished run
    else:
        missing, name = "no model of each annotator is saved", "annotator-model"
        own_method = steps.in_time(missing, _saved, steps, own, learned, results, name)
        if own_method is None:
            return Models(best, None, tested, predictions, facts, note)
        method = own_method
        facts["model of each annotator"] = f"{own}, trained on the same items"
    if bare is not None and own is not None:
        if bare.n_items * learned.n_annotators <= MOST_PAIRS:
            missing = "there is no predictions-by-annotator.csv"
            steps.in_time(missing, _write_predictions, steps, method, bare, "annotator")
        else:
            steps.leave_out(
                "too many pairs of item and annotator for predictions-by-annotator.csv; use "
                "`dissensus predict`"
            )
    further = own if own is not None and own.method != best.method else None
    return Models(best, further, tested, predictions, facts, note)


def to_save(results: Results, budget: Budget, methods: Sequence[str]) -> tuple[Best | None, str]:
    """The method to train and save, and a note if there is no time for the best one."""
    best = best_method(results)
    if not budget.limited or (best is None and not needs_encoder(methods)):
        return best, ""
    if best is None:
        return _floor(results)
    needed = {  # to train on all items that were compared, about
        name: SINGLE * max((f.seconds for f in results.of(name) if f.seconds >= 0), default=0.0)
        for name in comparable_methods(results)
    }
    left = budget.end - time.monotonic()
    in_time = [name for name in needed if needed[name] <= left]
    saved = best_method(results, in_time or [min(needed, key=needed.__getitem__)])
    if saved is None or best.method in in_time:
        return best, ""
    return saved, (
        f"the model is {saved.method}, because training {best.method} would take about "
        f"{duration(needed[best.method])}, longer than is left; give a longer budget"
    )


def _floor(results: Results) -> tuple[Best | None, str]:
    """The best method that ignores the content, and why it is saved."""
    best = best_floor(results)
    name = "" if best is None else best.method
    return best, (
        f"the model is {name}, which ignores the content, because no other method was fitted "
        "within the time; give a longer budget"
    )


def _saved(steps: Steps, best: Best, corpus: Corpus, results: Results, name: str) -> Method:
    """A method trained on all items of a corpus, in a folder with its card."""
    method, folder = seeded_method(best.method, steps.encoder).fit(corpus), steps.out / name
    with writing(folder, "config", overwrite=True) as temporary:
        method.write_to(temporary)
        save_trained_items(temporary, corpus)
        _add_figures_to_card(temporary, results, best.method, corpus.n_items)
    steps.message(f"{folder}: {best}, trained on {counted(corpus.n_items, 'item')}")
    return method


def _write_predictions(
    steps: Steps, method: Method, bare: Corpus, by: Literal["item", "annotator"] = "item"
) -> None:
    """What a method predicts for items without answers: a row for each, or for each annotator."""
    predicted = method.predict(bare, annotators="all")
    rows = {question: answers_table(bare, one, by) for question, one in predicted.items()}
    path = steps.out / ("predictions.csv" if by == "item" else "predictions-by-annotator.csv")
    what = "for each annotator " if by == "annotator" else ""
    items = counted(bare.n_items, "item")
    line = f"predicted {what}by {method.name}: {items} without answers"
    steps.message(files_line(write_answers(rows, path, True), path, line))


def files_line(paths: Sequence[Path], path: Path, what: str) -> str:
    """A line on the files that were written, one for each question."""
    if len(paths) == 1:
        return f"{path}: {what}"
    pattern = path.with_name(f"{path.stem}-*{path.suffix}")
    return f"{pattern}: {what} ({len(paths)} files, one for each question)"


def seeded_method(name: str, encoder: str | None) -> Method:
    """A method with a seed and an encoder, if it has any."""
    return common_settings(build(name), 0, encoder)


def _add_figures_to_card(folder: Path, results: Results, method: str, n_items: int) -> None:
    """Add to a model's card how the method scored on items that it was not trained on, and the
    limits of the model.

    Args:
        n_items: that the model was trained on.
    """
    scores = []
    for table in comparison_tables(results):
        for metric, cell in table[method].cells.items():
            ends = f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
            ends = "" if math.isnan(cell.low) else ends
            better = "higher" if higher_is_better(metric) else "lower"
            figure = f"({better} is better): {cell.mean:.3f}{ends}"
            scores.append(f"- {table.question}, {metric} {figure}\n")
    card = folder / "README.md"
    before = card.read_text(encoding="utf-8").rstrip()
    text = CARD.format(before=before, n_items=n_items, scores="".join(scores))
    card.write_text(text, encoding="utf-8")


def held_out(corpus: Corpus, method: Method) -> tuple[Corpus, Predictions]:
    """Items that a method was not trained on, and what it predicts for them.

    The official test or development part if it has answers, else a fifth of the items.
    """
    parts = corpus.parts()
    answered = [
        part
        for part in ("test", "dev")
        if part in parts and any(a.n_rows for a in corpus.part(part).questions.values())
    ]
    if answered and "train" in parts:
        train, tested = corpus.part("train"), corpus.part(answered[0])
    else:
        train, tested = corpus.split(HOLD_OUT, seed=0)
    method.fit(train)
    n_answers = sum(answers.n_rows for answers in tested.questions.values())
    shown = method.shows_attention and n_answers <= MOST_WITH_ATTENTION
    predictions = method.predict(tested, unknown="drop", attention=shown)
    scales = [answers.scale for answers in tested.questions.values()]
    if predictions.densities or len(scales) != 2 or not all(map(is_rating, scales)):
        return tested, predictions
    most_rated = np.argsort(-next(iter(tested.questions.values())).per_item(), kind="stable")
    few = tested.select(items=np.sort(most_rated[:WITH_DENSITY]))
    densities = method.predict(few, unknown="drop", density="soft:bins=16").densities.values()
    name, corpus_name = predictions.method, predictions.corpus
    return tested, Predictions(dict(predictions.items()), name, corpus_name, densities)
