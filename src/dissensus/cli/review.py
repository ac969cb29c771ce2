"""dissensus review: single answers that are probably slips, as a list to check."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli.console import check_tables, emit_answers, say
from dissensus.cli.options import Input, reads_corpus


@reads_corpus
def review(
    source: Input,
    question: list[str] | None = None,
    predictions: Path | None = None,
    most: int = 50,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """List single answers in FILE that are probably slips, the worst first, with reasons.

    An answer is probable if it is what others answered, given how reliable the annotator is and
    which values they prefer. What annotators who answer alike have in common is a view, no slip.

    Args:
        predictions: Table or folder of predictions by a model of the content, which was not trained
            on these items (.csv, .tsv, .jsonl, .parquet, or as dissensus predict writes them).
        most (--top, min=0): Number of answers; 0 for all.
        output (-o): Table to write (.csv, .tsv, .parquet, .json, .jsonl, .xlsx), one for each
            question if there are several, or a folder for them (default: CSV on stdout).

    Examples:
        dissensus review labels.csv -o slips.xlsx
        dissensus review labels.csv --predictions model.csv --top 20
    """
    from dissensus import evaluation
    from dissensus.planning import review

    check_tables(output, overwrite)
    corpus = source.read()
    names = question or list(corpus.questions)
    corpus.check_questions(names)
    known = {}
    if predictions is not None:
        read, notes = evaluation.read_predictions(predictions, corpus, question)
        known = {name: read[name] for name in read}
        for note in notes:
            say(note)
    tables = {name: review(corpus, name, known.get(name), most) for name in names}
    emit_answers(tables, output, json, overwrite)
