"""dissensus convert: write a corpus of any supported format to a corpus folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.outputs import check_folder
from dissensus.cli.source import Source, reads_corpus


@reads_corpus
def convert(
    source: Source,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Corpus folder to write (Parquet and JSON).")
    ],
    question: console.Question = None,
) -> None:
    """Convert FILE to a corpus folder, which loads faster."""
    check_folder(out, "convert")
    source.check_outputs(out)
    corpus = source.read()
    if question:
        corpus = corpus.select(questions=question)
    corpus.save(out)
    n_answers = sum(annotations.n_answers for annotations in corpus.questions.values())
    questions = ", ".join(corpus.questions)
    console.say(f"{out}: {corpus.n_items} items, {n_answers} answers to {questions}")
