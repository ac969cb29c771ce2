"""Readers: a file, a folder of ours or a table in memory -> Corpus.

A format is a file here. Its module has two functions:

    recognise(path: Path) -> bool               a look at the first bytes; never raises on content
    read(path: Path, options: Options) -> Corpus     raises nothing but DissensusError

and one line in `READERS`, from the name that users type to the module. The order of `READERS` is
the order in which formats are tried.
"""

from __future__ import annotations

READERS: dict[str, str] = {
    "corpus": "dissensus.readers.folder",
    "parquet": "dissensus.readers.parquet",
    "lewidi2023": "dissensus.readers.lewidi2023",
    "jsonl": "dissensus.readers.jsonl",
    "csv": "dissensus.readers.csv",
}
