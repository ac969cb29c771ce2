"""dissensus run: from FILE to a report, a model and predictions, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dissensus.cli import console
from dissensus.cli.aggregate import consensus_table
from dissensus.cli.compare import seconds
from dissensus.cli.outputs import answers_table, check_folder, reserve, write_answers
from dissensus.cli.single_options import typed_command
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError, DissensusError, Unfinished, counted
from dissensus.folders import writing

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.evaluation import Results
    from dissensus.report.project import Plan

Budget = Annotated[
    str | None,
    typer.Option(help="Time after which no new fit begins, e.g. 10m; run again to resume."),
]
Encoder = Annotated[
    str | None, typer.Option(help="Encoder of the contents, as in `dissensus train`.")
]


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

    OUT gets report.html (and report.json), consensus.csv, the comparison, the best model, and
    predictions.csv for items without answers. Run the same command again to resume.
    """
    check_folder(output, "run")
    reserve(output)
    corpus = source.read()
    corpus = corpus.select(questions=question) if question else corpus
    chosen = tuple(name.strip() for name in (methods or "").split(",") if name.strip())
    whole_way(corpus, output, seconds(budget), chosen, seeds, encoder, typed_command())


def whole_way(
    corpus: Corpus,
    output: Path,
    budget: float | None,
    methods: tuple[str, ...],
    seeds: int | None,
    encoder: str | None,
    command: str,
) -> None:
    """Compare, train the best method, predict, and write the report."""
    from dissensus.report import make_report
    from dissensus.report.project import (
        add_figures_to_card,
        best_method,
        held_out,
        plan,
        seeded_method,
        with_answers,
        without_answers,
    )

    answered = with_answers(corpus)
    if not answered.n_items:
        raise DataError(f"{corpus.name}: no item has an answer; there is nothing to report")
    chosen = plan(answered, methods, seeds)
    for reason in chosen.reasons:
        console.say(reason)
    output.mkdir(parents=True, exist_ok=True)
    corpus.save(output / "corpus")
    results = _compared(answered, chosen, output, budget, encoder, command)
    best = None if results is None else best_method(results)
    tested = predictions = None
    facts = {"command": command, "corpus": corpus.name}
    if results is not None and best is not None:
        console.say(f"training {best}, the best of the comparison")
        method = seeded_method(best, encoder)
        tested, predictions = held_out(answered, seeded_method(best, encoder))
        method.fit(answered)
        with writing(output / "model", "config") as folder:
            method.write_to(folder)
            add_figures_to_card(folder, results, best)
        facts["model"] = f"{best}, trained on all {answered.n_items:,} items with answers"
        bare = without_answers(corpus)
        if bare is not None:
            predicted = method.predict(bare, annotators="all")
            rows = {q: answers_table(bare, prediction) for q, prediction in predicted.items()}
            for path in write_answers(rows, output / "predictions.csv"):
                console.say(f"{path}: {counted(bare.n_items, 'item')} without answers, predicted")
    _write_consensus(answered, output)
    report = make_report(
        answered, results, tested=tested, predictions=predictions, method=best or "", facts=facts
    )
    paths = report.save(output / "report.html")
    for sentence in report.summary:
        print(console.visible(sentence))
    console.say(f"{paths[0]}: the report; {paths[1].name} has the same as JSON")


def _compared(
    corpus: Corpus,
    chosen: Plan,
    output: Path,
    budget: float | None,
    encoder: str | None,
    command: str,
) -> Results | None:
    """The comparison, or what is done of it when the time is over; None if nothing is learned."""
    from dissensus import evaluation
    from dissensus.report.project import seeded_method

    if not chosen.methods:
        return None
    folder = output / "comparison"
    methods = {name: seeded_method(name, encoder) for name in chosen.methods}
    try:
        return evaluation.compare(
            corpus,
            methods,
            folds=chosen.protocol,
            out=folder,
            seeds=chosen.seeds,
            budget=budget,
            command=command,
        )
    except Unfinished as unfinished:
        console.say(f"{folder}: {unfinished}; the report has what is done")
        try:
            return evaluation.Results.load(folder, unfinished=True)
        except DissensusError:
            return None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{folder} has the fits done so far; run the same command again to resume"
        ) from None


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
        tables[question] = consensus_table(corpus, question, fitted[question])
    for path in write_answers(tables, output / "consensus.csv") if tables else []:
        console.say(f"{path}: one answer for each item")
