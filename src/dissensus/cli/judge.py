"""dissensus judge: whether an LLM agrees with the annotators as well as they do."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli.console import check_result, columns, emit, number, say, show, with_rest
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.evaluation import Judgement

MOST_ROWS = 30


@reads_corpus
def judge(
    system: str,
    source: Input,
    question: list[str] | None = None,
    margin: float = 0.1,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Compare SYSTEM, such as an LLM, with each annotator of FILE.

    Each annotator is left out in turn; the system and the annotator are compared with all others
    on the same items. The alternative annotator test (Calderon et al. 2025) decides whether the
    system may answer instead of an annotator. No gold labels are needed. If annotators are at
    chance, constant, contrary or copying, a second comparison leaves them out.

    Args:
        system (SYSTEM): Table of its answers (.csv, .tsv, .jsonl, .parquet), a folder that
            `dissensus predict` wrote, or the name of an annotator in FILE.
        margin: How much worse it may be, as it costs less than an annotator: 0.2
            for experts, 0.15 for trained annotators, 0.1 for crowd workers.
        output (-o): Also write the comparison to this file: .json, .csv, .tsv, .parquet or
            .xlsx.

    Examples:
        dissensus judge llm.csv labels.csv
        dissensus judge gpt-4o labels.csv --margin 0.2 -o judgement.csv
    """
    from dissensus import evaluation
    from dissensus.description import marked, marks_text
    from dissensus.description.marks import without_marked

    check_result(output, overwrite)
    corpus = source.read()
    if Path(system).exists():
        predictions, notes = evaluation.read_predictions(system, corpus, question)
        for note in notes:
            say(note)
        systems = {name: predictions[name] for name in predictions}
    else:
        corpus, systems = _one_of_them(corpus, system, question)
    results = []
    for name, answers in systems.items():
        results.append(evaluation.judge(answers, corpus[name], margin, name))
        if marks := marked(corpus[name]):
            rest = without_marked(corpus[name], marks)
            about = f"{name} without {marks_text(marks)}"
            results.append(evaluation.judge(answers, rest, margin, about))
    content, tables = [one.to_dict() for one in results], [one.to_table() for one in results]
    emit(lambda: content, lambda: tables, lambda: _show(corpus.name, results), output, json)


def _one_of_them(
    corpus: Corpus, name: str, questions: list[str] | None
) -> tuple[Corpus, dict[str, Any]]:
    """The corpus without an annotator, and the answers of this one by question."""
    if name not in corpus.annotators:
        raise DataError(
            f"{name}: no such file, and no annotator of {corpus.name}, who are "
            f"{listed(list(corpus.annotators[:20]), 5) or 'not named'}"
        )
    own = corpus.select(annotators=[name])
    rest = corpus.without(annotators=[name])
    return rest, {q: own[q] for q in questions or corpus.questions if own[q].n_rows}


def _show(corpus: str, results: list[Judgement]) -> None:
    from dissensus.evaluation.significance.difference import p_text

    names = ("annotator", "items", "agreement", "system's", "advantage", "p", "may be replaced")
    for place, result in enumerate(results):
        rows = []
        for one in result.annotators[:MOST_ROWS]:
            scores = (one.items, one.agreement, one.system_agreement, one.advantage)
            verdict = "-" if math.isnan(one.p) else "yes" if one.replaced else "no"
            rows.append(
                [one.annotator, *map(number, scores), p_text(one.p).removeprefix("= "), verdict]
            )
        table = columns(names, with_rest(rows, len(result.annotators), len(names)), names[1:6])
        lines = [f"- {line}" for line in result.sentences()]
        show(*([""] if place else []), f"{corpus}, {result.question}", *lines, table)
