"""dissensus evaluate: score predictions against the answers of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.console import columns, emit, number, show, show_each
from dissensus.cli.group_tables import show_group_scores
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.evaluation import AttentionEvaluation, Evaluation


@reads_corpus
def evaluate(
    predictions: Path,
    source: Input,
    against: list[Path] | None = None,
    question: list[str] | None = None,
    metric: list[str] | None = None,
    all_: bool = False,
    intervals: bool = False,
    groups: list[str] | None = None,
    consensus: str | None = None,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Score PREDICTIONS against the answers in FILE.

    Every question and every part of the official split has its own table. Items and annotators are
    matched by name; items without answers are ignored. Soft metrics are shown with the scores of a
    perfect and of a constant prediction.

    Args:
        predictions (PREDICTIONS): Folder that `dissensus predict` wrote, or a table (.csv, .tsv,
            .jsonl, .parquet) of labels or probabilities from any system.
        against: Further predictions to compare with; repeatable.
        metric: Metric to show, named as in docs/metrics.md, e.g. accuracy, or 'accuracy (gold)'
            against gold labels; repeatable.
        all_: Show every metric that applies.
        intervals: Also show 95 % intervals over items.
        consensus: Whose predicted answers make up the prediction for an item: own (its annotators)
            or all (default: as predicted; all for gold labels).
        output (-o): Also write the scores to this file: .json, .csv, .tsv, .parquet or .xlsx.

    Examples:
        dissensus evaluate predictions/ labels.csv
        dissensus evaluate predictions/ labels.csv --against floor/ --intervals
    """
    from dissensus import evaluation
    from dissensus.metrics import DENSITY_METRICS, METRICS

    console.check_result(output, overwrite)
    if metric and all_:
        raise DataError("--all shows every metric; leave --metric out")
    wanted = [*METRICS, *DENSITY_METRICS] if all_ else metric or None
    folders = [predictions, *(against or [])]
    corpus = source.read()
    loaded = {}
    for folder in folders:
        loaded[str(folder)], notes = evaluation.read_predictions(folder, corpus, question)
        for note in notes:
            console.say(note)
    if groups:
        by_group = evaluation.evaluate_groups(
            loaded, corpus, console.attribute_names(groups), question, wanted
        )
        content, tables = by_group.to_dict(), [by_group.to_table()]
        emit(lambda: content, lambda: tables, lambda: show_group_scores(by_group), output, json)
        return
    own = console.consensus(consensus)
    result = evaluation.evaluate(
        loaded, corpus, question, wanted, intervals=intervals, consensus=own
    )
    for note in result.notes:
        console.say(note)
    emit(result.to_dict, lambda: [result.to_table()], lambda: _show(result), output, json)


def _show(result: Evaluation) -> None:
    for place, table in enumerate(result.tables()):
        names = table.columns
        whole = [name for name in names if name in ("perfect", "constant", "better")]
        rows = [list(map(str, row)) for row in table.rows]
        shown = columns(names, rows, names[1:-1], whole=whole)
        show(*([""] if place else []), table.title, shown)
        for note in table.notes:
            print(console.visible(note))


@reads_corpus
def attention(
    predictions: Path,
    source: Input,
    against: list[Path] | None = None,
    seed: int = 0,
    question: list[str] | None = None,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Score the attention of annotators in PREDICTIONS.

    What is computed depends on FILE. Simulated corpora know where annotators look. Spans that
    annotators marked are compared with the positions attended to. Annotators with similar attention
    should give similar answers. Each score has a baseline. See docs/metrics.md.

    Args:
        predictions (PREDICTIONS): Folder that `dissensus predict --attention` wrote.
        against: Predictions of the same method with another seed; repeatable.
        seed (min=0): Seed of permutations.
        output (-o): Also write the scores to this file: .json, .csv, .tsv, .parquet or .xlsx.

    Examples:
        dissensus attention predictions/ labels.csv
        dissensus attention predictions/ labels.csv -o attention.json
    """
    from dissensus import evaluation
    from dissensus.prediction import Predictions

    console.check_result(output, overwrite)
    own = Predictions.load(predictions)
    others = [Predictions.load(folder) for folder in against or []]
    result = evaluation.evaluate_attention(
        own, source.read(), others=others, questions=question, seed=seed
    )
    content, tables = result.to_dict(), [result.to_table()]
    emit(lambda: content, lambda: tables, lambda: _show_attention(result), output, json)


def _show_attention(result: AttentionEvaluation) -> None:
    names = ("score", "value", "baseline", "baseline is", "p", "of")
    groups: dict[str, list[list[str]]] = {}
    for score in result.scores:
        heading = f"{result.corpus}, {score.question}, {score.role}: {result.method}"
        known = number(score.value), number(score.baseline), score.against, number(score.p)
        row = [score.score, *known, f"{score.n:,} {score.unit}"]
        groups.setdefault(heading, []).append(row)
    if not groups:
        print("nothing to compare the attention with")
    numbers = ("value", "baseline", "p")
    show_each((heading, columns(names, rows, numbers)) for heading, rows in groups.items())
