"""dissensus run: from FILE to a report, a model and predictions, in one command."""

from __future__ import annotations

import math
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dissensus.cli import console
from dissensus.cli.compare import seconds
from dissensus.cli.outputs import check_folder, reserve
from dissensus.cli.single_options import typed_command
from dissensus.cli.source import Source, reads_corpus
from dissensus.cli.time_budget import TimeBudget, needs_encoder, plan_within
from dissensus.errors import DataError, Unfinished, counted
from dissensus.folders import check_free, writing
from dissensus.methods.framework.trained_items import save_trained_items
from dissensus.prediction.answer_files import answers_table, consensus_table, write_answers
from dissensus.time_limit import TimeIsUp, time_limit

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.evaluation import Results
    from dissensus.evaluation.report.best_method import Best
    from dissensus.methods.framework.base import Method
    from dissensus.prediction import Predictions
    from dissensus.report.project import Plan

FIRST_SECONDS = 1.0  # at least, for the methods that ignore the content, which are fitted first
SINGLE = 2.0  # times as long as a fit of the comparison takes one by itself, on all items
FOLDERS = {"corpus": "corpus", "model": "config", "annotator-model": "config"}  # and their kind
MOST_PAIRS = 1_000_000  # of item and annotator, in predictions-by-annotator.csv

Budget = Annotated[
    str | None,
    typer.Option(
        help="Time for the whole command, e.g. 10m. Fewer items are compared if encoding all or "
        "training on them takes too long; the report has the fits done by then. Run again to "
        "resume. The report may take some seconds longer."
    ),
]
Encoder = Annotated[
    str | None, typer.Option(help="Encoder of the contents, as in `dissensus train`.")
]


@dataclass(frozen=True)
class Choices:
    """What the user chose; the rest depends on the corpus."""

    command: str  # as typed
    methods: tuple[str, ...] = ()
    seeds: int | None = None
    encoder: str | None = None
    budget: TimeBudget | None = None


@reads_corpus
def run(
    source: Source,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the report and all results.")
    ],
    budget: Budget = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare, separated by commas (default: by what FILE has)."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds (default: by the size of FILE).")
    ] = None,
    encoder: Encoder = None,
    question: console.Question = None,
) -> None:
    """Write a report on FILE: agreement, methods compared, and predictions.

    OUT gets report.html (and report.json), consensus.csv, the comparison, the best model, the best
    model that predicts each annotator, and predictions for items without answers. Run the same
    command again to resume.
    """
    start, n_seconds = time.monotonic(), seconds(budget)
    time_budget = None if n_seconds is None else TimeBudget(n_seconds, start)
    check_folder(output, "run")
    reserve(output)
    corpus = source.read()
    corpus = corpus.select(questions=question) if question else corpus
    chosen = tuple(name.strip() for name in (methods or "").split(",") if name.strip())
    whole_way(corpus, output, Choices(typed_command(), chosen, seeds, encoder, time_budget))
    if (output / "model").is_dir():
        console.say(_next_commands(corpus, output))


def whole_way(corpus: Corpus, output: Path, choices: Choices) -> None:
    """Compare, train the best method, predict, and write the report."""
    from dissensus.report import make_report
    from dissensus.report.project import with_answers

    answered = with_answers(corpus)
    if not answered.n_items:
        raise DataError(f"{corpus.name}: no item has an answer; there is nothing to report")
    if choices.budget is not None:
        choices = replace(choices, budget=choices.budget.with_report_on(answered))
    _make_folder(output)
    learned, chosen, choices = _planned(answered, output, choices)
    results, note = _compared(learned, chosen, output, choices)
    corpus.save(output / "corpus")
    trained = _Trained()
    if results is not None:
        trained = _train(corpus, learned, results, output, choices)
    notes = (_of_part(learned, answered), note, trained.note)
    _write_consensus(answered, output)
    report = make_report(
        answered,
        results,
        tested=trained.tested,
        predictions=trained.predictions,
        method=trained.method,
        facts={"command": choices.command, "corpus": corpus.name, **trained.facts},
        note="; ".join(filter(None, notes)) if chosen.methods else chosen.reasons[0],
    )
    paths = report.save(output / "report.html")
    for sentence in report.summary:
        print(console.visible(sentence))
    console.say(f"{paths[0]}: the report; {paths[1].name} has the same as JSON")


def _next_commands(corpus: Corpus, output: Path) -> str:
    """What to type next, with the columns that a table of new items needs."""
    serve = f"  dissensus serve {_typed(output)}"
    kinds = {role: contents.kind for role, contents in corpus.contents.items()}
    if "features" in kinds.values():  # no table has them
        return f"\nNext, in the browser:\n{serve}"
    columns = ", ".join(kinds)
    what = "texts" if kinds == {"text": "text"} else f"items (a table with the columns {columns})"
    return (
        f"\nNext, in the browser and on new {what}:\n{serve}\n"
        f"  dissensus predict {_typed(output / 'model')} new.csv -o answers.csv"
    )


def _planned(answered: Corpus, output: Path, choices: Choices) -> tuple[Corpus, Plan, Choices]:
    """The items to learn from, what to compare on them, and the choices with the encoder; says
    why these."""
    from dissensus.report.encoding_time import part_of
    from dissensus.report.project import (
        floors_for,
        nothing_to_learn,
        plan,
        without_unreadable_contents,
    )

    part, reasons = answered, []
    if not nothing_to_learn(answered) and needs_encoder(choices.methods):
        within = plan_within(
            choices.budget, answered, output, choices.encoder, choices.methods, choices.seeds
        )
        if not within.n_items:
            console.say(f"{within.reason}; only methods that ignore the content are compared")
            return answered, plan(answered, floors_for(answered), 1), choices
        part, reasons = part_of(answered, within.n_items), [within.reason]
        choices = replace(choices, encoder=within.encoder)
    learned, lines = without_unreadable_contents(part, choices.encoder)
    chosen = plan(learned, choices.methods, choices.seeds, choices.encoder)
    for line in (*reasons, *lines, *chosen.reasons):
        if line:
            console.say(line)
    return learned, chosen, choices


def _make_folder(output: Path) -> None:
    """Refuse a folder that cannot be written, before any work is done."""
    if output.is_file():
        raise DataError(f"{output}: is a file; name a folder")
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output):
            pass
    except OSError as error:
        raise DataError(f"{output}: cannot be written ({error.strerror or error})") from None
    for name, kind in FOLDERS.items():
        check_free(output / name, kind)


def _compared(
    corpus: Corpus, chosen: Plan, output: Path, choices: Choices
) -> tuple[Results | None, str]:
    """The comparison, or what is done of it at the deadline, and a note on what is missing."""
    from dissensus import evaluation
    from dissensus.report.project import seeded_method

    if not chosen.methods:
        return None, ""
    folder, budget = output / "comparison", choices.budget
    left = None if budget is None else budget.left_to_compare
    resumed = any((folder / "fits").glob("*"))
    stop = None
    if left is not None and resumed:  # compare never stops its first fit, which may be a long one
        stop = time.monotonic() + left
    elif left is not None:
        left = max(left, FIRST_SECONDS)
    try:
        with time_limit(stop):
            results = evaluation.compare(
                corpus,
                {name: seeded_method(name, choices.encoder) for name in chosen.methods},
                folds=chosen.protocol,
                out=folder,
                seeds=chosen.seeds,
                budget=left,
                command=choices.command,
            )
    except (Unfinished, TimeIsUp) as unfinished:
        note = str(unfinished) or (
            "time limit reached: no further fit was done; give a longer --budget for more"
        )
        console.say(f"{folder}: {note}")
        try:
            return evaluation.Results.load(folder, unfinished=True), note
        except DataError:  # no fit is done
            return None, note
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{folder} has the fits done so far; run the same command again to resume"
        ) from None
    for name, why in results.about.left_out.items():
        console.say(f"{name} is left out: {why}")
    return results, ""


@dataclass(frozen=True, eq=False)
class _Trained:
    """The best method on held-out items, and what was saved."""

    method: str = ""
    tested: Corpus | None = None
    predictions: Predictions | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""  # if the model is not that of the best method


def _train(
    corpus: Corpus, learned: Corpus, results: Results, output: Path, choices: Choices
) -> _Trained:
    """Train and save the best method, and the best one that predicts each annotator."""
    from dissensus.evaluation.report.best_method import best_of_annotators
    from dissensus.evaluation.report.tables import FLOORS
    from dissensus.report.project import held_out, seeded_method

    best, note = to_save(results, choices)
    if best is None:
        return _Trained()
    if note:
        console.say(note)
    own, why_none = best_of_annotators(results, learned)
    console.say(f"training {best.method}" + ", the best of the comparison" * (not note))
    method = _saved(best, learned, results, output / "model", choices.encoder)
    facts = {"model": f"{best}, trained on {_items_of(learned, corpus)}"}
    if best.method in FLOORS:
        return _Trained(facts=facts, note=note)
    bare = _to_predict(corpus, output, choices)
    if bare is not None:
        _write_predictions(method, bare, output / "predictions.csv")
    tested, predictions = None, None
    if _in_time(results, best.method, choices, "the report has no section on predicted answers"):
        tested, predictions = held_out(learned, seeded_method(best.method, choices.encoder))
    if why_none:
        console.say(why_none)
    if own is None or own.method == best.method:
        _remove_model(output / "annotator-model")
    else:
        if not _in_time(results, own.method, choices, "no annotator-model is saved"):
            return _Trained(best.method, tested, predictions, facts, note)
        method = _saved(own, learned, results, output / "annotator-model", choices.encoder)
        facts["model of each annotator"] = f"{own}, trained on the same items"
    if bare is not None and own is not None:
        if bare.n_items * learned.n_annotators <= MOST_PAIRS:
            path = output / "predictions-by-annotator.csv"
            _write_predictions(method, bare, path, "annotator")
        else:
            console.say("too many pairs of item and annotator for predictions-by-annotator.csv; "
                        "use `dissensus predict`")  # fmt: skip
    return _Trained(best.method, tested, predictions, facts, note)


def _remove_model(folder: Path) -> None:
    """Delete a model that an earlier, unfinished run saved."""
    if (folder / "config.json").is_file():
        shutil.rmtree(folder)


def _items_of(learned: Corpus, corpus: Corpus) -> str:
    """How many items a model was trained on, of those with answers."""
    from dissensus.report.project import with_answers

    n_answered = with_answers(corpus).n_items
    if learned.n_items == n_answered:
        return f"all {n_answered:,} items with answers"
    return f"{learned.n_items:,} of {n_answered:,} items with answers"


def to_save(results: Results, choices: Choices) -> tuple[Best | None, str]:
    """The method to train and save, and a note if there is no time for the best one."""
    from dissensus.evaluation.execution.scheduler import duration
    from dissensus.evaluation.report.best_method import best_floor, best_method
    from dissensus.evaluation.report.tables import comparable_methods

    best = best_method(results)
    if choices.budget is None or (best is None and not needs_encoder(choices.methods)):
        return best, ""
    if best is None:
        best = best_floor(results)
        name = "" if best is None else best.method
        return best, (
            f"the model is {name}, which ignores the content, because no other method was fitted "
            "within the time; give a longer --budget"
        )
    needed = {name: _seconds_to_train(results, name) for name in comparable_methods(results)}
    left = choices.budget.left - choices.budget.report
    in_time = [name for name in needed if needed[name] <= left] or [
        min(needed, key=needed.__getitem__)
    ]
    saved = best_method(results, in_time)
    if saved is None or best.method in in_time:
        return best, ""
    return saved, (
        f"the model is {saved.method}, because training {best.method} would take about "
        f"{duration(needed[best.method])}, longer than is left; give a longer --budget"
    )


def _of_part(learned: Corpus, answered: Corpus) -> str:
    """On how many items methods are compared, if not on all."""
    if learned.n_items == answered.n_items:
        return ""
    return f"on {learned.n_items:,} of {answered.n_items:,} items"


def _in_time(results: Results, method: str, choices: Choices, otherwise: str) -> bool:
    """Whether there is time to train a method once more; says what is left out otherwise."""
    if choices.budget is None:
        return True
    if _seconds_to_train(results, method) + choices.budget.report <= choices.budget.left:
        return True
    console.say(f"time limit reached: {otherwise}; run the same command again to resume")
    return False


def _seconds_to_train(results: Results, method: str) -> float:
    """About how long it takes to train a method on all items that were compared."""
    seconds_of_fits = [fit.seconds for fit in results.of(method) if not math.isnan(fit.seconds)]
    return SINGLE * max(seconds_of_fits, default=0.0)


def _typed(path: Path) -> str:
    """A path as it is typed in a shell."""
    return shlex.quote(str(path))


def _to_predict(corpus: Corpus, output: Path, choices: Choices) -> Corpus | None:
    """The items without answers, if there are any that can be predicted within the time."""
    from dissensus.report.encoding_time import duration_option, encoding_time
    from dissensus.report.project import to_predict

    bare, lines = to_predict(corpus)
    for line in lines:
        console.say(line)
    if bare is None or choices.budget is None:
        return bare
    needed = encoding_time(bare, choices.encoder)
    if needed <= choices.budget.left:
        return bare
    console.say(
        f"{counted(bare.n_items, 'item')} without answers would take about "
        f"{duration_option(needed)} to encode, longer than is left; for their predictions: "
        f"dissensus predict {_typed(output / 'model')} {_typed(output / 'corpus')} "
        f"-o {_typed(output / 'predictions.csv')}"
    )
    return None


def _saved(
    best: Best, corpus: Corpus, results: Results, folder: Path, encoder: str | None
) -> Method:
    """A method trained on the whole corpus, in a folder with its card."""
    from dissensus.report.project import add_figures_to_card, seeded_method

    method = seeded_method(best.method, encoder).fit(corpus)
    with writing(folder, "config") as temporary:
        method.write_to(temporary)
        save_trained_items(temporary, corpus)
        add_figures_to_card(temporary, results, best.method, corpus.n_items)
    console.say(f"{folder}: {best}, trained on {counted(corpus.n_items, 'item')}")
    return method


def _write_predictions(
    method: Method, bare: Corpus, path: Path, by: Literal["item", "annotator"] = "item"
) -> None:
    """What a method predicts for items without answers: a row for each, or for each annotator."""
    predicted = method.predict(bare, annotators="all")
    rows = {question: answers_table(bare, one, by) for question, one in predicted.items()}
    what = "for each annotator " if by == "annotator" else ""
    items = counted(bare.n_items, "item")
    _say_files(
        write_answers(rows, path),
        path,
        f"predicted {what}by {method.name}: {items} without answers",
    )


def _say_files(paths: Sequence[Path], path: Path, what: str) -> None:
    """A line on the files that were written, one for each question."""
    if len(paths) > 1:
        pattern = path.with_name(f"{path.stem}-*{path.suffix}")
        console.say(f"{pattern}: {what} ({len(paths)} files, one for each question)")
    elif paths:
        console.say(f"{paths[0]}: {what}")


def _write_consensus(corpus: Corpus, output: Path) -> None:
    """One answer for each item, with its confidence, as `dissensus aggregate` gives it."""
    from dissensus import aggregation

    tables = {}
    for question, answers in corpus.questions.items():
        name = "mean" if answers.scale.kind == "interval" else "majority"
        try:
            fitted = aggregation.aggregate(corpus, name, [question])
        except DataError as error:
            console.say(f"consensus.csv leaves {question} out: {error}")
            continue
        tables[question] = consensus_table(corpus, question, fitted[question].prediction_)
    path = output / "consensus.csv"
    if tables:
        _say_files(write_answers(tables, path), path, "one answer for each item")
