"""dissensus convert: any format that can be read, as a folder of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli import console


def convert(
    file: console.File,
    out: Annotated[Path, typer.Argument(help="Folder to write: Parquet and JSON.")],
    corpus: console.CorpusName = None,
    question: console.Question = None,
    format: console.Format = None,
    item: console.Item = None,
    annotator: console.Annotator = None,
    answer: console.Answer = None,
    text: console.Text = None,
    scale: console.ScaleText = None,
    repeats: console.RepeatsRule = "error",
) -> None:
    """Read FILE and write it to OUT as a folder of Parquet and JSON that reads back quickly."""
    read = console.read_corpus(
        file,
        corpus=corpus,
        format=format,
        item=item,
        annotator=annotator,
        answer=answer,
        text=text,
        scale=scale,
        repeats=repeats,
    )
    if question:
        read = read.select(questions=question)
    read.save(out)
    answers = sum(annotations.n_answers for annotations in read.questions.values())
    console.say(f"{out}: {read.n_items} items, {answers} answers to {', '.join(read.questions)}")
