"""dissensus convert: write a corpus of any supported format to a corpus folder or a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dissensus.cli import console
from dissensus.cli.console import columns, number, show
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError


@reads_corpus
def convert(
    source: Input,
    out: Path | None = None,
    question: list[str] | None = None,
    to: str | None = None,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Convert FILE to a corpus folder, which loads faster, or to a table or another format.

    A note says what the format cannot hold.

    Args:
        out (OUT): Corpus folder to write, or a table (.csv, .tsv, .parquet, .jsonl, .json, .xlsx).
        output (-o): The same as OUT.
        to: Format to write: corpus, long, wide, crowd-kit, datasets or label-studio
            (default: by the ending of OUT).

    Examples:
        dissensus convert labels.csv corpus/
        dissensus convert labels.csv corpus/ --item comment_id --scale interval:1:5
    """
    from dissensus.files.folders import check_free, check_free_file
    from dissensus.writers import format_of, write

    out = out or output
    if out is None:
        raise DataError("name what to write: dissensus convert FILE OUT")
    to = format_of(out, to)
    console.reserve(out)
    if to == "corpus":
        check_free(out, "corpus", overwrite)
    else:
        check_free_file(out, overwrite)
    corpus = source.read()
    if question:
        corpus = corpus.select(questions=question)
    notes = write(corpus, out, to, overwrite)
    n_answers = sum(annotations.n_answers for annotations in corpus.questions.values())
    questions = ", ".join(corpus.questions)
    console.say(f"{out}: {corpus.n_items} items, {n_answers} answers to {questions}")
    for note in notes:
        console.say(f"{out}: {note}")
    if to == "label-studio":
        from dissensus.description.marks import marks_by_question, marks_text

        for name, marks in marks_by_question(corpus).items():
            console.say(
                f"{out}: {name}: predictions are the consensus of all, {marks_text(marks)} too; "
                "--without suspicious leaves them out"
            )


def datasets(json: bool = False) -> None:
    """List the public corpora that dissensus reads: size, licence, what each is good for.

    Put the folder of a corpus into a folder of your choice, and set DISSENSUS_DATA to it: then
    every command takes the name of the corpus as FILE.

    Examples:
        dissensus datasets
        dissensus datasets --json
    """
    from dissensus.datasets import DATA, DATASETS

    folder = os.environ.get(DATA)
    entries: list[dict[str, Any]] = [
        {
            "name": known.name,
            "items": known.items,
            "annotators": known.annotators,
            "answers": known.answers,
            "licence": known.licence,
            "good for": known.good_for,
            "corpora": list(known.corpora),
            "here": folder is not None and known.recognise(Path(folder) / known.name),
        }
        for _, known in sorted(DATASETS.items())
    ]
    if json:
        console.print_json(entries)
        return
    names = ["corpus", "items", "annotators", "licence", "good for", "here"]
    rows = []
    for entry in entries:
        sizes = ("" if entry[of] is None else number(entry[of]) for of in names[1:3])
        here = "yes" if entry["here"] else ""
        rows.append([entry["name"], *sizes, entry["licence"], entry["good for"], here])
    show(columns(names, rows, ["items", "annotators"], whole=["corpus", "here"]))
    several = [f"{entry['name']} ({', '.join(entry['corpora'])})" for entry in entries
               if len(entry["corpora"]) > 1]  # fmt: skip
    print(f"\nFolders of several corpora, to choose from with --corpus: {'; '.join(several)}")
    if not folder:
        console.say(f"{DATA} is not set: set it to the folder that contains the corpora's folders")
