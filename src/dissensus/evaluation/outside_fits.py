"""Predictions of other systems as rows of a comparison: scored on the test items of every fold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.evaluation.execution.task import Task, with_scores
from dissensus.evaluation.fit import Fit
from dissensus.evaluation.floors import tested_items
from dissensus.evaluation.outside_predictions import read_predictions
from dissensus.evaluation.predicted_consensus import predicted_consensus
from dissensus.evaluation.prediction_scores import check_predictions, trained_notes
from dissensus.metrics import compared
from dissensus.prediction import Predictions

NO_SEEDS = (
    "predictions from elsewhere, without seeds: intervals and tests are over items, and over the "
    "seeds of a method that is compared with them"
)
Outside = Mapping[str, Predictions] | Sequence[str | Path]


@dataclass(frozen=True, eq=False)
class OutsideRow:
    """The predictions of another system, the name of their row, and where they are from."""

    name: str
    source: str  # a path, or the name again
    predictions: Predictions
    notes: tuple[str, ...] = ()


def outside_rows(
    requested: Outside, corpus: Corpus, methods: Collection[str]
) -> dict[str, OutsideRow]:
    """The rows by name; those of files are named after them.

    Args:
        methods: names that are taken.
    """
    if isinstance(requested, Mapping):
        rows = [OutsideRow(name, name, predictions) for name, predictions in requested.items()]
    else:
        rows = []
        for path in map(Path, requested):
            predictions, notes = read_predictions(path, corpus)
            name = path.name if path.stem in methods else path.stem
            rows.append(OutsideRow(name, str(path), predictions, tuple(notes)))
    names = [*methods, *(row.name for row in rows)]
    twice = [row for row in rows if names.count(row.name) > 1]
    if twice:
        sources = listed([row.source for row in twice])
        raise DataError(f"{sources}: there are two rows {twice[0].name!r}; rename one of them")
    return {row.name: row for row in rows}


def outside_fits(row: OutsideRow, task: Task, corpus: Corpus) -> list[Fit]:
    """The scores of a row, as those of a method with one seed: a `Fit` for each fold."""
    check_predictions(row.source, row.predictions, corpus)
    _check_covered(row, task, tested_items(corpus, task.folds))
    both = {
        question: predicted_consensus(prediction, corpus[question], task.consensus)[0]
        for question, prediction in row.predictions.items()
        if question in task.questions
    }
    of_answers, of_gold = (
        {question: pair[at] for question, pair in both.items()} for at in range(2)
    )
    return [
        with_scores(
            Fit(row.name, task.seeds[0], fold.name, fold.run),
            task,
            of_answers,
            of_gold,
            fold.parts(corpus)[1],
        )
        for fold in task.folds
    ]


def outside_notes(rows: Mapping[str, OutsideRow], task: Task, corpus: Corpus) -> list[str]:
    """What was left out of the rows, what they do not predict, and how they are tested."""
    test = tested_items(corpus, task.folds)
    notes: list[str] = []
    for row in rows.values():
        notes += row.notes
        for question in task.questions:
            if question not in row.predictions:
                notes.append(f"{row.source}: no predictions for {question!r}")
                continue
            answers = test[question]
            n = compared(row.predictions[question], answers).pairs
            if 0 < n < answers.n_rows:
                notes.append(
                    f"{row.source}: {question}: {n:,} of {answers.n_rows:,} answers were predicted "
                    "for their annotator; scores by annotator are over these"
                )
        notes += trained_notes({row.source: row.predictions})
    if rows:
        notes.append(f"{', '.join(rows)}: {NO_SEEDS}")
    return notes


def _check_covered(row: OutsideRow, task: Task, test: Corpus) -> None:
    """Refuse predictions that lack a test item with an answer or a gold label."""
    for question in task.questions:
        if question not in row.predictions:
            continue
        known = [test[question], *([test.gold[question]] if question in test.gold else [])]
        needed = test.items.take(np.unique(np.concatenate([each.item for each in known])))
        missing = np.flatnonzero(row.predictions[question].items.find(needed) < 0)
        if len(missing):
            raise DataError(
                f"{row.source}: {question}: {len(missing):,} of "
                f"{counted(len(needed), 'test item')} have no prediction "
                f"({listed([needed[code] for code in missing], 3)}); predict them too, or score "
                "the others with `dissensus evaluate`"
            )
