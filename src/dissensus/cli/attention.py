"""dissensus attention: score the attention of annotators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dissensus.cli import console
from dissensus.cli.model_options import say_encoders
from dissensus.cli.outputs import check_result, write_result
from dissensus.cli.source import Source, reads_corpus
from dissensus.cli.tables import columns, number, show

if TYPE_CHECKING:
    from dissensus.evaluation import AttentionEvaluation, AttentionScore


@reads_corpus
def attention(
    predictions: Annotated[
        Path,
        typer.Argument(
            metavar="PREDICTIONS", help="Folder that `dissensus predict --attention` wrote."
        ),
    ],
    source: Source,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Predictions of the same method with another seed; repeatable."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Folder of the model, to predict again with what it attends to deleted."),
    ] = None,
    deleted: Annotated[
        int, typer.Option(min=1, help="Pairs of item and annotator that --model predicts again.")
    ] = 200,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of random deletions and permutations.")
    ] = 0,
    question: console.Question = None,
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
    """Score the attention of annotators in PREDICTIONS.

    What is computed depends on FILE. Simulated corpora know where annotators look. Spans that
    annotators marked are compared with the positions attended to. Annotators with similar attention
    should give similar answers. Each score has a baseline. See docs/metrics.md.
    """
    from dissensus import evaluation
    from dissensus.methods import load
    from dissensus.prediction import Predictions

    check_result(output)
    source.check_outputs(output)
    own = Predictions.load(predictions)
    others = [Predictions.load(folder) for folder in against or []]
    method = None if model is None else load(model)
    if model is not None:
        say_encoders(model, method)
    result = evaluation.evaluate_attention(
        own,
        source.read(),
        others=others,
        method=method,
        questions=question,
        n_deleted=deleted,
        seed=seed,
    )
    for note in result.notes:
        console.say(note)
    if output is not None:
        write_result(output, result.to_dict(), lambda: [result.to_table()])
    if json:
        console.print_json(result.to_dict())
        return
    _print(result)


def _print(result: AttentionEvaluation) -> None:
    names = ("score", "value", "baseline", "baseline is", "p", "of")
    groups: dict[tuple[str, str], list[AttentionScore]] = {}
    for score in result.scores:
        groups.setdefault((score.question, score.role), []).append(score)
    if not groups:
        print("nothing to compare the attention with")
    for place, ((of_question, role), scores) in enumerate(groups.items()):
        rows = [
            (
                score.score,
                number(score.value),
                number(score.baseline),
                score.against,
                number(score.p),
                f"{score.n:,} {score.unit}",
            )
            for score in scores
        ]
        heading = f"{result.corpus}, {of_question}, {role}: {result.method}"
        shown = columns(names, rows, ("value", "baseline", "p"))
        show(*([""] if place else []), heading, shown)
