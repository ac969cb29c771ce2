"""dissensus datasets: the public corpora that can be read by their name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dissensus.cli.console import columns, number, print_json, say, show


def datasets(
    json: bool = False,
) -> None:
    """List the public corpora that dissensus reads: size, licence, what each is good for.

    Put the folder of a corpus into a folder of your choice, and set DISSENSUS_DATA to it: then
    every command takes the name of the corpus as FILE.

    Examples:
        dissensus datasets
        dissensus datasets --json
    """
    from dissensus.datasets import DATA

    entries = _entries()
    if json:
        print_json(entries)
        return
    rows = [
        (
            entry["name"],
            _size(entry["items"]),
            _size(entry["annotators"]),
            entry["licence"],
            entry["good for"],
            "yes" if entry["here"] else "",
        )
        for entry in entries
    ]
    names = ["corpus", "items", "annotators", "licence", "good for", "here"]
    show(columns(names, rows, ["items", "annotators"], whole=["corpus", "here"]))
    several = [f"{entry['name']} ({', '.join(entry['corpora'])})" for entry in entries
               if len(entry["corpora"]) > 1]  # fmt: skip
    print(f"\nFolders of several corpora, to choose from with --corpus: {'; '.join(several)}")
    if not os.environ.get(DATA):
        say(f"{DATA} is not set: set it to the folder that contains the corpora's folders")


def _entries() -> list[dict[str, Any]]:
    from dissensus.datasets import DATA, DATASETS

    folder = os.environ.get(DATA)
    return [
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


def _size(value: int | None) -> str:
    return "" if value is None else number(value)
