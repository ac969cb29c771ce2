"""dissensus aggregate: one answer, and a distribution, for each item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.outputs import answer_text, check_table, write_tables
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError


@reads_corpus
def aggregate(
    source: Source,
    method: Annotated[
        str,
        typer.Option(
            help="Aggregation method, e.g. majority, soft-vote, dawid-skene, mace, glad or mean."
        ),
    ] = "majority",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Table to write, .csv or .parquet (default: CSV on stdout)."
        ),
    ] = None,
    question: console.Question = None,
    use_gold: Annotated[
        bool,
        typer.Option("--use-gold", help="Use gold labels to estimate each annotator's errors."),
    ] = False,
    annotator_table: Annotated[
        Path | None,
        typer.Option(help="Also write the estimates for each annotator to this table."),
    ] = None,
    json: console.Json = False,
) -> None:
    """Aggregate the answers in FILE to one answer and a distribution per item.

    Columns share.VALUE hold the share of an item's answers that are VALUE. Columns
    probability.VALUE hold the probability that VALUE is the true answer, under a model of the
    annotators such as dawid-skene.
    """
    from dissensus import aggregation

    aggregation.check_method(method)
    check_table(output)
    check_table(annotator_table)
    source.check_outputs(output, annotator_table)
    corpus = source.read()
    fitted = aggregation.aggregate(corpus, method, question or None, use_gold)
    tables = [_answers(aggregation.consensus_table(corpus[q], f, q)) for q, f in fitted.items()]
    if json:
        console.print_json([record for table in tables for record in _records(table)])
    if output is not None or not json:
        write_tables(tables, output)
    if annotator_table is not None:
        try:
            estimates = [aggregation.annotator_table(corpus[q], f, q) for q, f in fitted.items()]
        except DataError as error:
            raise DataError(f"{error}; leave --annotator-table out") from None
        write_tables(estimates, annotator_table)
    for name, aggregator in fitted.items():
        gold = aggregation.gold_accuracy(corpus, name, aggregator)
        accuracy = "" if gold is None else f"; accuracy {gold[0]:.4f} on {gold[1]} gold labels"
        console.say(f"{name}: {method} of {aggregator.consensus_.n_rows} items{accuracy}")


def _answers(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns with answers as text."""
    return {**columns, "answer": [answer_text(answer) for answer in columns["answer"]]}


def _records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The rows of a table, each as a dictionary by name of the column."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
