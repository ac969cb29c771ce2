"""dissensus evaluate: score predictions against the answers of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.group_tables import Groups, attribute_names, show_group_scores
from dissensus.cli.outputs import check_result, write_result
from dissensus.cli.source import Source, reads_corpus
from dissensus.cli.tables import columns, show
from dissensus.errors import DataError


@reads_corpus
def evaluate(
    predictions: Annotated[
        Path,
        typer.Argument(
            metavar="PREDICTIONS",
            help="Folder that `dissensus predict` wrote, or a table (.csv, .tsv, .jsonl, .parquet) "
            "of labels or probabilities from any system, or a LeWiDi submission.",
        ),
    ],
    source: Source,
    against: Annotated[
        list[Path] | None, typer.Option(help="Further predictions to compare with; repeatable.")
    ] = None,
    question: console.Question = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric to show, named as in docs/metrics.md, e.g. accuracy, or "
            "'accuracy (gold)' against gold labels; repeatable."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every metric that applies.")] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Also show 95 % intervals over items.")
    ] = False,
    groups: Groups = None,
    consensus: Annotated[
        str | None,
        typer.Option(
            help="Whose predicted answers make up the prediction for an item: own (its "
            "annotators) or all (default: as predicted; all for gold labels)."
        ),
    ] = None,
    json: console.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Also write the scores to this file: .json, .csv, .tsv or .parquet.",
        ),
    ] = None,
) -> None:
    """Score PREDICTIONS against the answers in FILE.

    Every question and every part of the official split has its own table. Items and annotators are
    matched by name; items without answers are ignored. Soft metrics are shown with the scores of a
    perfect and of a constant prediction.
    """
    from dissensus import evaluation
    from dissensus.metrics import DENSITY_METRICS, METRICS

    check_result(output)
    source.check_outputs(output)
    if metric and every:
        raise DataError("--all shows every metric; leave --metric out")
    wanted = [*METRICS, *DENSITY_METRICS] if every else metric or None
    folders = [predictions, *(against or [])]
    corpus = source.read()
    loaded = {}
    for folder in folders:
        loaded[str(folder)], notes = evaluation.read_predictions(folder, corpus, question)
        for note in notes:
            console.say(note)
    if groups:
        by_group = evaluation.evaluate_groups(
            loaded, corpus, attribute_names(groups), question, wanted
        )
        if output is not None:
            write_result(output, by_group.to_dict(), lambda: [by_group.to_table()])
        if json:
            console.print_json(by_group.to_dict())
        else:
            show_group_scores(by_group)
        return
    result = evaluation.evaluate(
        loaded,
        corpus,
        question,
        wanted,
        intervals=intervals,
        consensus=console.consensus(consensus),
    )
    for note in result.notes:
        console.say(note)
    if output is not None:
        write_result(output, result.to_dict(), lambda: [result.to_table()])
    if json:
        console.print_json(result.to_dict())
        return
    for number, table in enumerate(result.tables()):
        names = table.columns
        whole = [name for name in names if name in ("perfect", "constant", "better")]
        shown = columns(names, table.rows, names[1:-1], whole=whole)
        show(*([""] if number else []), table.heading, shown)
        for note in table.notes:
            print(console.visible(note))
