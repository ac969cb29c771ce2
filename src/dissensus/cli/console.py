"""What commands share: options that read a corpus, and ways to print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

File = Annotated[
    Path,
    typer.Argument(help="A table, an export, a folder of ours or a known corpus's folder."),
]
Format = Annotated[str | None, typer.Option(help="Format of FILE, if it is not recognised.")]
Item = Annotated[str | None, typer.Option(help="Column that names the item.")]
Annotator = Annotated[str | None, typer.Option(help="Column that names the annotator.")]
Answer = Annotated[
    list[str] | None, typer.Option(help="Column of answers; repeat it for several questions.")
]
Text = Annotated[list[str] | None, typer.Option(help="Column shown to annotators; repeatable.")]
ScaleText = Annotated[
    str | None,
    typer.Option("--scale", help="nominal, ordinal, interval:0:10, ordinal:low,mid,high, ..."),
]
RepeatsRule = Annotated[
    str,
    typer.Option("--repeats", help="Same annotator twice: error, keep, first, last or mean."),
]
CorpusName = Annotated[
    str | None, typer.Option("--corpus", help="Which corpus of a folder that holds several.")
]
Question = Annotated[
    list[str] | None, typer.Option(help="Question to use; repeatable; all if left out.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def read_corpus(file: Path, **options: Any) -> Corpus:
    """Read FILE and say on stderr, in a line each, what was recognised."""
    from dissensus import datasets

    corpus = datasets.read(file, **{k: v for k, v in options.items() if v is not None})
    for note in corpus.notes:
        say(note)
    return corpus


def say(line: str) -> None:
    """A line for people, on stderr, so that stdout stays for results."""
    print(line, file=sys.stderr, flush=True)


def print_json(content: Any) -> None:
    """A result for programs, on stdout."""
    print(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=True))


def fail(line: str, code: int) -> NoReturn:
    """End with one line on stderr."""
    print(line, file=sys.stderr, flush=True)
    sys.exit(code)
