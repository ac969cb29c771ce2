"""dissensus convert: write a corpus of any supported format to a corpus folder or a file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from dissensus.cli import console
from dissensus.cli.outputs import check_not_replaced, reserve
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError


@reads_corpus
def convert(
    source: Source,
    out: Path,
    question: list[str] | None = None,
    to: str | None = None,
    by_item: bool = False,
    overwrite: bool = False,
) -> None:
    """Convert FILE to a corpus folder, which loads faster, or to a table or another format.

    A note says what the format cannot hold.

    Args:
        out (OUT): Corpus folder to write, or a table (.csv, .tsv, .parquet, .jsonl, .json, .xlsx).
        to: Format to write: corpus, long, wide, crowd-kit, lewidi2023, lewidi2025 or datasets
            (default: by the ending of OUT).
        by_item: Write the answers of a corpus folder in the order of items, for --from-disk.

    Examples:
        dissensus convert labels.csv corpus/
        dissensus convert labels.csv corpus/ --item comment_id --scale interval:1:5
    """
    from dissensus.annotations import narrow_codes
    from dissensus.writers import format_of, write

    to = format_of(out, to)
    reserve(out)
    if to == "corpus":
        check_not_replaced(out, "corpus", overwrite)
    elif by_item:
        raise DataError("--by-item is for corpus folders; leave it out, or name a folder")
    source.check_outputs(out)
    with narrow_codes() if by_item else nullcontext():
        corpus = source.read()
    if question:
        corpus = corpus.select(questions=question)
    notes: Sequence[str] = ()
    if by_item:
        corpus.save(out, by_item=True)
    else:
        notes = write(corpus, out, to)
    n_answers = sum(annotations.n_answers for annotations in corpus.questions.values())
    questions = ", ".join(corpus.questions)
    console.say(f"{out}: {corpus.n_items} items, {n_answers} answers to {questions}")
    for note in notes:
        console.say(f"{out}: {note}")
