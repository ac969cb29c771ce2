"""The whole way from a corpus to a report: compare, train the best method, predict, write."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus import aggregation, evaluation
from dissensus.conversion import corpus_of
from dissensus.corpus import Corpus
from dissensus.datasets import read
from dissensus.description import leave_out, marks_text, usual_aggregators
from dissensus.errors import DataError, Unfinished
from dissensus.evaluation import Results
from dissensus.evaluation.best_method import Best, best_method
from dissensus.files.folders import check_free, delete_leftovers, is_own, staged, write_json
from dissensus.methods.choice import chosen_questions
from dissensus.prediction.answer_files import consensus_table, write_answers
from dissensus.report import make_report
from dissensus.within import TimeIsUp, deadline
from dissensus.workflow.budget import Budget, part_within
from dissensus.workflow.items import part_of, with_answers, without_unreadable_contents
from dissensus.workflow.models import Models, Steps, files_line, seeded_method, train_best
from dissensus.workflow.plan import Plan, floors_for, needs_encoder, nothing_to_learn, plan

FIRST_SECONDS = 1.0  # at least, for the methods that ignore the content, which are fitted first
FRONT = "run"  # the JSON file that tells the folder of a run
WRITTEN = (
    *("run.json", "report.html", "report.json", "corpus", "model", "annotator-model"),
    *("comparison", "part.json", "consensus.csv", "consensus-*.csv"),
    *("predictions.csv", "predictions-*.csv"),
)  # in the folder of a run
FOLDERS = {"corpus": "corpus", "model": "config", "annotator-model": "config"}  # and their kind


@dataclass(frozen=True, eq=False, repr=False)
class RunResult:
    """What a run compared, which method is best, and where everything is."""

    corpus: str
    n_items: int  # with answers
    n_compared: int  # of these, methods were compared on; 0 if none was
    results: Results | None  # of the comparison; None if no fit is done
    best: Best | None  # the best of the methods that read contents
    saved: Best | None  # the method of the model
    model: Path | None
    annotator_model: Path | None  # None if `model` predicts each annotator best, or none is needed
    report: Path
    summary: tuple[str, ...]  # of the report
    left_out: tuple[str, ...]  # what was left out, and why

    def __repr__(self) -> str:
        lines = [f"{self.corpus}: {self._compared()}"]
        if self.best is not None:
            lines.append(f"best method: {self.best}")
        if self.model is not None and self.saved is not None:
            lines.append(f"model: {self.model}, {self.saved.method}")
        if self.annotator_model is not None:
            lines.append(f"model of each annotator: {self.annotator_model}")
        lines += [f"report: {self.report}", *(f"left out: {line}" for line in self.left_out)]
        return "\n".join(lines)

    def _compared(self) -> str:
        if self.results is None:
            return "no method was compared"
        methods = [name for name in self.results.about.methods if self.results.of(name)]
        of = f"{self.n_compared:,} of {self.n_items:,}"
        items = f"all {self.n_items:,}" if self.n_compared == self.n_items else of
        return f"{', '.join(methods)} were compared on {items} items with answers"


def run(
    corpus: Corpus | Any,
    out: str | Path,
    budget: float | None = None,
    *,
    methods: Sequence[str] = (),
    seeds: int | None = None,
    encoder: str | None = None,
    questions: Sequence[str] = (),
    without: str | Sequence[str] = (),
    command: str = "",
    start: float | None = None,
    message: Callable[[str], None] = lambda line: None,
) -> RunResult:
    """Compare methods on a corpus, train the best one, predict, and write a report.

    The folder gets report.html (and report.json), consensus.csv, the comparison, the best model,
    the best model that predicts each annotator, and predictions for items without answers. Every
    fit is saved when it ends: run the same again to resume after any stop.

    Args:
        corpus: or a path, or a pandas, polars or Arrow table, as `read` reads it.
        out: folder to write to.
        budget: seconds for the whole run. It is looked at between fits, between epochs and between
            batches of an encoder. If contents cannot be encoded or trained on in time, fewer items
            are compared; `left_out` says so. The report may take some seconds longer.
        methods: to compare; by what the corpus has if left out, as `seeds` are.
        seeds: how many.
        encoder: of the contents, as in `dissensus train`.
        questions: to learn, or "all"; if left out, up to three, or the one with most answers. The
            report is on all questions of the corpus.
        without: annotators to leave out; "suspicious" stands for those at chance, contrary,
            constant or copying.
        command: that does the same, for the report.
        start: when the time of the budget began, in seconds of `time.monotonic`; now if left out.
        message: called with a line on each thing that is done.

    Example:
        >>> import tempfile
        >>> from dissensus import run, simulate
        >>> corpus = simulate.text(n_items=40, seed=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = run(corpus, folder, methods=["prior", "annotator-majority"], seeds=1)
        >>> print(result)  # doctest: +ELLIPSIS
        simulated-text: prior, annotator-majority were compared on all 40 items with answers
        report: ...report.html
    """
    start = time.monotonic() if start is None else start
    corpus = read(corpus) if isinstance(corpus, str | Path) else corpus_of(corpus)
    corpus = leave_out(corpus, without) if without else corpus
    answered, out = with_answers(corpus), Path(out)
    if not answered.n_items:
        raise DataError(f"{corpus.name}: no item has an answer; there is nothing to report")
    _make_folder(out)
    command = command or f"dissensus.run({corpus.name!r}, {str(out)!r})"
    steps = Steps(corpus, out, Budget.of(answered, budget, start), encoder, command, message)
    named, line = chosen_questions(answered, questions)
    if line:
        message(line)
    to_learn = with_answers(answered.select(questions=named))
    learned, chosen = _planned(steps, to_learn, tuple(methods), seeds)
    results, note = _compared(steps, learned, chosen)
    corpus.save(out / "corpus", overwrite=True)
    models = Models()
    if results is not None:
        models = train_best(steps, learned, results, methods)
    _write_consensus(steps, answered)
    part = f"on {learned.n_items:,} of {to_learn.n_items:,} items"
    notes = (part if learned.n_items < to_learn.n_items else "", note, models.note)
    report = make_report(
        answered,
        results,
        tested=models.tested,
        predictions=models.predictions,
        method="" if models.tested is None or models.saved is None else models.saved.method,
        facts={"command": command, "corpus": corpus.name, **models.facts},
        note="; ".join(filter(None, notes)) if chosen.methods else chosen.reasons[0],
    )
    report.save(out / "report.html")
    return RunResult(
        corpus.name,
        answered.n_items,
        0 if results is None else learned.n_items,
        results,
        None if results is None else best_method(results),
        models.saved,
        None if models.saved is None else out / "model",
        None if models.of_annotators is None else out / "annotator-model",
        out / "report.html",
        tuple(report.summary),
        tuple(steps.left_out),
    )


def _make_folder(out: Path) -> None:
    """Refuse a folder that cannot be written, before any work is done."""
    if out.is_file():
        raise DataError(f"{out}: is a file; name a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror or error})") from None
    for name, kind in FOLDERS.items():
        check_free(out / name, kind, overwrite=True)
    if is_own(out, FRONT):
        delete_leftovers(out)
        return
    if existing := sorted(path for name in WRITTEN for path in out.glob(name)):
        raise DataError(
            f"{existing[0]}: already exists and was not written by a run; move it, or choose "
            "another folder"
        )
    with staged(out / f"{FRONT}.json") as new:
        write_json(new.parent, FRONT, {})


def _planned(
    steps: Steps, answered: Corpus, methods: tuple[str, ...], seeds: int | None
) -> tuple[Corpus, Plan]:
    """The items to learn from, and what to compare on them; says why these."""
    learned, encoder = answered, steps.encoder
    if not nothing_to_learn(answered) and needs_encoder(methods):
        part = part_within(
            steps.budget, answered, steps.out, encoder, methods, seeds, steps.message
        )
        if not part.compared:
            steps.leave_out(f"{part.reason}; only methods that ignore the content are compared")
            return answered, plan(answered, floors_for(answered), 1)
        if part.reason:
            steps.leave_out(part.reason)
        learned = part_of(answered, part.compared)
    learned, lines = without_unreadable_contents(learned, encoder)
    for line in lines:
        steps.leave_out(line)
    chosen = plan(learned, methods, seeds, encoder)
    for line in chosen.reasons:
        steps.message(line)
    return learned, chosen


def _compared(steps: Steps, corpus: Corpus, chosen: Plan) -> tuple[Results | None, str]:
    """The comparison, or what is done of it at the deadline, and a note on what is missing."""
    if not chosen.methods:
        return None, ""
    folder, stop = steps.out / "comparison", steps.budget.end_of_comparison
    n_before = _n_fits(folder)
    if not n_before:
        stop = max(stop, time.monotonic() + FIRST_SECONDS)
    try:
        with deadline(stop):
            results = evaluation.compare(
                corpus,
                {name: seeded_method(name, steps.encoder) for name in chosen.methods},
                folds=chosen.protocol,
                out=folder,
                seeds=chosen.seeds,
                budget=None if stop == math.inf else stop - time.monotonic(),
                command=steps.command,
            )
    except (Unfinished, TimeIsUp) as unfinished:
        note = str(unfinished)
        if not note or (n_before and _n_fits(folder) == n_before):
            note = "time limit reached: no further fit was done; give a longer budget for more"
        steps.leave_out(f"{folder}: {note}")
        try:
            return Results.load(folder, unfinished=True), note
        except DataError:  # no fit is done
            return None, note
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{folder} has the fits done so far; run the same command again to resume"
        ) from None
    for name, why in results.about.left_out.items():
        steps.leave_out(f"{name} is left out: {why}")
    return results, ""


def _n_fits(folder: Path) -> int:
    return len(list((folder / "fits").glob("*")))


def _write_consensus(steps: Steps, corpus: Corpus) -> None:
    """One answer for each item, with its confidence, as `dissensus aggregate` gives it."""
    tables = {}
    for question, (name, marks) in usual_aggregators(corpus, corpus.questions).items():
        if marks:
            steps.message(f"{question}: consensus by {name}, because of {marks_text(marks)}")
        try:
            fitted = aggregation.aggregate(corpus, name, [question])
        except DataError as error:
            steps.leave_out(f"consensus.csv leaves {question} out: {error}")
            continue
        tables[question] = consensus_table(corpus, question, fitted[question].prediction_)
        if doubt := fitted[question].doubt_:
            steps.message(f"{question}: {doubt}")
    path = steps.out / "consensus.csv"
    if tables:
        paths = write_answers(tables, path, overwrite=True)
        steps.message(files_line(paths, path, "one answer for each item"))
