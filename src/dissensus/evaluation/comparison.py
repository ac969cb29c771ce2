"""Methods x seeds x folds -> Results. Each fit is saved when it ends."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dissensus.conversion import corpus_of
from dissensus.corpus import Corpus
from dissensus.description.marks import marks_by_question, name_without
from dissensus.encoders.framework.digest import data_digest
from dissensus.errors import DataError, DissensusError, listed
from dissensus.evaluation.density_readings import density_floors, density_readings
from dissensus.evaluation.execution.folder import locked_folder
from dissensus.evaluation.execution.schedule import fit_missing
from dissensus.evaluation.execution.task import (
    Task,
    chooses_on_validation,
    chosen_by,
    drawn,
    has_features_only,
    weighed_questions,
)
from dissensus.evaluation.floors import floors, metrics_for, tested_items, with_gold
from dissensus.evaluation.outside_fits import Outside, outside_fits, outside_notes, outside_rows
from dissensus.evaluation.protocols import (
    EvaluationProtocol,
    Fold,
    answers_and_gold,
    choose_protocol,
)
from dissensus.evaluation.results import FRONT, TRUTHS, WITHOUT, About, Results, code_commit
from dissensus.methods import METHODS, ON_REQUEST, build
from dissensus.methods.choice import has_truth
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import (
    EPOCHS,
    Choices,
    changed,
    choices_of_features,
    settings_of,
)
from dissensus.metrics import DENSITY_METRICS, GOLD, divided_names, metric_name

NOTES = 5  # notes on folds that are shown


def compare(
    corpus: Corpus | Any,
    methods: Sequence[str] | Mapping[str, Method] | None = None,
    *,
    out: str | Path,
    folds: int | Sequence[Fold] | EvaluationProtocol | None = None,
    seeds: int | Sequence[int] = 3,
    questions: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    densities: Sequence[str] = (),
    trials: int = 0,
    inner_folds: int = 3,
    choices: Mapping[str, Choices] | None = None,
    scoring: str | None = None,
    consensus: Literal["own", "all"] | None = None,
    predictions: Outside = (),
    by: str | None = None,
    processes: int | None = None,
    budget: float | None = None,
    protocol: Mapping[str, Any] | None = None,
    command: str = "",
    notes: Sequence[str] = (),
) -> Results:
    """Fit methods on the same folds with the same seeds, and save their scores on each item.

    Fits that differ only in seed and fold are trained as a stack. Every fit is saved to `out` when
    it ends. Call `compare` again in the same way to resume after any stop: the results are the
    same, except for times. Another comparison in the same folder is refused. A fit that fails or
    diverges is saved with the reason. A method that cannot learn from the corpus is left out, with
    the reason.

    Args:
        corpus: or a pandas, polars or Arrow table, as `read` reads it.
        methods: names, or methods with their settings by any names; `default_methods` if left out.
        folds: how many, or folds from `k_fold`, `repeated` or `official`, or a protocol;
            `choose_protocol` if left out.
        seeds: how many (0, 1, ...), or a list. A method without randomness uses only the first.
        questions: fitted together; all if left out.
        metrics: if left out, those that tables show, and DIC.
        densities: also score the joint density of the one or two questions, predicted in these
            ways: "soft", "plain:bins=8", "method" for the settings that each method has of its own
            (calibrated ones), or "soft@all" for all annotators instead of those of the item; see
            `RatingKde`. Each has a table of its own.
        trials: number of settings to try for each fit of a method that has choices, including its
            own settings. Each is scored by `scoring` on `inner_folds` folds of the training part,
            and the best is fitted to the whole training part. 0 tries none.
        scoring: the metric that settings are chosen by (if left out, the main one), and the epoch,
            if there is a validation part (if left out, by the loss). "accuracy (gold)" uses gold
            labels: settings are then chosen on the validation part, if it has some.
        consensus: whose answers make up an item's distribution, as in `Method.predict`: of its
            "own" annotators, or of "all". If left out, "all" for gold labels, else "own".
        predictions: of other systems, by name, or files as in `read_predictions`. Each is a row of
            the table, scored on the same test items, all of which it must predict.
        choices: the values to draw settings from, by method; the methods' own `choices` if left
            out.
        by: how items are grouped, as in `Corpus.units`, for inner folds and for tests.
        processes: if left out, one for each processor, or one if all fits take less than half a
            minute, or one on a GPU (two if training on frozen features takes more than a minute).
            The number does not change the scores. A script that uses more than one needs
            `if __name__ == "__main__":`.
        budget: seconds after which no new fit begins, and fits under way stop; if fits are
            missing then, Unfinished says how many.
        protocol: a description of the folds, saved with the results.
        command: the command that gives the same results, saved with them.

    Example:
        >>> import tempfile
        >>> from dissensus import simulate
        >>> from dissensus.evaluation import compare, k_fold, table
        >>> corpus = simulate.text(n_items=100)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     results = compare(corpus, ["prior", "annotator-majority"], processes=1,
        ...                       folds=k_fold(corpus, 2), metrics=["annotator accuracy"], out=out)
        >>> len(results.fits), results.about.seeds
        (4, (0, 1, 2))
        >>> [row.name for row in table(results).rows if "annotator accuracy" in row.cells]
        ['prior', 'annotator-majority']
    """
    deadline = math.inf if budget is None else time.monotonic() + budget
    corpus = corpus_of(corpus)
    corpus = corpus.select(questions=tuple(questions or corpus.questions))
    requested = _methods(default_methods(corpus) if methods is None else methods)
    if isinstance(folds, int):
        folds = choose_protocol(corpus, "k-fold", folds=folds, by=by)
    chosen = choose_protocol(corpus, by=by) if folds is None else folds
    if isinstance(chosen, EvaluationProtocol):
        folds, protocol, notes = chosen.folds, chosen.facts, (chosen.description, *notes)
    else:
        folds = chosen
    _check_folds(folds)
    with locked_folder(out) as place:
        learnable, left_out = _learnable(corpus, requested, folds[0])
        scoring = None if scoring is None else metric_name(scoring)
        if scoring is not None:
            _check_scoring(corpus, folds, scoring)
            requested = _scored_by(requested, corpus, folds, scoring)
            learnable = {name: requested[name] for name in learnable}
        task = Task(
            tuple(corpus.questions),
            metrics_for(corpus, tuple(corpus.questions), folds, divided_names(metrics)[0]),
            learnable,
            tuple(folds),
            _seeds(seeds),
            trials,
            inner_folds,
            _choices(corpus, requested, choices or {}),
            by,
            place.unfinished,
            density_readings(densities, corpus, tuple(corpus.questions)),
            scoring,
            consensus,
            marks_by_question(corpus),
        )
        _check_trials(task)
        rows = outside_rows(predictions, corpus, tuple(requested))
        outside = [fit for row in rows.values() for fit in outside_fits(row, task, corpus)]
        facts = _facts(corpus, task, requested, protocol or {})
        command, commit = place.begin(
            facts,
            command or f"dissensus.evaluation.compare({corpus.name!r}, {list(requested)!r}, ...)",
            code_commit(),
            [row.source for row in rows.values()],
        )
        n = commit.count(",") + 1
        commits = [f"fitted by {n} versions of the code: {commit}"] if n > 1 else []
        of_densities = [reading.name(task.questions) for reading in task.densities]
        about = About(
            corpus.name,
            (*task.questions, *of_densities),
            (
                *with_gold(tested_items(corpus, folds), task.questions, task.metrics),
                *(DENSITY_METRICS if task.densities else ()),
            ),
            (*learnable, *rows),
            task.seeds,
            command,
            commit,
            dict(protocol or {}) | _searches_and_truths(corpus, task),
            left_out,
            floors(corpus, task.questions, task.metrics, task.folds)
            | density_floors(task.densities, tested_items(corpus, folds), task.questions),
            (
                *notes,
                *_part_notes(corpus, folds, scoring),
                *_fold_notes(folds),
                *outside_notes(rows, task, corpus),
                *commits,
            ),
            {name: row.source for name, row in rows.items()},
        )
        groups = _groups(corpus, folds, by)
        n_fits = {"fits": len(task.keys())}
        Results.assemble(about, folds, outside, groups, n_fits).save(place.unfinished / FRONT, True)
        fit_missing(place, corpus, task, processes, deadline)
        results = Results.assemble(about, folds, [*place.load(task.keys()), *outside], groups)
        results.save(out)
    return results


def default_methods(corpus: Corpus) -> list[str]:
    """The methods that are compared by default: all except those of `methods.ON_REQUEST`.

    `annotator-median` is included only if some question is ordinal or interval; on other scales it
    predicts the same as `annotator-majority`.
    """
    ordered = any(a.scale.kind in ("ordinal", "interval") for a in corpus.questions.values())
    return [
        name
        for name in METHODS
        if name not in ON_REQUEST and (ordered or name != "annotator-median")
    ]


# ---- before anything runs ----


def _methods(requested: Sequence[str] | Mapping[str, Method]) -> dict[str, Method]:
    if isinstance(requested, Mapping):
        methods = dict(requested)
    else:
        names = [requested] if isinstance(requested, str) else list(requested)
        methods = {name: build(name) for name in names}
        if len(methods) < len(names):
            raise DataError(f"a method is listed twice: {listed(names, 40)}")
    if not methods:
        raise DataError("no method to compare; name at least one")
    return methods


def _seeds(requested: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(requested, int):
        seeds = tuple(range(requested))
    else:
        seeds = tuple(dict.fromkeys(requested))
    if not seeds or min(seeds) < 0:
        raise DataError(f"seeds must be whole numbers from 0, at least one; found {requested}")
    return seeds


def _check_folds(folds: Sequence[Fold]) -> None:
    if not folds:
        raise DataError("no folds to train and test on")
    names = [fold.name for fold in folds]
    if len(set(names)) < len(names):
        raise DataError(f"several folds have the same name: {listed(sorted(names), 20)}")


def _choices(
    corpus: Corpus, requested: Mapping[str, Method], given: Mapping[str, Choices]
) -> dict[str, Choices]:
    """The values to draw settings from, by method; on features, the methods' own choices of epochs
    become choices of steps."""
    choices = {name: given.get(name, method.choices) for name, method in requested.items()}
    if not has_features_only(corpus):
        return choices
    own = {name: method.choices.get(EPOCHS) for name, method in requested.items()}
    return {
        name: choices_of_features(chosen) if chosen.get(EPOCHS) == own[name] else chosen
        for name, chosen in choices.items()
    }


def _check_trials(task: Task) -> None:
    if task.trials < 0 or task.inner_folds < 2:
        raise DataError(
            f"trials must be 0 or more, and inner_folds 2 or more; found {task.trials} and "
            f"{task.inner_folds}"
        )
    for name, method in task.methods.items():
        if task.trials and task.choices.get(name):
            drawn(method, task.choices[name], task.trials, task.seeds[0])


def _check_scoring(corpus: Corpus, folds: Sequence[Fold], scoring: str) -> None:
    """Refuse a metric that nothing can be chosen by."""
    questions = tuple(corpus.questions)
    if not chosen_by(corpus, questions, scoring):
        kinds = ", ".join(sorted({corpus[question].scale.kind for question in questions}))
        what = "gold labels" if scoring.endswith(GOLD) else "answers"
        raise DataError(f"{corpus.name}: scoring {scoring!r} does not apply: {kinds} {what}")
    if not scoring.endswith(GOLD):
        return
    for fold in folds:
        train = fold.parts(corpus)[0]
        if not (chooses_on_validation(corpus, questions, fold, scoring)
                or answers_and_gold(train)[1]):  # fmt: skip
            raise DataError(
                f"{corpus.name}: scoring {scoring!r} needs gold labels in the validation or the "
                "training part; there are none"
            )


def _scored_by(
    methods: Mapping[str, Method], corpus: Corpus, folds: Sequence[Fold], scoring: str
) -> dict[str, Method]:
    """The methods, with their epoch chosen by the metric if there is a validation part for it."""
    for fold in folds:
        validation = fold.parts(corpus)[2]
        if validation is None or not answers_and_gold(validation)[scoring.endswith(GOLD)]:
            return dict(methods)
    by_metric = {"training.choose_by": scoring}
    return {
        name: changed(method, by_metric)
        if settings_of(method).get("training.choose_by") == "loss"
        else method
        for name, method in methods.items()
    }


def _learnable(
    corpus: Corpus, requested: Mapping[str, Method], fold: Fold
) -> tuple[dict[str, Method], dict[str, str]]:
    """The methods that can learn from the first training part, and why others cannot."""
    from dissensus.encoders import encodings

    train, _, _ = fold.parts(corpus)
    learnable, left_out = {}, {}
    for name, method in requested.items():
        try:
            method.check(train)
            if hasattr(method, "encoder"):
                for encoding in encodings(train, method.encoder).values():
                    _ = encoding.encoder.identity  # an error if it is not installed
        except DissensusError as error:
            left_out[name] = str(error)
        else:
            learnable[name] = method
    if not learnable:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise DataError(f"no method can learn from {corpus.name}: {reasons}")
    return learnable, left_out


# ---- what identifies a comparison ----


def _facts(
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
        facts["answers weighed in trials"] = weighed
    if task.consensus is not None:
        facts["consensus"] = task.consensus
    elif any(question in corpus.gold for question in task.questions):
        facts["consensus for gold labels"] = "all"
    if task.densities:
        facts["densities"] = [reading.text for reading in task.densities]
    for name, method in requested.items():
        facts |= {f"{name}'s {key}": value for key, value in settings_of(method).items()}
        if task.trials:
            choices = task.choices.get(name, {}).items()
            facts |= {f"{name}'s choices of {key}": values for key, values in choices}
    if task.trials:
        facts |= {"inner folds": task.inner_folds, "groups by": task.by}
    return facts | {"data": data_digest(corpus), "folds": _folds_digest(task.folds)}


def _folds_digest(folds: Sequence[Fold]) -> str:
    """A hash of the training, test and validation items."""
    digest = hashlib.sha256()
    for fold in folds:
        digest.update(f"{fold.name} {fold.run}\0".encode())
        for codes in (fold.train, fold.test, fold.validation):
            if codes is not None:
                digest.update(codes.astype(np.int64).tobytes())
            digest.update(b"\0")
    return digest.hexdigest()


# ---- what is saved with the fits ----


def _groups(corpus: Corpus, folds: Sequence[Fold], by: str | None) -> dict[str, str]:
    """The group of every test item that shares its group with others."""
    units = corpus.units(by)
    tested = np.unique(np.concatenate([fold.test for fold in folds]))
    _, code, size = np.unique(units[tested], return_inverse=True, return_counts=True)
    grouped = tested[size[code.reshape(-1)] > 1]
    names = corpus.items.take(grouped)
    return dict(zip(names, (str(unit) for unit in units[grouped]), strict=True))


def _searches_and_truths(corpus: Corpus, task: Task) -> dict[str, Any]:
    truths = [question for question in task.questions if has_truth(corpus, question)]
    search = {"trials": task.trials, "inner folds": task.inner_folds} if task.trials else {}
    without = [name_without(*each) for each in task.marks.items()]
    facts = {TRUTHS: truths, WITHOUT: without}
    return search | {name: value for name, value in facts.items() if value}


def _part_notes(corpus: Corpus, folds: Sequence[Fold], scoring: str | None) -> list[str]:
    """What is not computed or not used because a part has gold labels but no answers."""
    notes = []
    if not answers_and_gold(tested_items(corpus, folds))[0]:
        notes.append("The test items have gold labels but no answers: scores are against gold.")
    parts = [fold.parts(corpus)[2] for fold in folds]
    only_gold = [part is not None and answers_and_gold(part) == (False, True) for part in parts]
    if any(only_gold) and not (scoring or "").endswith(GOLD):
        notes.append(
            "The validation part has gold labels but no answers, so that it is not used; choose "
            "the epoch and settings on it with --scoring 'accuracy (gold)'."
        )
    return notes


def _fold_notes(folds: Sequence[Fold]) -> list[str]:
    """The notes on folds; the first few if there are many."""
    notes = [f"{fold.name}: {note}" for fold in folds for note in fold.notes]
    more = len(notes) - NOTES
    return notes[:NOTES] + ([f"and {more} more notes on folds"] if more > 0 else [])
