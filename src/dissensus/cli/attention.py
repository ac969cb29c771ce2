"""dissensus attention: score the attention of annotators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.console import columns, number, show_each
from dissensus.cli.model_options import say_encoders
from dissensus.cli.outputs import check_result, emit
from dissensus.cli.source import Source, reads_corpus

if TYPE_CHECKING:
    from dissensus.evaluation import AttentionEvaluation, AttentionScore


@reads_corpus
def attention(
    predictions: Path,
    source: Source,
    against: list[Path] | None = None,
    model: Path | None = None,
    deleted: int = 200,
    seed: int = 0,
    question: list[str] | None = None,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Score the attention of annotators in PREDICTIONS.

    What is computed depends on FILE. Simulated corpora know where annotators look. Spans that
    annotators marked are compared with the positions attended to. Annotators with similar attention
    should give similar answers. Each score has a baseline. See docs/metrics.md.

    Args:
        predictions (PREDICTIONS): Folder that `dissensus predict --attention` wrote.
        against: Predictions of the same method with another seed; repeatable.
        model: Folder of the model, to predict again with what it attends to deleted.
        deleted (min=1): Pairs of item and annotator that --model predicts again.
        seed (min=0): Seed of random deletions and permutations.
        output (-o): Also write the scores to this file: .json, .csv, .tsv or .parquet.

    Examples:
        dissensus attention predictions/ labels.csv
        dissensus attention predictions/ labels.csv -o attention.json
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
    emit(result.to_dict(), lambda: [result.to_table()], lambda: _show(result), output, json)


def _show(result: AttentionEvaluation) -> None:
    names = ("score", "value", "baseline", "baseline is", "p", "of")
    groups: dict[tuple[str, str], list[AttentionScore]] = {}
    for score in result.scores:
        groups.setdefault((score.question, score.role), []).append(score)
    if not groups:
        print("nothing to compare the attention with")
    blocks = []
    for (of_question, role), scores in groups.items():
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
        blocks.append((heading, columns(names, rows, ("value", "baseline", "p"))))
    show_each(blocks)
