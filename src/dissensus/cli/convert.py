"""dissensus convert: any format that can be read, as a folder of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError

FILE_ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".arrow", ".xlsx", ".gz")


@reads_corpus
def convert(
    source: Source,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Corpus folder to write (Parquet and JSON).")
    ],
    question: console.Question = None,
) -> None:
    """Convert FILE to a corpus folder, which loads faster."""
    if out.suffix.lower() in FILE_ENDINGS:
        raise DataError(f"{out}: convert writes a folder; name one, such as {out.with_suffix('')}")
    source.check_outputs(out)
    read = source.read()
    if question:
        read = read.select(questions=question)
    read.save(out)
    answers = sum(annotations.n_answers for annotations in read.questions.values())
    console.say(f"{out}: {read.n_items} items, {answers} answers to {', '.join(read.questions)}")
