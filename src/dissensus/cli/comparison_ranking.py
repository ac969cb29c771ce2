"""dissensus aggregate --method bradley-terry: a score and a rank for each thing compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.outputs import write_answers
from dissensus.prediction.answer_files import rounded, with_question

if TYPE_CHECKING:
    from dissensus.corpus import Corpus


def show_ranking(
    corpus: Corpus,
    method: str,
    questions: list[str] | None,
    output: Path | None,
    json: bool,
) -> None:
    """Print or write the things with their scores."""
    from dissensus import aggregation

    names = questions or list(corpus.questions)
    corpus.check_questions(names)
    pairs = {name: aggregation.comparisons(corpus, name) for name in names}
    fitted = {name: aggregation.RANKERS[method]().fit(each) for name, each in pairs.items()}
    tables = {name: aggregation.ranking_table(pairs[name], fitted[name]) for name in names}
    if json:
        records = [
            row for q, table in tables.items() for row in with_question(table, q).to_pylist()
        ]
        console.print_json([{name: rounded(v) for name, v in row.items()} for row in records])
    if output is not None or not json:
        for path in write_answers(tables, output):
            console.say(f"{path}: written")
    for name, each in pairs.items():
        n_comparisons = int(each.weight.sum())
        console.say(
            f"{name}: {method} of {each.n_things} things from {n_comparisons:,} comparisons"
        )
